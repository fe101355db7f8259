"""Say what was seen of an agent in a run, and what was kept of it."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from art_adapt.calls import DEFAULT_KEY
from art_adapt.capture.rows import CAPTURED, Kept
from art_adapt.capture.watched import OF_A_REQUEST
from art_adapt.paths import at, shown
from art_adapt.printable import counted, printable
from art_adapt.report.seen import other_size
from art_adapt.secret_texts import HIDDEN
from art_adapt.seen.conversations import conversations_of
from art_adapt.seen.decision import Seen, is_failure
from art_adapt.seen.notes import Run, tools_called
from art_adapt.survey.model import EntryPoint

Json = dict[str, Any]


MOST_ROWS = 3  # that are shown
LONGEST_ROW = 60  # characters of it
SIGNALLED = 128  # exit codes of what a signal has ended
STOPPED = (-signal.SIGINT, 128 + signal.SIGINT)  # by Ctrl-C
MISUSED = 2  # how argparse, click and a shell's builtins end on a wrong command line


def say_seen(
    runs: Sequence[Run],
    code: int,
    withheld: Sequence[str] = (),
    *,
    scripted: bool = False,
) -> None:
    """Print on standard error what the model was asked by a command that ended with ``code``.

    ``withheld`` are the variables that it was not given; ``scripted``: a made-up model answered.
    """
    say = sys.stderr.write
    if withheld and (code or not any(run.requests for run in runs)):
        names = printable(", ".join(withheld))
        say(
            f"\nnot passed on: {names}. With --scripted, no key and no address leaves this shell; "
            f"--env {printable(withheld[0])} passes it on\n"
        )
    requests = [request for run in runs for request in run.requests]
    if not requests:
        stopped = code in STOPPED
        why = (
            "the command ended without one, or it uses another Python or another client"
        )
        if stopped:
            why = "the command was stopped before it asked for a completion"
        elif code:
            why = f"the command failed with exit code {code} before it asked for a completion"
        say(f"\nno request to a model was seen: {why}\n")
        if code == MISUSED:
            say("next: give the command what its error above asks for\n")
        elif code and not stopped:
            say(
                "the command runs with the Python that your PATH finds first: if a package is "
                "missing, name yours, such as .venv/bin/python\n"
            )
            unset = not scripted and not os.environ.get(DEFAULT_KEY)
            key = f"if it needs a key, {DEFAULT_KEY} is not set: a scripted model (--scripted) needs none"
            say(f"next: fix the error above{f'; {key}' * unset}\n")
        return
    conversations = sum(len(conversations_of(run.requests)) for run in runs)
    say(
        f"\nSeen: {counted(len(requests), 'request')} in {counted(conversations, 'conversation')}\n"
    )
    if tools := tools_called(requests):
        say(f"  tools    {printable(tools)}\n")
    if scripted and 0 < code < SIGNALLED:
        say(
            "the command failed: if it reads replies of a certain form, supply some with "
            "--replies FILE.jsonl\n"
        )


def say_episode(entry: EntryPoint, seen: Seen | None) -> None:
    """Print on standard error which function runs an episode, and which other one may, by runs."""
    sys.stderr.write(f"  episode  {entry.called} ({at(entry.place)})\n")
    if seen is not None and (other := other_size(seen)) is not None:
        sys.stderr.write(f"           {'; '.join(other)}\n")


def say_kept(kept: Kept, path: Path, entry: EntryPoint, code: int, then: str) -> None:
    """Print on standard error which rows were written to ``path``, and what was left out.

    ``code``: with which the agent's command ended; ``then``: the command that comes next, if any.
    """
    say = sys.stderr.write
    known = f", {kept.known} with the row of an earlier one" if kept.known else ""
    episodes = counted(kept.episodes, "episode")
    say(f"\n{episodes} of {entry.called} ({at(entry.place)}){known}\n")
    for field, secrets in kept.secrets.items():
        shown_ones = printable(", ".join(dict.fromkeys(secrets)))
        say(
            f"left out: {field} looks like a secret ({shown_ones}); --allow {field} keeps it\n"
        )
    for field in sorted(kept.cut):
        say(f"cut out of {field}: what looks like a secret; the rest is in the rows\n")
    for field, types in kept.not_json.items():
        what = printable(", ".join(sorted(types)))
        if types == {HIDDEN}:
            say(f"left out: {field} {what}\n")
            continue
        why = f"cannot be stored as JSON ({what})"
        if types == {OF_A_REQUEST}:
            why = OF_A_REQUEST
        say(
            f"no row was written: {field} {why}; write the rows yourself, or choose a function "
            "that creates it, with art-adapt --entry\n"
        )
    # episode() makes these again itself.
    made = {
        each.name
        for each in entry.needs
        if each.element or each.is_record or each.rebuilt
    }
    for field, types in kept.turned.items():
        if field in made:
            continue
        what = printable(", ".join(sorted(types)))
        say(
            f"{field} holds values of {what}, which the rows have as text or as a dict: create them "
            "again in episode()\n"
        )
    for field in sorted(kept.made_up):
        say(
            f"left out: --scripted made up the value of {field}; write your own into the rows\n"
        )
    if kept.going_on:
        shown_ones = ", ".join(map(_shown_row, kept.going_on[:MOST_ROWS]))
        say(
            f"{counted(len(kept.going_on), 'row')} began with the reply of an earlier episode, which a "
            f"new agent does not have: delete {shown_ones}, or let --entry name what runs the whole "
            "conversation\n"
        )
    failed = [row for row in kept.rows if is_failure(row[CAPTURED]["outcome"])]
    if failed:
        shown_ones = ", ".join(map(_shown_row, failed[:MOST_ROWS]))
        say(
            f"{counted(len(failed), 'episode')} ended with an error: delete {shown_ones} unless it is a "
            "task that your model should solve\n"
        )
    for field in _of_this_machine(kept):
        say(
            f"{field} holds a path of this machine: if you train on another one, write a path that is "
            "right there into the rows\n"
        )
    if kept.rows:
        say(f"{counted(len(kept.rows), 'new row')} in {shown(path)}\n")
        say(f"next: {then}\n" * bool(then))
    elif not kept.episodes and code:
        say(f"no episode was run: the command failed with exit code {code}\n")
    elif not kept.episodes:
        say(
            "no episode was run: name another function with --entry, or check which Python runs\n"
        )


def _shown_row(row: dict[str, Any]) -> str:
    """Show how a row begins, to find it by: ``{"text": "And now?"``."""
    text = json.dumps(row, ensure_ascii=False)
    return printable(f"{text[:LONGEST_ROW].rstrip()}...")


def _of_this_machine(kept: Kept) -> list[str]:
    """Return the fields of new rows that hold the whole path of a file or folder that is here."""
    return sorted(
        {
            name
            for row in kept.rows
            for name, value in row.items()
            if isinstance(value, str) and value.count(os.sep) > 1
            if os.path.isabs(value) and os.path.exists(value)
        }
    )


def say_stale(
    rows: Sequence[Json], replaced: Sequence[Json], names: Sequence[str], path: Path
) -> None:
    """Print on standard error that rows of earlier runs lack a field that another run has shown.

    ``replaced``: those of them in whose place the new rows are.
    """
    lacked = [name for name in names if any(name not in row for row in rows)]
    if replaced:
        sys.stderr.write(
            f"{counted(len(replaced), 'earlier row')} of the same runs got {', '.join(lacked)}\n"
        )
    if left := len(rows) - len(replaced):
        sys.stderr.write(
            f"{counted(left, 'earlier row')} in {shown(path)} without {', '.join(lacked)}: "
            "delete them: the new rows are of the same runs, with these fields\n"
        )


def say_open(fields: Sequence[str]) -> None:
    """Print on standard error what one run leaves open."""
    sys.stderr.write(
        "run it once more, with another task: what then differs is a field (now "
        f"{', '.join(fields)})\n"
    )
