"""Keeps what was decided in the train module, for the runs that come after.

A train module says below its first line with which options it was made, as flags:

    # Decided: --reward rewards:exact --isolate process

A later run reads them there, and only a flag of its own changes them.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from art_adapt.seal import has_seal
from art_adapt.settings import SETTINGS, Options, Origin, Setting

HEAD = "# Decided:"
WIDTH = 88
DECIDED = (Origin.FLAG, Origin.EARLIER)
NOT_KEPT = ("train_module",)  # says what a run writes, not how
FLAGS = {setting.flag: setting for setting in SETTINGS if setting.name not in NOT_KEPT}


@dataclass(frozen=True)
class Changed:
    """An option that a flag of this run has changed, as both runs said it."""

    now: str
    before: str


def decided_lines(options: Options, *, answers: bool) -> str:
    """Return the lines that keep what was decided; "" if nothing was.

    ``answers``: also what somebody was asked, which pyproject.toml does not keep.
    """
    origins = (*DECIDED, Origin.ANSWER) if answers else DECIDED
    said = [
        part
        for setting in FLAGS.values()
        if options.origin(setting.name) in origins
        for part in _flags(setting, getattr(options, setting.name))
    ]
    lines: list[str] = []
    for part in said:
        if lines and len(lines[-1]) + 1 + len(part) <= WIDTH:
            lines[-1] += f" {part}"
        else:
            lines.append(f"{HEAD} {part}")
    return "".join(f"{line}\n" for line in lines)


def _flags(setting: Setting, value: Any) -> Iterator[str]:
    if setting.kind is bool:
        if value is not setting.default:
            yield setting.flag
        return
    values = value if setting.kind is tuple else [value]
    for each in values:
        text = setting.option.absent if each is None else str(each)
        if text:
            # One line, whatever it holds: the line is read back as it is written.
            yield f"{setting.flag} {shlex.quote(text.encode('unicode_escape').decode())}"


def decided_in(train_module: bytes) -> dict[str, Any]:
    """Return the options that a train module was made with, by their names.

    What is no option of this version is left out.
    """
    if not has_seal(train_module):
        return {}
    said: list[str] = []
    for line in train_module.decode(errors="replace").splitlines()[1:]:
        if not line.startswith(HEAD):
            break
        try:
            said += shlex.split(line.removeprefix(HEAD))
        except ValueError:  # somebody has edited it
            return {}
    found: dict[str, Any] = {}
    words = iter(said)
    for word in words:
        setting = FLAGS.get(word)
        if setting is None:
            continue
        if setting.kind is bool:
            found[setting.name] = not setting.default
            continue
        try:
            text = next(words, "").encode().decode("unicode_escape")
            value = setting.meant(text)
            if setting.kind is tuple:
                found[setting.name] = (*found.get(setting.name, ()), text)
            else:
                found[setting.name] = None if value is None else setting.kind(value)
        except ValueError:
            continue
    return found


def standing(agents: Iterable[Path]) -> dict[str, Any]:
    """Return what was decided in the first train module that stands beside an agent."""
    for agent in agents:
        if (module := standing_module(agent)) is not None:
            return decided_in(module)
    return {}


def standing_module(agent: Path) -> bytes | None:
    """Return the train module beside an agent; None without one of art-adapt's."""
    module = agent.with_name(f"{agent.stem}_train.py")
    data = module.read_bytes() if module.is_file() else b""
    return data if has_seal(data) else None


def with_earlier(options: Options, earlier: Mapping[str, Any]) -> Options:
    """Fill in what was decided earlier, but for what a flag or an answer of now says."""
    kept = {
        name: value
        for name, value in earlier.items()
        if options.origin(name) not in (Origin.FLAG, Origin.ANSWER)
    }
    origins = {**options.origins, **dict.fromkeys(kept, Origin.EARLIER)}
    return replace(options, **kept, origins=origins)


def changes(options: Options, earlier: Mapping[str, Any]) -> Sequence[Changed]:
    """Return what flags have changed of what was decided earlier."""
    return [
        Changed(_said(setting, now), _said(setting, earlier[setting.name]))
        for setting in FLAGS.values()
        if setting.name in earlier
        and options.origin(setting.name) in (Origin.FLAG, Origin.ANSWER)
        and (now := getattr(options, setting.name)) != earlier[setting.name]
    ]


def _said(setting: Setting, value: Any) -> str:
    return " ".join(_flags(setting, value)) or f"no {setting.flag}"
