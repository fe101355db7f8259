"""Run a train module in a process of its own, and read what it has noted."""

from __future__ import annotations

import itertools
import re
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from art_adapt.errors import Refusal
from art_adapt.printable import counted
from art_adapt.project_copy import Copy, TooLarge, fill
from art_adapt.recording.installed import is_installed
from art_adapt.rehearsal import contained
from art_adapt.rehearsal.compared import Compared, compared_file, read_compared
from art_adapt.rehearsal.contained import Ended
from art_adapt.rehearsal.environment import environment
from art_adapt.rehearsal.outside import Outside, Overlay, put_back
from art_adapt.rehearsal.protocol import (
    MOST_CALLS,
    EngineSettings,
    Evaluated,
    Notes,
    Progress,
    Settings,
    Stub,
    TinyModelSettings,
    from_json,
    progress_file,
    to_json,
)
from art_adapt.rehearsal.start import start_of
from art_adapt.rehearsal.unreached import Unreached, read_unreached, unreached_file
from art_adapt.rehearsal.written import files_below, written
from art_adapt.rehearsed import SETTINGS

COMPILED = (
    "a compiled package crashed: update it, or leave out what calls it (--stub NAME); "
    "--output shows all frames"
)
DYING = {
    "SIGKILL": "look in the kernel's log (dmesg) whether memory ran out",
    "SIGSEGV": COMPILED,
    "SIGABRT": COMPILED,
}
FRAME = re.compile(r'  File "(?P<place>.+", line \d+) in ')  # as faulthandler prints it


@dataclass(frozen=True)
class Conditions:
    """How long a train module may run, and what it gets and does for real.

    ``let_through``: variables of the environment. ``stubs``: functions that do not run.
    ``tell``: takes a line on how far it is, a few times a second. ``in_place``: it works on
    the project's files, and not on a copy of them. ``most_calls``: of the model, by an episode.
    """

    seconds: float = 600
    let_through: tuple[str, ...] = ()
    stubs: tuple[Stub, ...] = ()
    tell: Callable[[str], None] = lambda _: None
    in_place: bool = False
    most_calls: int = MOST_CALLS


USUAL = Conditions()


@dataclass(frozen=True)
class Child:
    """The notes and the output of a train module's process that has ended.

    ``written``: the files of the project, or of the ``copy`` that it worked in, that are new or
    were changed; None: they are too many to tell. ``withheld``: the variables of the user's that
    the agent reads and was not given. ``outside``: what it would have changed elsewhere.
    ``unreached``: what it asked for that a rehearsal does not have. ``compared``: how the
    comparisons of its reward came out.
    """

    notes: Notes
    output: str
    written: frozenset[Path] | None
    copy: Copy | None
    withheld: tuple[str, ...]
    outside: tuple[Outside, ...]
    unreached: tuple[Unreached, ...]
    compared: tuple[Compared, ...]


@dataclass(eq=False)
class NotRehearsed(Refusal):
    """A train module's process that left no notes, and what it printed."""

    output: str = ""


def run_child(
    path: Path,
    url: str,
    steps: int,
    folder: Path,
    train: TinyModelSettings | None = None,
    evaluated: Evaluated | None = None,
    *,
    engine: EngineSettings | None = None,
    conditions: Conditions = USUAL,
) -> Child:
    """Run the train module in a process of its own.

    Its files are in ``folder``; with ``train`` or ``engine``, also those of ART, from which a
    later run resumes. ``evaluated``: models to compare, in the place of a run.
    """
    out = folder / "seen.json"
    asked, compared = unreached_file(out), compared_file(out)
    for file in (asked, compared):
        file.write_text("", encoding="utf-8")  # an earlier run's was another's
    start = start_of(path)
    project = start.project
    copy = None if conditions.in_place else _copy_of(project, folder.resolve())
    inside = str if copy is None else copy.inside
    worked_in = project if copy is None else copy.folder
    before = files_below(worked_in)
    kept = folder.resolve()
    shadow = kept / "outside"
    shutil.rmtree(shadow, ignore_errors=True)  # an earlier run's
    overlay = Overlay((f"{kept}", f"{worked_in}"), f"{shadow}", f"{project}")
    settings = Settings(
        inside(str(path.resolve())),
        url,
        steps,
        str(out),
        str(folder / "art") if train or engine else None,
        train,
        evaluated,
        engine,
        conditions.stubs,
        conditions.let_through,
        overlay,
        conditions.most_calls,
    )
    file = folder / "settings.json"
    file.write_text(to_json(settings), encoding="utf-8")
    given = environment(url, path, conditions.let_through)
    variables = given.variables
    ended = contained.run(
        [sys.executable, "-X", "faulthandler", "-m", "art_adapt.rehearsal.child"],
        {
            **(variables if copy is None else copy.environment(variables)),
            SETTINGS: str(file.resolve()),
        },
        Path(inside(str(start.folder))),
        folder / "temporary",
        conditions.seconds,
        watch=lambda seconds: conditions.tell(
            _progress(
                progress_file(out), steps, seconds, training=bool(train or engine)
            )
        ),
    )
    outside = tuple(
        each if copy is None else replace(each, at=copy.told_outside(each.at))
        for each in put_back(shadow)
    )
    if copy is not None:
        for noted in (out, progress_file(out), asked, compared):
            if noted.exists():
                noted.write_text(copy.told_outside(noted.read_text("utf-8")), "utf-8")
        ended = replace(ended, output=copy.told_outside(ended.output))
    if ended.code is None:
        raise _unfinished(progress_file(out), path, conditions, ended.output)
    if not out.exists():
        raise _died(ended, path)
    notes = from_json(Notes, out.read_text(encoding="utf-8"))
    out.unlink()
    if (train or evaluated or engine) and (raised := notes.raised):
        raise Refusal(
            "evaluation raised an exception"
            if evaluated
            else "training raised an exception",
            why=raised.error,
            path=Path(raised.path),
            line=raised.line,
        )
    changed = written(before, files_below(worked_in))
    return Child(
        notes,
        ended.output,
        changed,
        copy,
        given.withheld,
        outside,
        read_unreached(asked.read_text(encoding="utf-8")),
        read_compared(compared.read_text(encoding="utf-8")),
    )


def copied_folder(train_module: Path) -> Path:
    """Return the folder of which a train module's run has a copy."""
    return start_of(train_module).project


def _copy_of(project: Path, folder: Path) -> Copy | None:
    """Copy a project for one run; None: it is too large, and the run works in the project."""
    copy = Copy(project, folder / "copy" / project.name)
    shutil.rmtree(copy.folder, ignore_errors=True)  # an earlier run's
    try:
        fill(copy)
    except TooLarge:
        return None
    return copy


def _progress(file: Path, steps: int, seconds: float, *, training: bool) -> str:
    """Say how far a train module is."""
    so_far = _so_far(file)
    if so_far is None:
        return f"starting, {seconds:.0f} s"
    doing = "training, " if training else ""
    running = f"{so_far.episodes} episodes, " if so_far.episodes else ""
    return f"{doing}step {so_far.steps} of {steps} done, {running}{seconds:.0f} s"


def _so_far(file: Path) -> Progress | None:
    try:
        return from_json(Progress, file.read_text())
    except OSError:  # it is only starting
        return None


def _unfinished(file: Path, path: Path, conditions: Conditions, output: str) -> Refusal:
    """Say where a train module was when its time was over."""
    so_far = _so_far(file)
    places = so_far.at if so_far is not None else ()
    # The train module itself awaits each episode.
    agent = [each for each in places if not each.startswith(f"{path.resolve()}:")]
    at = Counter(agent or places).most_common(1)
    why = "an episode may run forever, or wait for input"
    if so_far is not None and at:
        where, count = at[0]
        why = f"{counted(so_far.episodes, 'episode')} had begun, and {counted(count, 'task')} still waited at {where}"
    return NotRehearsed(
        f"the train module did not finish within {conditions.seconds:g} seconds",
        why=why,
        next_step="limit the turns of an episode; if it asks again until it can read a reply, "
        "supply such replies with --replies; stub a function that waits (--stub NAME); or raise "
        "--timeout",
        path=path,
        output=output,
    )


def _crashed_in(output: str) -> list[str]:
    """Return the places where a thread was when it crashed, the innermost first."""
    report = output.rpartition("\nCurrent thread ")[2].splitlines()[1:]
    frames = itertools.takewhile(bool, map(FRAME.match, report))
    return [each["place"].replace('", line ', ":") for each in frames if each]


def _died(ended: Ended, path: Path) -> NotRehearsed:
    """Say how a train module's process ended that has left no notes."""
    said = ended.output.strip().splitlines()[-1:] or ["it printed nothing"]
    why = f"the last line that it printed: {said[0]}"
    code = ended.code or 0
    if code == 1 and "Traceback (most recent call last)" in ended.output:
        what = "the rehearsal could not start the train module"
        remedy = "check that python -c 'import art' works in this environment"
    elif code >= 0:
        what = f"the train module's process exited early, with exit code {code}"
        remedy = "look for os._exit in the train module and in the code that it calls"
    else:
        try:
            name = signal.Signals(-code).name
        except ValueError:  # a real-time one
            name = f"signal {-code}"
        what = f"the train module's process was killed by {name}"
        remedy = DYING.get(name, "run again with --output to see what it printed")
        if frames := _crashed_in(ended.output):
            own = [each for each in frames if not is_installed(each.rpartition(":")[0])]
            why = f"it crashed in {frames[0]}"
            why += f", called from {own[0]}" if own and own[0] != frames[0] else ""
    return NotRehearsed(
        what,
        why=why,
        next_step=remedy,
        path=path,
        output=ended.output,
    )
