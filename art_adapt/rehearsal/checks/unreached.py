"""Tell which functions of the agent asked for what a rehearsal does not have.

Their replies are not those of training, even if they look like any other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from art_adapt.rehearsal.seen import Finding, Seen, Witness
from art_adapt.rehearsal.unreached import (
    FILE,
    OPENED,
    PROGRAM,
    SERVICE,
    STARTED,
    Unreached,
)


def programs(seen: Seen) -> Iterator[Finding]:
    """Report programs that are not installed, each once.

    A function that then starts another program has no need of the first. What the model's own
    reply names is no program: the scripted model makes it up.
    """
    said = _said(seen)
    worked = {each.function for each in seen.unreached if each.what == STARTED}
    missing: dict[str, list[Unreached]] = {}
    for each in seen.unreached:
        if (
            each.what == PROGRAM
            and each.function not in worked
            and not any(each.name in reply for reply in said)
        ):
            missing.setdefault(each.name, []).append(each)
    for name, tries in missing.items():
        path, _, line = tries[0].at.rpartition(":")
        functions = list(dict.fromkeys(each.function for each in tries))
        others = f" and {len(functions) - 1} more" if len(functions) > 1 else ""
        yield Finding(
            "not installed",
            f"{functions[0]}{others} cannot start the program {name}, which is not installed here: the "
            "model would learn from what the agent says instead",
            f"install {name} here and where you train; or replace each function: in a rehearsal, with "
            f"--stub {functions[0]}",
            Path(path),
            int(line),
        )


def witnesses(seen: Seen) -> Iterator[Witness]:
    """Yield the functions that asked for what was not there, and went on."""
    yield from _files(seen)
    yield from _services(seen)


def _files(seen: Seen) -> Iterator[Witness]:
    """Yield where a file was to be opened that never was there.

    What the model's own reply names is no file: the scripted model makes it up. What an episode
    failed with is a finding.
    """
    opened = [each for each in seen.unreached if each.what == OPENED]
    there = {each.at for each in opened} | {each.name for each in opened}
    lacking: dict[str, Unreached] = {}
    for each in seen.unreached:
        if each.what == FILE and there.isdisjoint((each.at, each.name)):
            lacking.setdefault(each.at, each)
    if not lacking:
        return
    told = [*_said(seen), *seen.notes.exceptions]
    told += [each.failure for each in seen.episodes if each.failure is not None]
    for at, each in lacking.items():
        if not any(json.dumps(Path(each.name).name)[1:-1] in text for text in told):
            what = f"a file in {each.name}" if each.name.endswith("/") else each.name
            yield Witness(
                f"{each.function} ({at}) opened {what}",
                False,
                f"{each.function} ({at}) could not open {what}, which does not exist: the agent goes "
                "on without it here",
            )


def _services(seen: Seen) -> Iterator[Witness]:
    """Yield the functions that asked for a service, each once."""
    asked: dict[str, Unreached] = {}
    for each in seen.unreached:
        if each.what == SERVICE:
            asked.setdefault(each.function, each)
    for function, each in asked.items():
        which = each.name or "a service"
        yield Witness(
            f"{function} ({each.at}) reached {which}",
            False,
            f"{function} ({each.at}) asked for {which}, and a rehearsal lets nothing reach one: what "
            "it returns here is not what it returns in training",
        )


def _said(seen: Seen) -> list[str]:
    """Return the replies of all models."""
    return [json.dumps(each.response) for each in (*seen.log, *seen.repeats)]
