"""Let what was seen in runs decide which function runs an episode."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from art_adapt.code.classes import FunctionKey
from art_adapt.code.syntax import MODULE_LEVEL
from art_adapt.errors import Refusal
from art_adapt.seen.choice import around_steps, chosen_by, key_of, likely_by_reading
from art_adapt.seen.episodes import (
    MOST_CALLS,
    SeenFunction,
    around_of,
    is_fed_on,
    is_of_test,
    seen_episodes,
    seen_functions,
)
from art_adapt.seen.notes import Call, Run, read_runs, seen_file, taken_in
from art_adapt.seen.set_up_before import around_set_up
from art_adapt.settings import Options, Origin
from art_adapt.source import Source
from art_adapt.survey.calls.roles import Role
from art_adapt.survey.candidates.entry_points import names_function
from art_adapt.survey.model import EntryPoint, Survey

ENDINGS = ("EOFError", "KeyboardInterrupt", "SystemExit")  # of a run that is over


@dataclass(frozen=True)
class Seen:
    """The runs that asked this agent's model, and the function that ran their episodes.

    Without a ``function`` none of the project did. ``read``: the entry point that reading the
    code had found, if it is another function, or if a module itself ran the episode.
    ``ran_itself``: the file did, as the script that reading takes it for. ``ended_early``:
    an exception left the function that reading takes, so that a run shows no more than parts.
    """

    runs: tuple[Run, ...]
    function: SeenFunction | None
    read: EntryPoint | None
    ran_itself: bool = False
    ended_early: bool = False

    @property
    def is_answered(self) -> bool:
        """True if an endpoint answered a request."""
        return any(r.message or r.id for run in self.runs for r in run.requests)

    @property
    def outside(self) -> Counter[FunctionKey]:
        """Count the requests in no episode, by the outermost function that asked each."""
        found: Counter[FunctionKey] = Counter()
        if self.function is None:
            return found
        for run in self.runs:
            for request in run.requests:
                keys = [
                    call.key
                    for call in run.enclosing(request)
                    if call.function != MODULE_LEVEL
                ]
                if keys and self.function.key not in keys:
                    found[keys[-1]] += 1
        return found

    def shows_part(self, entry: EntryPoint) -> bool:
        """True if an error ended the runs, within calls of other functions around an entry point."""
        functions = (f for f in seen_functions(self.runs) if f.key == key_of(entry))
        return self.ended_early and _is_in_failures(next(functions, None))


def seen_of(survey: Survey, sources: Sequence[Source], options: Options) -> Seen | None:
    """Return what runs show of an agent; None where nobody let it be watched.

    Where somebody has said which function runs an episode, that is its function.
    """
    runs = read_runs(seen_file(sources[0].path))
    given = {os.path.realpath(f.source.path) for f in survey.files if f.given}
    every = {os.path.realpath(file.source.path) for file in survey.files}
    # An LLM's helper may serve several agents: what runs through the named file counts.
    own = _of_files(runs, given)
    asked = _ended_well(own or _of_files(runs, every))
    if not asked:
        return None
    seen = _seen_in(asked, survey, options, taken_in(seen_file(sources[0].path)))
    chosen = seen.function
    if not own and chosen is not None and f"{chosen.key[0]}" not in every:
        return None  # another agent's, which asks through the same helper
    return seen


def _seen_in(
    asked: tuple[Run, ...], survey: Survey, options: Options, taken: FunctionKey | None
) -> Seen:
    """Return what runs show of an agent; ``taken``: the function whose rows have been written."""
    first = survey.entry_points[0] if survey.entry_points else None
    if options.entry is not None:
        return Seen(asked, _named(asked, options.entry), None)
    functions = seen_functions(asked)
    with_rows = next((each for each in functions if each.key == taken), None)
    if with_rows is not None:  # which file is named makes no difference any more
        differs = first is not None and key_of(first) != with_rows.key
        return Seen(asked, with_rows, first if differs else None)
    unanswered = Seen(asked, None, None, ended_early=True)
    if not unanswered.is_answered:
        return unanswered
    possible = list(_whole(asked, functions, survey)) or _served(asked, survey)
    alone = _at_module_level(asked)
    is_script = first is not None and first.is_script
    likely = chosen_by(survey, possible) if possible else None
    # Of one request, the script's helper that is given its conversation looks whole.
    is_helper = alone and is_script and likely is not None and not likely.told
    if not possible or is_helper or (alone and _is_beside_most(asked, likely)):
        read = first if alone and not is_script else None
        return Seen(asked, None, read, ran_itself=alone and is_script)
    chosen = around_steps(asked, functions, possible, survey) or likely
    if chosen is not None:
        chosen = around_set_up(chosen, functions, survey) or chosen
    differs = chosen is not None and first is not None and key_of(first) != chosen.key
    if chosen is not None and first is not None and differs:
        inner = {each.key for each in functions if chosen.key in around_of(each)}
        tried = _is_only_tested(chosen) and key_of(first) not in inner
        if tried and _may_lead_to(first, chosen, survey):
            return Seen(asked, None, None)  # a test may try a step alone
    is_partial = _failed(chosen) or all(run.failed for run in asked)
    if (differs or len(likely_by_reading(survey)) > 1) and is_partial:
        return Seen(asked, None, None, ended_early=True)
    if differs and (_ended_early(first, chosen, functions) or _is_in_failures(chosen)):
        return Seen(asked, None, None, ended_early=True)
    if chosen is not None and _is_of_failed_game(chosen, survey):
        return Seen(asked, None, None, ended_early=True)
    return Seen(asked, chosen, first if differs else None)


def _whole(
    runs: Sequence[Run], functions: Sequence[SeenFunction], survey: Survey
) -> Iterator[SeenFunction]:
    """Yield what may run an episode, without what is a part of one.

    A judge works on nothing, and what drives a loop of turns is whole, however few it took.
    """
    aside = {
        (Path(os.path.realpath(call.place.path)), call.function)
        for call in survey.calls
        if call.role is Role.AUXILIARY
    }
    readers = [each for each in functions if each.key not in aside]
    driving = {key_of(e) for e in survey.entry_points if "drives" in e.features}
    for each in seen_episodes(runs):
        if each.key in driving or not is_fed_on(each, readers):
            yield each


def _failed(function: SeenFunction | None) -> bool:
    """True if each call ended with an error: a run shows no more than how far it came."""
    return function is not None and all(_raised(e.call) for e in function.calls)


def _is_in_failures(function: SeenFunction | None) -> bool:
    """True if an error left all functions around each call of a function: it may be a part.

    What was told its task, and returned what the model said last, is whole.
    """

    def fails(run: Run, call: Call) -> bool:
        around = [c for c in run.outward(call.around) if c.function != MODULE_LEVEL]
        return bool(around) and all(map(_raised, around))

    if function is None or (function.told and function.answers):
        return False
    return all(fails(e.run, e.call) for e in function.calls)


def _is_of_failed_game(function: SeenFunction, survey: Survey) -> bool:
    """True if an error ended the loops that asked through a function what its answers led to."""
    feeding = {key_of(each) for each in survey.entry_points if each.feeds_back}
    around = [
        [call for call in each.run.outward(each.call.around) if call.key in feeding]
        for each in function.calls
    ]
    return function.key not in feeding and all(
        calls and all(map(_raised, calls)) for calls in around
    )


def is_failure(outcome: str) -> bool:
    """True if an error ended a call, and not its run."""
    return outcome.startswith("raised") and not outcome.endswith(ENDINGS)


def _raised(call: Call) -> bool:
    return is_failure(call.outcome)


def _ended_early(
    read: EntryPoint | None,
    chosen: SeenFunction | None,
    functions: Sequence[SeenFunction],
) -> bool:
    """True if what reading takes was around each call of another, and never returned."""
    if read is None or chosen is None:
        return False
    outer = next((each for each in functions if each.key == key_of(read)), None)
    if outer is None or not all(
        each.call.outcome.startswith("raised") for each in outer.calls
    ):
        return False
    numbers = {each.call.number for each in outer.calls}
    return all(
        not numbers.isdisjoint(call.number for call in e.run.outward(e.call.around))
        for e in chosen.calls
    )


def _served(runs: Sequence[Run], survey: Survey) -> list[SeenFunction]:
    """Return the handler that a framework called for each request of a conversation.

    It is given the request alone. Its module, or a session, keeps the conversation.
    """
    handlers = {key_of(e) for e in survey.entry_points if e.route or e.decorated}
    return [each for each in seen_functions(runs) if each.key in handlers]


def _is_only_tested(function: SeenFunction) -> bool:
    """True if tests alone called a function."""
    sites = [each.call.site for each in function.calls]
    return all(
        site is not None and is_of_test(site.path, site.function) for site in sites
    )


def _may_lead_to(read: EntryPoint, chosen: SeenFunction, survey: Survey) -> bool:
    """True if what reading takes may run a function that was seen, as far as the source tells."""
    known = (e.led_to_by for e in survey.entry_points if key_of(e) == chosen.key)
    return read.key in next(known, {read.key})


def _is_beside_most(runs: Sequence[Run], chosen: SeenFunction | None) -> bool:
    """True if the module itself made most requests: the function does a job beside the episode.

    That is by itself, or by functions which it gives nothing.
    """
    if chosen is None or len(chosen.calls) >= MOST_CALLS:
        return False  # not all of its calls may have been looked at
    inside = {
        (id(each.run), request.number)
        for each in chosen.calls
        for request in each.requests
    }
    every = [(run, request) for run in runs for request in run.requests]
    of_module = [
        request
        for run, request in every
        if (id(run), request.number) not in inside
        and not any(call.given for call in [*run.outward(request.around)][-2:-1])
    ]
    return 2 * len(of_module) > len(every)


def _at_module_level(runs: Sequence[Run]) -> bool:
    """True if what a module does itself, and no test, was around each request."""
    outermost = [[*run.outward(r.around)][-1:] for run in runs for r in run.requests]
    return all(
        calls and calls[0].function == MODULE_LEVEL and not is_of_test(*calls[0].key)
        for calls in outermost
    )


def _named(runs: Sequence[Run], entry: str) -> SeenFunction | None:
    module, _, name = entry.rpartition(":")
    functions = seen_functions(runs)
    return next((e for e in functions if names_function(*e.key, module, name)), None)


def with_seen(
    options: Options, seen: Seen | None, survey: Survey, sources: Sequence[Source]
) -> Options:
    """Take the episode that was seen, unless somebody has said which function runs it.

    Raises:
        Refusal: no function ran it.
    """
    if seen is None or options.entry is not None:
        return options
    origins = {**options.origins, "entry": Origin.SEEN}
    if seen.function is None:
        if seen.read is not None and options.train_module:
            raise _no_function(seen.read, seen.runs)
        return replace(options, origins=origins) if seen.ran_itself else options
    entry = name_of(seen.function, survey, sources[0].path)
    return replace(options, entry=entry, origins=origins)


def _no_function(read: EntryPoint, runs: Sequence[Run]) -> Refusal:
    why = f"{read.called}, the best candidate in the code, is only a step of an episode, or never ran"
    # What the module called, for each request; "" where it asked itself.
    asked = {
        next((c.key[1] for c in [*run.outward(request.around)][-2:-1]), "")
        for run in runs
        for request in run.requests
    }
    if len(asked) > 1 and "" not in asked:
        named = " and ".join(sorted(asked))
        why = f"{named} asked the model, one after the other, and the run does not show which of them is an episode"
    return Refusal(
        "the agent runs at module level: no function in the watched run ran one episode",
        why=why,
        next_step="move the loop into a function such as run_agent(task), and run it once more "
        f"with art-adapt capture; or name a function, with --entry {read.called}",
        path=read.place.path,
        line=read.place.line,
    )


def name_of(seen: SeenFunction, survey: Survey, agent: Path) -> str:
    """Return how ``--entry`` names a function that was seen, from the agent's folder."""
    path, function = seen.key
    call = seen.calls[0]
    owner = call.run.owner(call.call)
    if owner is not None:  # of its class, which may inherit the method
        module, _, name = owner.type.partition(":")
        inherits = name != function.rpartition(".")[0]
        function = f"{name}.{function.rpartition('.')[2]}"
        if inherits and module != "__main__":
            return f"{module}:{function}"
    read = {e.called: e.home for e in survey.entry_points if key_of(e) == seen.key}
    if read and function not in read:
        function = next(iter(read))
    path = Path(os.path.realpath(read.get(function, path)))
    if os.path.realpath(agent) == str(path):
        return function
    relative = os.path.relpath(path, os.path.realpath(agent.parent))
    return f"{Path(relative).as_posix()}:{function}"


def _ended_well(runs: Sequence[Run]) -> tuple[Run, ...]:
    """Return the runs that no error ended; all, where each ended with one.

    A run that failed shows parts of what a later one shows as a whole. ``raise SystemExit(0)``
    ends a script well: its exit code tells.
    """

    def failed(run: Run) -> bool:
        outer = (call for call in run.calls.values() if call.around is None)
        functions = (call for call in outer if call.function != MODULE_LEVEL)
        return run.failed or any(map(_raised, functions))

    return tuple(run for run in runs if not failed(run)) or tuple(runs)


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
