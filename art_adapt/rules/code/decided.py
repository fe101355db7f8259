"""Ask adapting which calls of an adapted file are the policy's, and which are side jobs."""

from __future__ import annotations

from contextlib import suppress

from art_adapt.adapted_files import AdaptedFile, adapted_files
from art_adapt.answers import decided_before
from art_adapt.decisions import said_in
from art_adapt.errors import Refusal
from art_adapt.source import Source
from art_adapt.span import Span
from art_adapt.survey.calls.roles import Role
from art_adapt.survey.survey import survey


def policy_calls(source: Source) -> frozenset[Span] | None:
    """Return the calls of a file that adapting records, by their callees' positions.

    That is what adapting decides for the agents that run the file's code, with the
    options of their train modules and their tables in pyproject.toml. None where adapting
    would refuse: then nothing is decided.
    """
    here = Source(source.path.absolute(), source.data)
    found: set[Span] = set()
    is_decided = False
    for agent in _agents_with(here):
        with suppress(Refusal, OSError):
            options = decided_before(agent.path)
            surveyed = survey(
                [agent.source], {here.path: here}, options.entry, said=said_in(options)
            )
            own = [file for file in surveyed.files if file.source.path == here.path]
            is_decided |= any(file.uses_art is None for file in own)
            for call in (
                c for file in own if file.uses_art is None for c in file.calls
            ):
                if call.role is Role.POLICY:
                    found.add(call.span)
    return frozenset(found) if is_decided else None


def _agents_with(source: Source) -> list[AdaptedFile]:
    """Return the agents that run code of a file: those with a train module, or hooks."""
    users = [f for f in adapted_files([source]).values() if source.path in f.reached]
    others = [file for file in users if file.path != source.path]
    return [file for file in users if file.is_trained] or others or users
