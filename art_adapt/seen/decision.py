"""Let what was seen in runs decide which function runs an episode."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from art_adapt.errors import Refusal
from art_adapt.seen.episodes import SeenFunction, seen_episodes, seen_functions
from art_adapt.seen.notes import FunctionKey, Run, read_runs, seen_file
from art_adapt.settings import Options, Origin
from art_adapt.source import Source
from art_adapt.survey.model import EntryPoint, Survey

SAYS_MORE = (Origin.FLAG, Origin.CONFIG, Origin.ANSWER, Origin.EARLIER)


@dataclass(frozen=True)
class Seen:
    """The runs that asked this agent's model, and the function that ran their episodes.

    Without a ``function`` none of the project did: each that asked was a step of what a module
    does itself. ``read``: the entry point that reading the code had found, if it is another
    function.
    """

    runs: tuple[Run, ...]
    function: SeenFunction | None
    read: EntryPoint | None


def seen_of(survey: Survey, sources: Sequence[Source]) -> Seen | None:
    """Return what runs show of an agent; None where nobody let it be watched."""
    runs = read_runs(seen_file(sources[0].path))
    given = {os.path.realpath(f.source.path) for f in survey.files if f.given}
    every = {os.path.realpath(file.source.path) for file in survey.files}
    # An LLM's helper may serve several agents: what runs through the named file counts.
    asked = _of_files(runs, given) or _of_files(runs, every)
    if not asked:
        return None
    found = survey.entry_points
    possible = seen_episodes(asked)
    if not possible:
        steps = {each.key for each in seen_functions(asked)}
        is_step = bool(found) and _key(found[0]) in steps
        return Seen(asked, None, found[0] if is_step else None)
    chosen = possible[0]
    if (
        not chosen.given
    ):  # each encloses whole conversations: reading chooses among them
        keys = {each.key: each for each in possible}
        likely = (
            keys.get(_key(entry)) for entry in found if entry.score == found[0].score
        )
        chosen = next((each for each in likely if each is not None), chosen)
    differs = bool(found) and _key(found[0]) != chosen.key
    return Seen(asked, chosen, found[0] if differs else None)


def with_seen(
    options: Options, seen: Seen | None, survey: Survey, sources: Sequence[Source]
) -> Options:
    """Take the episode that was seen, unless somebody has said which function runs it.

    Raises:
        Refusal: no function ran it.
    """
    if seen is None or options.origin("entry") in SAYS_MORE:
        return options
    if seen.function is None:
        if seen.read is not None and options.train_module:
            raise _no_function(seen.read)
        return options
    entry = name_of(seen.function, survey, sources[0].path)
    return replace(
        options, entry=entry, origins={**options.origins, "entry": Origin.SEEN}
    )


def _no_function(read: EntryPoint) -> Refusal:
    return Refusal(
        "the agent runs at module level: no function that was seen runs one episode",
        why=f"{read.called} made one step of it: it was given what the model had said before",
        next_step="put the loop into a function such as run_agent(task), and run it once more "
        f"with art-adapt capture; or name a function, with --entry {read.called}",
        path=read.place.path,
        line=read.place.line,
    )


def name_of(seen: SeenFunction, survey: Survey, agent: Path) -> str:
    """Return how ``--entry`` names a function that was seen, from the agent's folder."""
    path, function = seen.key
    call = seen.calls[0]
    owner = call.run.objects.get(call.call.owner or 0)
    if owner is not None:  # of its class, which may inherit the method
        function = f"{owner.type.partition(':')[2]}.{function.rpartition('.')[2]}"
    named = [e for e in survey.entry_points if _key(e) == seen.key]
    called = [e.called for e in named]
    if called and function not in called:
        function = called[0]
    if os.path.realpath(agent) == str(path):
        return function
    relative = os.path.relpath(path, os.path.realpath(agent.parent))
    return f"{Path(relative).as_posix()}:{function}"


def _key(entry: EntryPoint) -> FunctionKey:
    return Path(os.path.realpath(entry.key[0])), entry.key[1]


def _of_files(runs: Sequence[Run], paths: set[str]) -> tuple[Run, ...]:
    """Return the runs with those requests alone that a function of some files was active in."""
    found = []
    for run in runs:
        kept = tuple(
            request
            for request in run.requests
            if any(str(call.path) in paths for call in run.outward(request.around))
        )
        if kept:
            found.append(replace(run, requests=kept))
    return tuple(found)
