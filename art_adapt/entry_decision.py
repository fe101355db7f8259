"""Decide which function runs one episode."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from art_adapt.code.syntax import MODULE_LEVEL
from art_adapt.errors import Refusal
from art_adapt.paths import at, shown
from art_adapt.printable import quoted
from art_adapt.settings import Options, Origin
from art_adapt.survey.candidates.entry_points import is_named
from art_adapt.survey.candidates.weights import NEAR
from art_adapt.survey.model import EntryPoint, Survey

# What a training run imports by name, beside the standard library.
HIDING = frozenset(
    [
        "art",
        "art_adapt",
        "datasets",
        "httpx",
        "litellm",
        "numpy",
        "openai",
        "polars",
        "pyarrow",
        "pydantic",
        "torch",
        "transformers",
        "vllm",
        "wandb",
        "weave",
    ]
)
MOST_LISTED = 12  # functions in a message


@dataclass(frozen=True)
class EntryDecision:
    """The entry point, and who chose it.

    ``others`` are the other candidates; without an entry point, those that are equally likely.
    """

    entry: EntryPoint | None
    others: tuple[EntryPoint, ...]
    origin: Origin

    @property
    def likely(self) -> tuple[EntryPoint, ...]:
        return self.others if self.entry is None else (self.entry,)


def decide_entry(survey: Survey, options: Options) -> EntryDecision:
    """Decide on an entry point.

    Raises:
        Refusal: there is none, or it is unclear which, and the train module needs one.
    """
    if options.single_turn and not options.train_module:
        raise Refusal(
            "--single-turn and --no-train-module leave nothing to write",
            next_step="use only one of them",
        )
    if options.single_turn:
        return EntryDecision(_request(survey), (), options.origin("single_turn"))
    if options.entry is not None:
        named = [file.source.path for file in survey.files if file.given]
        origin = options.origin("entry")
        return _named(survey.entry_points, options.entry, origin, named)
    found = survey.entry_points
    likeliest = tuple(entry for entry in found if entry.score == found[0].score)
    if likeliest and likeliest[0].needs_its_module and options.train_module:
        raise _only_steps(likeliest[0])
    if len(likeliest) == 1 or _are_twins(likeliest):
        is_seen = options.origin("entry") is Origin.SEEN  # of a file that ran itself
        origin = Origin.SEEN if is_seen else Origin.FOUND
        return EntryDecision(found[0], found[1:], origin)
    if not options.train_module:
        return EntryDecision(None, likeliest, Origin.FOUND)
    if not likeliest:
        raise _nothing_to_run(survey)
    # What chooses one of them may be nearly as likely, and who named a file means a part of it.
    rivals = (*likeliest, *near(found[0], found[len(likeliest) :]))
    given = [file.source.path for file in survey.files if file.given]
    own = [each for each in found if each.home in given and not _is_private(each)]
    if not any(each in own for each in rivals):
        rivals = (*own[:1], *rivals)
    raise _unclear(rivals)


def _is_private(entry: EntryPoint) -> bool:
    return entry.called.rpartition(".")[2].startswith("_")


def near(entry: EntryPoint, others: Sequence[EntryPoint]) -> tuple[EntryPoint, ...]:
    """Return the candidates that are nearly as likely as the one that was chosen.

    What implements the same method of an interface is the same candidate. A script is taken
    where it drives or composes what the others do: they are its parts.
    """
    if entry.is_script:
        return ()
    return tuple(
        each
        for each in others
        if abs(entry.score - each.score) <= NEAR and not _are_twins([entry, each])
    )


def option_for(entry: EntryPoint, others: Sequence[EntryPoint]) -> str:
    """Return what ``--entry`` is given for a candidate, with its file where a name is not enough."""
    alike = any(e.called == entry.called and e.home != entry.home for e in others)
    return f"{shown(entry.home)}:{entry.called}" if alike else entry.called


def _request(survey: Survey) -> EntryPoint:
    """Return the place where the agent asks its model, whose requests are recorded."""
    call = next(call for call in survey.calls if call.supported)
    path = call.place.path
    package = next(f.package for f in survey.files if f.source.path == path)
    return EntryPoint(
        place=call.place,
        name=call.function,
        called=call.function,
        home=path,
        package=package,
        is_request=True,
    )


def _are_twins(entries: Sequence[EntryPoint]) -> bool:
    """True if all are one function: of several classes, or async, too.

    That is what several classes inherit, or how they implement one method of an interface;
    ``ask``, ``aask`` and ``ask_async`` are one.
    """
    if len({each.implements or each.key for each in entries}) == 1:
        return True
    owners = {(each.place.path, each.called.rpartition(".")[0]) for each in entries}
    names = {each.called.rpartition(".")[2] for each in entries}
    name = re.sub(r"_a?sync$", "", min(sorted(names), key=len, default=""))
    twins = {f"a{name}", f"async_{name}", f"{name}_async", f"{name}_sync"}
    return len(owners) == 1 and names <= {name, *twins}


def refuse_untrainable(decision: EntryDecision) -> None:
    """Refuse an entry point that cannot be imported, or whose episodes would all be identical."""
    entry = decision.entry
    if entry is None:
        return
    path = entry.home
    if not entry.package and (
        path.stem in HIDING or path.stem in sys.stdlib_module_names
    ):
        raise Refusal(
            f"the file name {path.name} hides the module {path.stem}, which training imports",
            why="Python looks in the folder of the train module first, and would import the agent instead",
            next_step="rename the file; or record only, with --no-train-module",
            path=path,
        )
    if "." in path.stem and not entry.is_script:
        raise Refusal(
            f"a train module cannot import {quoted(path.name)}: Python reads the dot in {quoted(path.stem)} as a package separator",
            next_step="rename the file; or record only, with --no-train-module",
            path=path,
        )
    package = path.with_suffix("") / "__init__.py"
    if package.is_file() and not entry.is_script:
        raise Refusal(
            f"a train module cannot import {quoted(path.name)}: Python takes the package {quoted(path.stem)} beside it for that name",
            why="the file runs as a script only, and importing its name runs the package's code instead",
            next_step="rename the file or the package; or record only, with --no-train-module",
            path=path,
        )
    # An object that the project shows how to make is the same in each episode, and so
    # is one that need not be given: it never is.
    varies = [
        parameter
        for parameter in entry.needs
        if not parameter.is_client
        and not parameter.supplied
        and (not parameter.made or parameter.is_record)
        and not (parameter.is_object and parameter.default is not None)
    ]
    terminal = entry.terminal
    typed = terminal is not None or entry.is_request
    only_keys = terminal is not None and terminal.only_keys and not varies
    unasked = decision.origin in (Origin.FOUND, Origin.SEEN)  # nobody has named it
    if only_keys and unasked:
        raise Refusal(
            "every episode would be the same: all that is typed is a key",
            why="an episode starts from a scenario, such as a task or a question, and no row should hold a key",
            next_step="read the key from an environment variable, and run art-adapt again: then a function of the agent can run the episode",
            path=entry.place.path,
            line=entry.place.line,
        )
    if not varies and not typed and unasked:
        raise Refusal(
            f"every episode would be the same: {entry.called}() takes nothing that a scenario could set",
            why="an episode starts from a scenario, such as a task or a question",
            next_step=f"add a parameter; or use it unchanged, with --entry {entry.called}; or record only, with --no-train-module",
            path=entry.place.path,
            line=entry.place.line,
        )


def _named(
    found: Sequence[EntryPoint], wanted: str, origin: Origin, given: Sequence[Path]
) -> EntryDecision:
    """Take the function that the user names: that of the ``given`` files, if several have it."""
    module, _, name = wanted.rpartition(":")
    named = [entry for entry in found if is_named(entry, module, name)]
    if named:  # the whole name goes before the end of another
        exact = [entry for entry in named if name in (entry.called, entry.name)]
        exact = [each for each in exact if each.home in given] or exact
        alike = [each for each in exact if each.called == exact[0].called]
        if not module and len({each.home for each in alike}) > 1:
            raise _unclear(alike)
        return _chosen((exact or named)[0], found, origin)
    known = ", ".join(entry.called for entry in found[:8]) or "none"
    raise Refusal(
        f"no function {wanted!r} in the files of this agent",
        next_step=f"name it as module:function; these functions reach a policy call: {known}",
    )


def _chosen(
    entry: EntryPoint, found: Sequence[EntryPoint], origin: Origin
) -> EntryDecision:
    others = tuple(other for other in found if other is not entry)
    return EntryDecision(entry, others, origin)


def _nothing_to_run(survey: Survey) -> Refusal:
    call = survey.calls[0]
    if call.function != MODULE_LEVEL:
        return Refusal(
            f"the model is called in {call.function}, which only its enclosing function can run",
            why="a train module imports the function that runs an episode, and a nested function cannot be imported",
            next_step="write a function at module level that runs one episode, such as run_agent(task); or record only, with --no-train-module",
            path=call.place.path,
            line=call.place.line,
        )
    return Refusal(
        "the agent runs at module level: no function runs one episode",
        why="the train module calls a function to run one episode of each scenario",
        next_step="move this code into a function such as run_agent(task); or record only, with --no-train-module",
        path=call.place.path,
        line=call.place.line,
    )


def _only_steps(entry: EntryPoint) -> Refusal:
    why = "runs one turn; a loop at module level runs the conversation"
    move = "move that loop into a function such as run_agent(task); or train single turns, "
    move += f"with --entry {entry.called}"
    if entry.is_unset:
        why = f"reads a variable that {entry.home.name} sets only where it is run as a program"
        move = "set it at the top of the file, or in the function"
    return Refusal(
        "the agent runs at module level: no function runs one episode",
        why=f"{entry.called} {why}",
        next_step=f"{move}; or record only, with --no-train-module",
        path=entry.place.path,
        line=entry.place.line,
    )


class UnclearEntry(Refusal):
    """Several functions could run an episode, and nothing says which one does."""


def _unclear(likeliest: Sequence[EntryPoint]) -> UnclearEntry:
    every = dict.fromkeys(
        f"\n    {at(each.place)}  {each.called}" for each in likeliest
    )
    listed = "".join([*every][:MOST_LISTED])
    if (more := len(every) - MOST_LISTED) > 0:
        listed += f"\n    and {more} more"
    first = likeliest[0]
    example = option_for(first, likeliest)
    return UnclearEntry(
        f"several entry points: {len(every)} functions could run an episode{listed}",
        next_step=f"name one, for example --entry {quote(example)}; or watch one run, with art-adapt capture -- COMMAND, which finds it; "
        "or record only, with --no-train-module",
        path=first.place.path if len({e.place.path for e in likeliest}) == 1 else None,
    )
