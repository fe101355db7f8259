"""Check how the train module and its rollouts ended."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from shlex import quote

from art_adapt import hooks_file
from art_adapt.code.project_folder import project_root, python_files
from art_adapt.code.syntax import LOOPS, Syntax
from art_adapt.paths import shown
from art_adapt.recording.unhooked import MISSED
from art_adapt.rehearsal.checks.tools import NETWORK
from art_adapt.rehearsal.completions import NOT_SERVED
from art_adapt.rehearsal.endless import MOST_CALLS, went_on
from art_adapt.rehearsal.observed import ANSWERED
from art_adapt.rehearsal.protocol import Trajectory
from art_adapt.rehearsal.repeats import UNENDING
from art_adapt.rehearsal.schemas import OWN_TEXT
from art_adapt.rehearsal.seen import FEW, Finding, Seen, given_choices
from art_adapt.rehearsal.services import function_at
from art_adapt.rehearsal.surveyed import surveyed
from art_adapt.source import read_source
from art_adapt.train_file import agent_path

SCRIPTED_FAILURE = "scripted failure"  # what the server said on purpose


def ended(seen: Seen) -> Iterator[Finding]:
    """Report a module that raised, stopped, or ended before its first step."""
    raised, stopped = seen.notes.raised, seen.notes.stopped
    if raised:
        yield Finding(
            "raised",
            f"the train module raised {raised.error}",
            _remedy(raised.error, seen),
            Path(raised.path),
            raised.line,
        )
    if (reward := seen.notes.reward_raised) is not None:
        yield Finding(
            "reward raised",
            f"the reward function raised {reward.error}: the episode is lost, and training stops "
            "if more than one in five are",
            _remedy_for_reward(reward.error),
            Path(reward.path),
            reward.line,
        )
    elif stopped and stopped != "0":
        stopped = stopped.partition("\n\n")[0]  # a traceback is no line of a table
        lost = seen.notes.exceptions
        fix = "fix what this message names, then rehearse again"
        if lost:
            fix = f"{_fix(seen, lost[0])}, then rehearse again"
            cause = lost[0].partition(": ")[2] or lost[0]
            if cause not in stopped:
                stopped += f"; the first lost episode raised {lost[0]}"
        yield seen.finding(
            "stopped", f"the train module stopped: {stopped}", fix, r"def main\b"
        )
    if not raised and not seen.notes.steps and stopped in (None, "0"):
        yield seen.finding(
            "no step",
            "the train module ended without a single training step",
            "check that there are scenarios, and that the module calls backend.train",
            r"backend\.train",
            r"def train\b",
        )


def asked_at_import(seen: Seen) -> Iterator[Finding]:
    """Report completions that importing the agent asked for, before any episode."""
    for file, line in seen.notes.at_import:
        yield Finding(
            "at import",
            "importing the agent calls its model here: every start of a training run would "
            "call the production model, and pay for it",
            'move the code that runs the agent under if __name__ == "__main__":',
            Path(file),
            line,
        )


def _remedy(error: str, seen: Seen) -> str:
    module = seen.path
    variable = re.match(r"KeyError: '([A-Z][A-Z0-9_]+)'", error)
    if variable is not None:  # os.environ[...], which a library may read for it
        name = variable[1]
        return f"if it is an environment variable, set {name}=... and pass --env {name}"
    missing = re.match(r"ModuleNotFoundError: No module named '([\w.]+)'", error)
    if missing is not None:
        name = missing[1].partition(".")[0]
        # Of google.generativeai, google is there: other packages share its name. A package
        # that is one has had such a module in another version.
        package = missing[1].replace(".", "-")
        if name != missing[1] and _is_a_package(name):
            return f"install the version of {name} that the agent needs: this one has no {missing[1]}"
        install = (
            f"pip install {package} (the package may have another name); if it is a module of "
            "yours that is not here, add it"
        )
        if own := _in_project(name, module):
            return (
                f"if {own} is meant, import it by a name that works from the folder where "
                f"the train module runs; otherwise install it here: {install}"
            )
        return f"install it here: {install}"
    hooks = module.with_name(hooks_file.NAME)
    if "relative import" in error and not hooks.is_file():
        agent = quote(shown(agent_path(module)))
        return f"there is no {hooks_file.NAME}: run art-adapt {agent} again, which writes it"
    if NOT_SERVED in error:
        return (
            "importing the agent asks this service, at every start of a run: move the call "
            'under if __name__ == "__main__":'
        )
    if error.startswith("SyntaxError"):
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        return f"fix the syntax error, or rehearse with a newer Python than {version}"
    if error.startswith("EOFError"):
        return 'the module waits for input when it is imported: move that under if __name__ == "__main__":'
    if seen.withheld:
        return (
            f"the rehearsal withheld {', '.join(seen.withheld)}: if this line needs it, pass --env "
            f"{seen.withheld[0]}; otherwise training would stop here as well"
        )
    return "correct this first; training would stop here as well"


def _is_a_package(name: str) -> bool:
    spec = find_spec(name)
    return spec is not None and spec.origin is not None


def _in_project(name: str, module: Path) -> Path | None:
    """Return the folder or file of the project that has the name of a module, if one does."""
    root = project_root(module)
    for path in python_files(root):
        if path.stem == name:
            return path.relative_to(root)
        for folder in path.relative_to(root).parents:
            if folder.name == name:
                return folder
    return None


# A key of a row that is not there: ``scenario.expected``, or ``row["expected"]``.
NO_KEY = re.compile(
    r"^(AttributeError: 'Scenario' object has no attribute |KeyError: )'(\w+)'"
)


def _remedy_for_reward(error: str) -> str:
    """Say what to change so that a reward function does not raise this."""
    if (key := NO_KEY.match(error)) is not None:
        return f'add "{key[2]}" to every row of the scenarios, or read another key'
    if NO_NUMBER.search(error) is not None:
        return "return a finite number, or a dict whose values are"
    if (name := NO_ATTRIBUTE.search(error)) is not None:
        near = get_close_matches(name[1], OF_TRAJECTORIES, 1)
        known = (
            f"did you mean {near[0]}?"
            if near
            else f"it has {', '.join(OF_TRAJECTORIES)}"
        )
        return f"a trajectory has no {name[1]}: {known}"
    if OF_OBJECT.search(error) is not None:
        return "read what it needs of that object: an attribute, an entry, or its text"
    low = "return a low reward for an episode that it cannot score, such as one without an answer"
    is_text = error.startswith("TypeError") and "str" in error
    return low + "; convert a row's text to a number (CSV has only text)" * is_text


# What training.rewards adds to an error, or raises itself.
OF_OBJECT = re.compile(r"\(final_answer is a \w+\)$")
NO_NUMBER = re.compile(
    r"^TypeError: it returned .*, which is no number$|^ValueError: the reward is .*group$"
)
NO_ATTRIBUTE = re.compile(r"'\w*Trajectory' object has no attribute '(\w+)'")
# What rewards read: of ART 0.5.23, trajectories.py, and what training.Trajectory adds.
OF_TRAJECTORIES = (
    "final_answer",
    "scenario",
    "messages_and_choices",
    "additional_histories",
    "tools",
    "reward",
    "metrics",
    "metadata",
    "logs",
    "duration",
)
REWARD_ERROR = "RewardError: "
# The line of the agent that raised, which ends a failure.
PLACE = re.compile(r"\((/[^()]+\.py):(\d+)\)$")
OWN_ERROR = "HTTPException("  # a web handler's, for whatever reason
# What code raises over values that it has, whatever the machine.
OF_THE_CODE = re.compile(
    r"(^|\braised )(\w+\.)*(Attribute|Type|Index|Name|UnboundLocal|ZeroDivision|JSONDecode)Error\b"
)


@dataclass(frozen=True)
class Failures:
    """How many rollouts began, and with what those of them ended that failed.

    ``own`` are the failures before which the scripted model made no mistake. ``limited`` are those
    of episodes that reached the agent's own limit of turns; the other two leave them out.
    """

    began: int
    every: tuple[str, ...]
    own: tuple[str, ...]
    limited: tuple[str, ...]

    @property
    def usual(self) -> tuple[str, int]:
        """Return what most ended with, those of the agent's own if there are, and how many."""
        told = self.own or self.every
        kind, count = Counter(map(_without_accidents, told)).most_common(1)[0]
        return next(each for each in told if _without_accidents(each) == kind), count


def failures(seen: Seen) -> Failures:
    """Return the failures of a rehearsal's episodes, lost ones too."""
    limit, most = turn_limit(seen), _asked_without_end(seen)

    def is_at_limit(episode: Trajectory) -> bool:
        last = episode.choices[-1].message if episode.choices else {}
        return (
            limit is not None
            and _without_accidents(episode.failure or "") == _without_accidents(limit)
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
    own = [
        t.failure or ""
        for t in kept
        if not any(i.choice and i.choice.mark in misleading for i in t.choices)
    ]
    return Failures(
        len(seen.notes.rollouts) or len(seen.episodes) + len(lost),
        (*(t.failure or "" for t in kept), *lost),
        tuple(each for each in (*own, *lost) if SCRIPTED_FAILURE not in each),
        tuple(t.failure or "" for t in limited),
    )


def _asked_without_end(seen: Seen) -> int:
    """Return how many requests the episode made whose model never stops."""
    return sum(each.phase == UNENDING and each.is_policy for each in seen.repeats)


def turn_limit(seen: Seen) -> str | None:
    """Return what the agent raises at its limit of turns, with the line; None if nothing.

    An episode whose model never stops ended with it: a ``raise`` below a loop that calls the
    model turn after turn, or in it where a comparison decides, after more than two requests.
    A tool that fails raises at once.
    """
    place = PLACE.search(seen.notes.unended or "")
    if place is None or not Path(place[1]).is_file():
        return None
    path, line = Path(place[1]).resolve(), int(place[2])
    syntax = Syntax.of(read_source(path))
    starts = {loop.line for loop in seen.loops if loop.path.resolve() == path}
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
    return seen.notes.unended if is_at_limit else None


def _is_counted(syntax: Syntax, node: ast.Raise) -> bool:
    """True if a comparison alone decides whether a ``raise`` is reached: ``if turn > most:``."""
    around = syntax.parents[node]
    return isinstance(around, ast.If) and isinstance(around.test, ast.Compare)


def failed_episodes(seen: Seen) -> Iterator[Finding]:
    """Report episodes that ended with an exception, or were lost.

    An agent may fail where the scripted model does something wrong on purpose: only where
    most do, that is a finding.
    """
    found = failures(seen)
    count = len(found.every)
    if 2 * count > found.began or FEW * len(found.own) > found.began:
        failure, alike = found.usual
        misled = count - len(found.own)
        beside = f" ({misled} after a mistake of the scripted model)" if misled else ""
        times = f" {alike} times" * (alike > 1)
        yield seen.finding(
            "failed",
            f"{count} of {found.began} episodes failed{beside},{times} with: {failure}",
            f"{_fix(seen, failure)}, or change what episode() passes; catch an error that should not "
            "end an episode",
            r"def episode",
        )


def _fix(seen: Seen, failure: str) -> str:
    if MISSED in failure:
        return "hook that call or name it in AUXILIARY, as is said below"
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
    place = PLACE.search(failure)
    if place is not None and Path(place[1]).resolve() == seen.path.resolve():
        return f"change line {place[2]} of the train module, which raised it"
    if OF_THE_CODE.search(failure):
        return "mend that line of the agent"
    raising = _raising(failure)
    is_network = NETWORK.search(failure) and OWN_ERROR not in failure
    if is_network and not _is_the_agent(seen, raising):
        return f"rehearse with --stub {raising}, because a rehearsal reaches no network"
    needs = "provide the service, the key or the file that it needs"
    if place is not None:
        where = f"{Path(place[1]).name}:{place[2]}"
        return (
            f"see {where}, which raised it: if it refuses the form of a scripted reply, supply "
            f"others with --replies; else make the agent run here: {needs}"
        )
    return f"make the agent run on this machine: {needs}"


def _raising(failure: str) -> str:
    """Return the function of the agent that raised, where a failure names its line."""
    place = PLACE.search(failure)
    if place is None or not Path(place[1]).is_file():
        return "NAME"
    syntax = Syntax.of(read_source(Path(place[1])))
    return function_at(syntax, int(place[2])) or "NAME"


def _is_the_agent(seen: Seen, function: str) -> bool:
    """True if a function runs episodes or asks the model: a stub of it would leave nothing."""
    found = surveyed(seen.path)
    entries = {entry.called for entry in found.entry_points} if found else set()
    return function in entries | {name for name, _ in seen.hooked}


def _without_accidents(text: str) -> str:
    """Leave out what makes one message many: addresses, and what the scripted model made up."""
    return OWN_TEXT.sub("", re.sub(r" at 0x[0-9a-f]+", "", text))


def endless(seen: Seen) -> Iterator[Finding]:
    """Report episodes that the rehearsal ended, because they asked again and again."""
    ended = [each.ended or "" for each in seen.episodes if went_on(each)]
    for told, _ in Counter(ended).most_common(1):
        place = PLACE.search(told)
        yield Finding(
            "endless",
            f"{len(ended)} of {len(seen.episodes)} episodes asked their model {MOST_CALLS} times "
            "and had not ended, so the rehearsal ended them",
            "check that this loop ends: limit its turns, or supply the reply that ends it with "
            "--replies",
            Path(place[1]) if place else seen.path,
            int(place[2]) if place else seen.line(r"def episode"),
        )


def out_of_time(seen: Seen) -> Iterator[Finding]:
    """Report episodes that were ended by their limit of time."""
    late = [each for each in seen.episodes if each.timed_out]
    if len(late) * FEW > len(seen.episodes):
        at = Counter(each.ended for each in late if each.ended).most_common(1)
        said = f"; {at[0][1]} times: {at[0][0]}" if at else ""
        yield seen.finding(
            "out of time",
            f"{len(late)} of {len(seen.episodes)} episodes took longer than the time limit{said}",
            "find what waits (a tool, a service), or raise the time limit of an episode",
            r"TIMEOUT|_SECONDS",
            r"def episode",
        )


def stopped_rollouts(seen: Seen) -> Iterator[Finding]:
    """Report rollouts in which the recorder refused a call that has a hook."""
    reasons = Counter(
        _without_accidents(r.stopped)
        for r in seen.notes.rollouts
        if r.stopped
        and not any(r.stopped.startswith(f"{u.file}:{u.line}: ") for u in r.unhooked)
    )
    for reason, count in reasons.items():
        yield seen.finding(
            "stopped rollouts",
            f"the recorder stopped {count} rollouts: {reason}",
            "follow this message",
            r"training\.record\(|\brollout\(",
        )


def closed(seen: Seen) -> Iterator[Finding]:
    """Report a backend that was never closed."""
    if seen.notes.steps and not seen.notes.closed:
        yield seen.finding(
            "not closed",
            "the backend was never closed: its GPU processes would keep running",
            "call await backend.close() in a finally clause",
            r"make_backend\(|LocalBackend\(",
        )
