"""Check how the train module and its rollouts ended."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from shlex import quote

from art_adapt import hooks_file
from art_adapt.code.nodes import dotted
from art_adapt.code.project_folder import project_root, python_files
from art_adapt.paths import shown
from art_adapt.rehearsal.checks.failing import without_accidents
from art_adapt.rehearsal.checks.remedies import fix_of, raised_at
from art_adapt.rehearsal.completions import NOT_SERVED
from art_adapt.rehearsal.endless import went_on
from art_adapt.rehearsal.environment import files_of
from art_adapt.rehearsal.parts import (
    EPISODE,
    RECORDS,
    TRAINS,
    Part,
    calls,
    defines,
    sets,
)
from art_adapt.rehearsal.seen import FEW, Finding, Seen
from art_adapt.reward_errors import remedy, row_keys
from art_adapt.source import Place
from art_adapt.train_file import agent_path

# Where a rehearsal sends what would leave the machine.
OWN_PROXY = re.compile(r"127\.0\.0\.1\W+(port=)?9\b")


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
            remedy(
                reward.error, row_keys(seen.notes.scenarios), seen.syntax.source.text
            ),
            Path(reward.path),
            reward.line,
        )
    elif stopped and stopped != "0":
        stopped = stopped.partition("\n\n")[0]  # a traceback is no line of a table
        lost = seen.notes.exceptions
        fix = "fix what this message names, then rehearse again"
        if (wrong := seen.notes.stopped_by) is not None:
            stopped = stopped.removeprefix(f"{wrong.row}: ")  # its place says that
            fix = f"correct this {'row' if wrong.row else 'constant'}, then rehearse again"
        if lost:
            fix = f"{fix_of(seen, lost[0])}, then rehearse again"
            cause = lost[0].partition(": ")[2] or lost[0]
            if cause not in stopped:
                stopped += f"; the first lost episode raised {lost[0]}"
        what = f"the train module stopped: {stopped}"
        yield seen.finding("stopped", what, fix, *_stopped_by(seen), defines("main"))
    if not raised and not seen.notes.steps and stopped in (None, "0"):
        yield seen.finding(
            "no step",
            "the train module ended without a single training step",
            "check that there are scenarios, and that the module calls backend.train",
            TRAINS,
            defines("train"),
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
        if own := _in_project(name, module):  # a package of its name is a stranger's
            folder = own.parent.as_posix()
            return (
                f"let Python find {own}, also to train: set PYTHONPATH={quote(folder)}, or "
                f"install the project (pip install -e .), or import it as {_dotted(own)}"
            )
        install = (
            f"pip install {package} (the package may have another name); if it is a module of "
            "yours that is not here, add it"
        )
        around = _around_project(name, module)
        if around is not None and not _adds_folders(module):
            return (
                f"if {shown(around)} is meant, put its folder where Python looks, also to train: "
                f"PYTHONPATH={quote(str(around.parent))}; otherwise install it here: {install}"
            )
        if around is not None:
            return (
                f"if {shown(around)} is meant, rehearse with --in-place: the rehearsal works on a "
                f"copy of {shown(project_root(module.resolve()))}, without what lies around it; "
                f"otherwise install it here: {install}"
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
    if OWN_PROXY.search(error):
        return (
            "a rehearsal reaches no network, and importing the agent asks a service here: if that "
            "fills a cache, run this import once outside of a rehearsal; training needs the network"
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
    """Return the folder or file of the project that has the name of a module, if one does.

    What lies in a package is imported from that: ``app/mcp.py`` is no ``mcp``.
    """
    root = project_root(module)
    for path in python_files(root):
        around = [path.with_suffix(""), *path.parents]
        for each in around[: len(path.relative_to(root).parts)]:
            if each.name == name and not (each.parent / "__init__.py").is_file():
                own = path if each is around[0] else each
                return own.relative_to(root)
    return None


def _dotted(path: Path) -> str:
    """Return the module of a path below the project's root, as its root imports it."""
    return ".".join(path.with_suffix("").parts)


def _adds_folders(module: Path) -> bool:
    """True if code of a train module's agent changes where Python looks: ``sys.path``."""
    return any(
        isinstance(node, ast.Attribute) and dotted(node) == "sys.path"
        for syntax in files_of(module)
        for node in syntax.nodes
    )


def _around_project(name: str, module: Path) -> Path | None:
    """Return what has a module's name in a folder above the project, in its repository."""
    root = project_root(module.resolve())
    for folder in root.parents if not (root / ".git").exists() else ():
        for path in (folder / name, folder / f"{name}.py"):
            if path.exists():
                return path
        if (folder / ".git").exists():
            break
    return None


def endless(seen: Seen) -> Iterator[Finding]:
    """Report episodes that the rehearsal ended, because they asked again and again."""
    ended = [each.ended or "" for each in seen.episodes if went_on(each)]
    for told, _ in Counter(ended).most_common(1):
        yield seen.finding(
            "endless",
            f"{len(ended)} of {len(seen.episodes)} episodes asked their model {seen.most_calls} times "
            "and had not ended, so the rehearsal ended them",
            "check that this loop ends: limit its turns, or supply the reply that ends it with "
            "--replies",
            raised_at(told),
            EPISODE,
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
            sets("EPISODE_TIMEOUT"),
            EPISODE,
        )


def _stopped_by(seen: Seen) -> Iterator[Place | Part]:
    """Yield the row or the constant that ended the run, if it was one."""
    wrong = seen.notes.stopped_by
    file, _, line = wrong.row.rpartition(":") if wrong else ("", "", "")
    if file and line.isdigit():
        yield Place(Path(file), int(line))
    if wrong is not None and wrong.constant:
        yield sets(wrong.constant)


def stopped_rollouts(seen: Seen) -> Iterator[Finding]:
    """Report rollouts in which the recorder refused a call that has a hook."""
    reasons = Counter(
        without_accidents(r.stopped)
        for r in seen.notes.rollouts
        if r.stopped
        and not any(r.stopped.startswith(f"{u.file}:{u.line}: ") for u in r.unhooked)
    )
    for reason, count in reasons.items():
        yield seen.finding(
            "stopped rollouts",
            f"the recorder stopped {count} rollout{'s' * (count != 1)}: {reason}",
            "follow this message",
            RECORDS,
        )


def closed(seen: Seen) -> Iterator[Finding]:
    """Report a backend that was never closed."""
    if seen.notes.steps and not seen.notes.closed:
        yield seen.finding(
            "not closed",
            "the backend was never closed: its GPU processes would keep running",
            "call await backend.close() in a finally clause",
            calls("make_backend", "LocalBackend"),
        )
