"""Keeps what was decided in the train module, for the runs that come after.

A train module says below its first line how it was made, as a command line would:

    # Decided: --reward rewards:exact --isolate process
    # Decided: --entry loop:run llm.py

A later run that would write the same module reads it there, and only a flag of its own
changes it. Files stand behind the flags where the run was given others than the agent that
the module trains.
"""

from __future__ import annotations

import itertools
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from art_adapt.settings import SETTINGS, Options, Origin, Setting
from art_adapt.train_file import standing_module

HEAD = "# Decided:"
# Below these lines, where a run has shown how the agent is made: who has no notes of it, as a
# colleague or a CI, cannot write the module anew, and leaves it as it is.
SHOWN = "# Made as a run of the agent showed it (art-adapt capture)."
WIDTH = 88
DECIDED = (Origin.FLAG, Origin.EARLIER, Origin.SEEN)
NOW = (Origin.FLAG, Origin.ANSWER)  # what the run itself was told
NOT_KEPT = ("train_module",)  # says what a run writes, not how
FLAGS = {setting.flag: setting for setting in SETTINGS if setting.name not in NOT_KEPT}


@dataclass(frozen=True)
class Decided:
    """The options that a train module was made with, and the files if it names them."""

    options: Mapping[str, Any] = field(default_factory=dict)
    named: tuple[str, ...] = ()  # from the module's folder


@dataclass(frozen=True)
class Changed:
    """An option that a flag of this run has changed, as both runs said it."""

    now: str
    before: str


def decided_lines(options: Options, named: Iterable[str], *, answers: bool) -> str:
    """Return the lines that keep what was decided; "" if nothing was.

    ``named``: the files of ``Decided``. ``answers``: also what somebody was asked, which
    pyproject.toml does not keep.
    """
    origins = (*DECIDED, Origin.ANSWER) if answers else DECIDED
    said = flags_of(options, origins)
    lines: list[str] = []
    for part in (*said, *map(_word, named)):
        if lines and len(lines[-1]) + 1 + len(part) <= WIDTH:
            lines[-1] += f" {part}"
        else:
            lines.append(f"{HEAD} {part}")
    return "".join(f"{line}\n" for line in lines)


def flags_of(options: Options, origins: Iterable[Origin]) -> list[str]:
    """Return the flags that would decide what was decided in one of these ways."""
    wanted = frozenset(origins)
    return [
        part
        for setting in FLAGS.values()
        if options.origin(setting.name) in wanted
        for part in _flags(setting, getattr(options, setting.name))
    ]


def _flags(setting: Setting, value: Any) -> Iterator[str]:
    if setting.kind is bool:
        if value is not setting.default:
            yield setting.flag
        return
    values = value if setting.kind is tuple else [value]
    for each in values:
        text = setting.option.absent if each is None else str(each)
        if text:
            yield f"{setting.flag} {_word(text)}"


def _word(text: str) -> str:
    """Spell a value in one line, whatever it holds."""
    return shlex.quote(text.encode("unicode_escape").decode())


def decided_in(train_module: bytes) -> Decided:
    """Return how a train module was made.

    What is no option of this version is left out.
    """
    lines = train_module.decode(errors="replace").splitlines()[1:]
    said = itertools.takewhile(lambda line: line.startswith(HEAD), lines)
    options: dict[str, Any] = {}
    named: list[str] = []
    try:
        words = iter(shlex.split(" ".join(line.removeprefix(HEAD) for line in said)))
        for word in words:
            setting = FLAGS.get(word)
            if setting is not None:
                options |= _option(setting, words, options)
            elif not word.startswith("--"):
                named.append(_read(word))
    except ValueError:  # somebody has edited it
        return Decided()
    return Decided(options, tuple(named))


def _option(
    setting: Setting, words: Iterator[str], known: Mapping[str, Any]
) -> dict[str, Any]:
    if setting.kind is bool:
        return {setting.name: not setting.default}
    text = _read(next(words, ""))
    if setting.kind is tuple:
        return {setting.name: (*known.get(setting.name, ()), text)}
    value = setting.meant(text)
    return {setting.name: None if value is None else setting.kind(value)}


def _read(word: str) -> str:
    return word.encode().decode("unicode_escape")


def earlier(
    given: Sequence[Path], homes: Sequence[Path], others: Sequence[Path] = ()
) -> Mapping[str, Any]:
    """Return what was decided in the train module that a run would write anew.

    ``given``: the files that it was given; ``homes``: those of its candidates for the
    entry point, the likeliest first. A decision on the entry point comes before what is
    likeliest now. The module of an agent that the given ones only use says nothing.
    ``others``: further agents with a train module, which counts if it names a given file.
    """
    likeliest: Mapping[str, Any] = {}
    for home in dict.fromkeys((*given, *homes, *others)):
        if (module := standing_module(home)) is None:
            continue
        decided = decided_in(module)
        named = {Path(os.path.normpath(home.parent / name)) for name in decided.named}
        meant = home in given or not named.isdisjoint(given)
        if meant and "entry" in decided.options:
            return decided.options
        if home in homes[:1] or (meant and named):
            likeliest = likeliest or decided.options
    return likeliest


def with_earlier(options: Options, earlier: Mapping[str, Any]) -> Options:
    """Fill in what was decided earlier, but for what a flag or an answer of now says."""
    kept = {
        name: value
        for name, value in earlier.items()
        if options.origin(name) not in NOW
    }
    origins = {**options.origins, **dict.fromkeys(kept, Origin.EARLIER)}
    return replace(options, **kept, origins=origins)


def changes(options: Options, earlier: Mapping[str, Any]) -> Sequence[Changed]:
    """Return what flags have changed of what was decided earlier."""
    return [
        Changed(_said(setting, now), _said(setting, earlier[setting.name]))
        for setting in FLAGS.values()
        if setting.name in earlier
        and options.origin(setting.name) in NOW
        and (now := getattr(options, setting.name)) != earlier[setting.name]
    ]


def _said(setting: Setting, value: Any) -> str:
    return " ".join(_flags(setting, value)) or f"no {setting.flag}"
