"""Check whether episodes failed, and tell an agent's own limit of turns from a failure."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from art_adapt.code.nodes import dotted
from art_adapt.code.project_folder import project_root
from art_adapt.code.syntax import LOOPS, Syntax
from art_adapt.paths import at, shown
from art_adapt.recording.unhooked import MISSED
from art_adapt.rehearsal.checks.tools import NETWORK
from art_adapt.rehearsal.environment import files_of
from art_adapt.rehearsal.observed import ANSWERED
from art_adapt.rehearsal.parts import EPISODE, ROLLOUT
from art_adapt.rehearsal.protocol import Trajectory
from art_adapt.rehearsal.repeats import SAME, SAME_AGAIN, UNENDING
from art_adapt.rehearsal.replies import is_judgement
from art_adapt.rehearsal.schemas import OWN_TEXT
from art_adapt.rehearsal.seen import (
    FEW,
    Finding,
    Seen,
    given_choices,
    offered_functions,
    offered_tools,
)
from art_adapt.rehearsal.services import function_at
from art_adapt.rehearsal.surveyed import surveyed
from art_adapt.source import Place, read_source
from art_adapt.survey.model import Parameter
from art_adapt.words import CLEANS_UP

ENOUGH = 4  # episodes that ended well, to tell that it is no chance
SCRIPTED_FAILURE = "scripted failure"  # what the server said on purpose
REWARD_ERROR = "RewardError: "
# The line of the agent that raised, which ends a failure.
PLACE = re.compile(r"\((/[^()]+\.py):(\d+)\)$")
ONLY_OPENAI = "which only OpenAI's servers have"  # of the recorder's errors
OUTSIDE = "outside its rollout while training"  # of the recorder's errors
LACKS = re.compile(r"'(\w+)' object has no attribute '(\w+)'")
# Of what a call leaves out: ``Agent.edit() missing 1 required positional argument: 'text'``.
LACKING = re.compile(
    r"([\w.]+)\(\) missing \d+ required [\w-]+(?: \w+)? arguments?: (.+)"
)
OF_NONE = "'NoneType' object"
OWN_ERROR = "HTTPException("  # a web handler's, for whatever reason
# What code raises over values that it has, whatever the machine.
OF_THE_CODE = re.compile(
    r"(^|\braised )(\w+\.)*(Attribute|Type|Index|Name|UnboundLocal|ZeroDivision|JSONDecode)Error\b"
)
UNDEFINED = re.compile(
    r"\b(?:name|variable) '(\w+)' (?:is not defined|where it is not)"
)
MISSED_FILE = re.compile(r"No such file or directory: '([^']+)'")
# What one rollout meets where another one has made or removed a file.
OF_FILES = re.compile(r"\bFile(NotFound|Exists)Error\b|\bDirectory not empty\b")

# As training.record says it, of an episode that ended by itself.
NEVER_CALLED = re.compile(r"never called the model(?!: it raised)")


@dataclass(frozen=True)
class Failures:
    """How many rollouts began, and with what those of them ended that failed.

    ``own`` are the failures before which the scripted model made no mistake. ``limited`` are those
    of episodes that reached the agent's own limit of turns; the other two leave them out. ``well``
    counts those that ended well and whose model made no mistake.
    """

    began: int
    every: tuple[str, ...]
    own: tuple[str, ...]
    limited: tuple[str, ...]
    well: int

    @property
    def are_many(self) -> bool:
        """True if training would lose episodes, or learn of nothing but mistakes.

        A model that is asked thirty times makes some mistake in most episodes.
        """
        misled_alone = not self.own and self.well >= ENOUGH
        often = 2 * len(self.every) > self.began and not misled_alone
        return often or FEW * len(self.own) > self.began

    @property
    def usual(self) -> tuple[str, int]:
        """Return what most ended with, those of the agent's own if there are, and how many."""
        told = self.own or self.every
        kind, count = Counter(map(without_accidents, told)).most_common(1)[0]
        return next(each for each in told if without_accidents(each) == kind), count


def failures(seen: Seen) -> Failures:
    """Return the failures of a rehearsal's episodes, lost ones too."""
    limit, most = turn_limit(seen), _asked_without_end(seen)

    def is_at_limit(episode: Trajectory) -> bool:
        last = episode.choices[-1].message if episode.choices else {}
        return (
            limit is not None
            and without_accidents(episode.failure or "") == without_accidents(limit)
            and bool(last.get("tool_calls"))
            and len(episode.choices) == most
        )

    # One that never called the model is lost, and left a failure as well.
    failed = [t for t in seen.episodes if t.failure is not None and t.histories]
    limited = [t for t in failed if is_at_limit(t)]
    if 2 * len(limited) > len(seen.episodes):
        limited = []  # an agent that is meant to end says something else
    kept = [t for t in failed if t not in limited]
    # What the reward raises has a finding of its own, as has a call without a hook.
    lost = [
        each
        for each in seen.notes.exceptions
        if not each.startswith(REWARD_ERROR) and MISSED not in each
    ]
    misleading = {mark for mark, e in given_choices(seen).items() if e.fault}

    def is_misled(episode: Trajectory) -> bool:
        marks = {item.choice.mark for item in episode.choices if item.choice}
        return not marks.isdisjoint(misleading)

    own = [t.failure or "" for t in kept if not is_misled(t)]
    well = [t for t in seen.episodes if t.failure is None and t.choices]
    return Failures(
        # An episode's process that was ended has noted nothing.
        max(len(seen.notes.rollouts), len(seen.trained) + len(lost)),
        (*(t.failure or "" for t in kept), *lost),
        tuple(each for each in (*own, *lost) if SCRIPTED_FAILURE not in each),
        tuple(t.failure or "" for t in limited),
        sum(not (is_misled(t) or t.timed_out) for t in well),
    )


def _asked_others(seen: Seen) -> bool:
    """True if requests went to other models than the one in training, its judge apart."""
    return any(not (e.is_policy or is_judgement(e.request)) for e in seen.log)


def _asked_without_end(seen: Seen) -> int:
    """Return how many requests the episode made whose model never stops."""
    return sum(each.phase == UNENDING and each.is_policy for each in seen.repeats)


def _unended(seen: Seen) -> str | None:
    """Return what that episode raised."""
    end = seen.notes.repeat(UNENDING)
    return None if end is None else end.failure


def turn_limit(seen: Seen) -> str | None:
    """Return what the agent raises at its limit of turns, with the line; None if nothing.

    An episode whose model never stops ended with it: a ``raise`` below a loop that calls the
    model turn after turn, or in it where a comparison decides, after more than two requests.
    A tool that fails raises at once.
    """
    place = raised_at(_unended(seen) or "")
    if place is None or not place.path.is_file():
        return None
    path, line = place.path.resolve(), place.line
    syntax = Syntax.of(read_source(path))
    starts = {loop.line for loop in seen.agent.loops if loop.path.resolve() == path}
    asked = _asked_without_end(seen)
    loops = [n for n in syntax.nodes if isinstance(n, LOOPS) and n.lineno in starts]
    is_at_limit = any(
        isinstance(node, ast.Raise)
        and node.lineno <= line <= (node.end_lineno or 0)
        and syntax.owner(node) == syntax.owner(loop)
        and (
            line > (loop.body[-1].end_lineno or 0)
            or (asked > 2 and _is_counted(syntax, node))
        )
        for node in syntax.nodes
        for loop in loops
    )
    return _unended(seen) if is_at_limit else None


def _is_counted(syntax: Syntax, node: ast.Raise) -> bool:
    """True if a comparison alone decides whether a ``raise`` is reached: ``if turn > most:``."""
    around = syntax.parents[node]
    return isinstance(around, ast.If) and isinstance(around.test, ast.Compare)


def failed_episodes(seen: Seen) -> Iterator[Finding]:
    """Report episodes that ended with an exception, or were lost.

    An agent may fail where the scripted model does something wrong on purpose: that is a
    finding where most do and it is not known to end well otherwise.
    """
    found = failures(seen)
    count = len(found.every)
    if found.are_many:
        failure, alike = found.usual
        misled = count - len(found.own)
        beside = f" ({misled} after a mistake of the scripted model)" if misled else ""
        times = f" {alike} times" * (alike > 1)
        yield seen.finding(
            "failed",
            f"{count} of {found.began} episodes failed{beside},{times} with: {failure}",
            _unrequired(seen, failure)
            or _in_another_folder(seen, failure)
            or f"{_alone(seen, found)}{_whole_fix(seen, failure)}",
            seen.shared if ANSWERED in failure else raised_at(failure),
            ROLLOUT if _is_of_rollout(failure) else EPISODE,
        )


def raised_at(failure: str) -> Place | None:
    """Return the line of the agent or the train module that raised, if a failure ends with it."""
    place = PLACE.search(failure)
    return None if place is None else Place(Path(place[1]), int(place[2]))


def _alone(seen: Seen, found: Failures) -> str:
    """Say that an episode ended well that ran alone, before the others and after them."""
    ends = [seen.notes.repeat(phase) for phase in (SAME, SAME_AGAIN)]
    if not found.own or not all(end is not None and end.is_well for end in ends):
        return ""
    asked = "never called the model" not in found.usual[0]
    if asked and any(end is not None and end.replayed for end in ends):
        return ""  # it was told what the model said in a run
    return (
        "an episode that ran alone ended well: if those side by side share a service, a lock or a "
        "file, set CONCURRENCY = 1; else "
    )


def _whole_fix(seen: Seen, failure: str) -> str:
    fix = fix_of(seen, failure)
    if _undefined_at(failure):  # nothing else helps
        return fix
    fix += ", or change what episode() passes"
    caught = fix.startswith("catch ")
    return fix if caught else f"{fix}; catch an error that should not end an episode"


def _unrequired(seen: Seen, failure: str) -> str:
    """Say which argument a tool's function requires and its schema does not; "" for none."""
    lacking = LACKING.search(failure)
    if lacking is None:
        return ""
    tool = lacking[1].rpartition(".")[2]
    missing = set(re.findall(r"'(\w+)'", lacking[2]))
    for function in offered_functions(seen):
        schema = function.get("parameters") or {}
        free = (schema.get("properties") or {}).keys() - {*schema.get("required", ())}
        if function.get("name") == tool and (names := sorted(missing & free)):
            return (
                f"the schema of {tool} does not require {' and '.join(names)}, and the function "
                "does: require it in the schema, or give the parameter a default"
            )
    return ""


def fix_of(seen: Seen, failure: str) -> str:
    """Say what to do about what an episode ended with."""
    if ONLY_OPENAI in failure:
        return "offer the model a function of your own in its place"
    if MISSED in failure:
        return "hook that call or name it in AUXILIARY, as the finding 'unhooked' says"
    if OUTSIDE in failure:
        return (
            "wrap what the agent hands to the thread, the executor or the helper that runs it: "
            "carried(function)"
        )
    if NEVER_CALLED.search(failure) and _asked_others(seen):
        return (
            "these episodes asked an auxiliary model alone: take scenarios in which the agent asks "
            "its own as well, or train both (remove that function from AUXILIARY)"
        )
    if ANSWERED in failure and not seen.log:
        return (
            "find where the agent answers without its model: a stub may return the wrong value, or "
            "a variable that it needs is missing (--env)"
        )
    if ANSWERED in failure:
        return (
            "let each episode ask its model: switch off what answers in its place (a local mode, "
            "a cache); if earlier episodes left the answer, give each its own process (art-adapt "
            "--isolate process)"
        )
    if "EOF when reading a line" in failure:
        return (
            "the agent reads what a person types: run it with training.run_command(..., "
            "inputs=scenario.inputs) in episode()"
        )
    place = raised_at(failure)
    if place is not None and place.path.resolve() == seen.path.resolve():
        line = f"change line {place.line} of the train module, which raised it"
        of_row = "correct the row that does not fit, as the error says; or "
        return f"{of_row * ('validation error' in failure)}{line}"
    if _is_of_rollout(failure):
        return "mend rollout() of the train module, or what it calls; no line of the agent raised it"
    if undefined := _undefined_at(failure):
        return f"correct {undefined}, which no reply of a model can run"
    raising = _raising(failure)
    if raising in offered_tools(seen) and seen.agent.answers_tools is not None:
        return (
            f"catch what {raising} raises where the agent runs its tools ({at(seen.agent.answers_tools)}), "
            "and give the model the text of the error"
        )
    if setting := _setting(seen, failure):
        attribute, methods = setting
        return f"set {attribute} first: call {methods} of the agent in episode()"
    if (left := _left_none(seen, failure)) is not None:
        given = f", and {at(left.passed)} passes one" if left.passed else ""
        return (
            f"episode() leaves {left.name} None{given}: create it there, or name the function that "
            "makes the agent with --entry"
        )
    if OF_THE_CODE.search(failure):
        return (
            "correct that line of the agent; if it only reads replies of a certain form, supply "
            "some with --replies"
        )
    is_network = NETWORK.search(failure) and OWN_ERROR not in failure
    if is_network and not _is_the_agent(seen, raising):
        return f"rehearse with --stub {raising}, because a rehearsal reaches no network"
    needs = "provide the service, the key or the file that it needs"
    if elsewhere := _in_another_folder(seen, failure):
        return elsewhere
    if OF_FILES.search(failure):
        where = "" if place is None else f"see {place.path.name}:{place.line}: "
        return (
            f"{where}if rollouts share this file or folder, give each its own copy with --isolate "
            "copy; else provide the file"
        )
    if place is not None:
        where = f"{place.path.name}:{place.line}"
        return (
            f"see {where}, which raised it: if it refuses the form of a scripted reply, supply "
            f"others with --replies; else make the agent run here: {needs}"
        )
    return f"make the agent run on this machine: {needs}"


def _undefined_at(failure: str) -> str:
    """Return the line of the agent that uses a name which nothing defines; "" of another failure.

    Code of the model's that the agent runs may use one as well: then the line does not have it.
    """
    named, place = UNDEFINED.search(failure), raised_at(failure)
    if named is None or place is None or not place.path.is_file():
        return ""
    nodes = Syntax.of(read_source(place.path)).nodes
    names = {n.id for n in nodes if isinstance(n, ast.Name) and n.lineno == place.line}
    return f"{place.path.name}:{place.line}" if named[1] in names else ""


def _in_another_folder(seen: Seen, failure: str) -> str:
    """Name the folder of the project from which a relative path leads to a missed file; "" for none."""
    missed = MISSED_FILE.search(failure)
    if missed is None or Path(missed[1]).is_absolute():
        return ""
    module = seen.path.resolve()
    root = project_root(module)
    for folder in module.parents:
        if folder.is_relative_to(root) and (folder / missed[1]).exists():
            return (
                f"the agent finds that file if it runs in {shown(folder)}: watch one run from there "
                "(art-adapt capture -- COMMAND), and training starts there as well"
            )
    return ""


def _setting(seen: Seen, failure: str) -> tuple[str, str] | None:
    """Return the attribute that an object lacked, and the methods of its class that set it.

    These are neither those that clean up nor the method that missed it.
    """
    lacks = LACKS.search(failure)
    if lacks is None:
        return None
    owner, attribute = lacks.groups()
    setting = {
        where.rpartition(".")[2]
        for file in files_of(seen.path)
        for where, value in file.assignments.get(f"self.{attribute}", ())
        if where.rpartition(".")[0] == owner
        and not (isinstance(value, ast.Constant) and value.value is None)
    }
    methods = sorted(setting - {"__init__", _raising(failure), *CLEANS_UP})
    told = " or ".join(f"{name}()" for name in methods)
    return (attribute, told) if methods else None


def _left_none(seen: Seen, failure: str) -> Parameter | None:
    """Return the parameter of the agent that episodes leave None, where its use raised."""
    place, found = raised_at(failure), surveyed(seen.path)
    if OF_NONE not in failure or place is None or found is None:
        return None
    syntax = Syntax.of(read_source(place.path))
    used = {
        dotted(node)
        for node in syntax.nodes
        if isinstance(node, ast.Name | ast.Attribute) and node.lineno == place.line
    }
    for entry in found.entry_points:
        for each in (*entry.constructor, *entry.parameters):
            held = {
                target
                for target, values in syntax.assignments.items()
                if any(dotted(value) == each.name for _, value in values)
            }
            if (
                each.default == "None"
                and each.made is None
                and used & {each.name, *held}
            ):
                return each
    return None


def _is_of_rollout(failure: str) -> bool:
    """True if no line of the agent raised an error of the code, but one of the train module."""
    return raised_at(failure) is None and OF_THE_CODE.search(failure) is not None


def _raising(failure: str) -> str:
    """Return the function of the agent that raised, where a failure names its line."""
    place = raised_at(failure)
    if place is None or not place.path.is_file():
        return "NAME"
    return function_at(Syntax.of(read_source(place.path)), place.line) or "NAME"


def _is_the_agent(seen: Seen, function: str) -> bool:
    """True if a function runs episodes or asks the model: a stub of it would leave nothing."""
    found = surveyed(seen.path)
    entries = {entry.called for entry in found.entry_points} if found else set()
    return function in entries | {name for name, _ in seen.agent.hooked}


def without_accidents(text: str) -> str:
    """Leave out what makes one message many: addresses, and what the scripted model made up."""
    return OWN_TEXT.sub("", re.sub(r" at 0x[0-9a-f]+", "", text))
