"""Ask adapting which calls of an adapted file are the policy's, and which are side jobs."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from art_adapt import hooks_file
from art_adapt.decided import decided_in, with_earlier
from art_adapt.decisions import roles
from art_adapt.errors import Refusal
from art_adapt.pyproject import with_configuration
from art_adapt.settings import Options
from art_adapt.source import Source, read_source
from art_adapt.span import Span
from art_adapt.survey.calls.roles import Role
from art_adapt.survey.reading.project import Project
from art_adapt.survey.reading.project_folder import project_root, python_files
from art_adapt.survey.survey import survey
from art_adapt.train_file import has_seal, standing_module


def policy_calls(source: Source) -> frozenset[Span] | None:
    """Return the calls of a file that adapting records, by their callees' positions.

    That is what adapting decides for the agents that run the file's code, with the
    options of their train modules and their tables in pyproject.toml. None where adapting
    would refuse: then nothing is decided.
    """
    here = Source(source.path.absolute(), source.data)
    found: set[Span] = set()
    is_decided = False
    for agent in _agents_with(here.path) or [here.path]:
        with suppress(Refusal, OSError):
            options = with_configuration(Options(), agent)
            if (module := standing_module(agent)) is not None:
                options = with_earlier(options, decided_in(module).options)
            given = here if agent == here.path else read_source(agent)
            surveyed = survey([given], {here.path: here}, options.entry)
            own = [file for file in surveyed.files if file.source.path == here.path]
            is_decided |= any(file.uses_art is None for file in own)
            for call, role in roles(surveyed, options):
                if call.place.path == here.path and role is Role.POLICY:
                    found.add(call.span)
    return frozenset(found) if is_decided else None


def _agents_with(path: Path) -> list[Path]:
    """Return the agents that run code of a file: those with a train module, or hooks."""
    trained: list[Path] = []
    hooked: list[Path] = []
    for file in python_files(project_root(path)):
        with suppress(Refusal, OSError):
            is_trained = standing_module(file) is not None
            if not is_trained and hooks_file.MODULE.encode() not in file.read_bytes():
                continue
            if file.name in hooks_file.NAMES or has_seal(file.read_bytes()):
                continue
            if path in Project.of([read_source(file)], {}).files:
                (trained if is_trained else hooked).append(file)
    others = [file for file in hooked if file != path]
    return trained or others
