"""Cache what is found in a file, by the content of the file."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import zlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from art_adapt import __version__
from art_adapt.check.own_rules import OWN
from art_adapt.rules.rule import Fix, Found, Rule, Severity, TextEdit

FOLDER = ".art-adapt-cache"
MOST = 5_000  # entries; above that, those that this run did not use are dropped
Entry = list[Any]


class Cache:
    """A cache in the project's folder, or without a folder one that keeps nothing."""

    def __init__(self, root: Path | None, settings: str = "") -> None:
        """Make the cache for these settings: whatever else the results depend on."""
        self._file = None if root is None else root / FOLDER / "check.json"
        # The version takes a hundred stats, which only pay off if results are kept.
        self._key = "" if root is None else f"{_version()} {settings}"
        self._entries: dict[str, Entry] = {}
        self._used: set[str] = set()
        self._new = False

    def __enter__(self) -> Cache:
        if self._file is not None:
            try:
                content = json.loads(self._file.read_bytes())
                if content["key"] == self._key and isinstance(content["entries"], dict):
                    self._entries = content["entries"]
            except (OSError, ValueError, KeyError, TypeError):
                pass  # missing or broken: it is written again
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is None or not self._new:
            return
        if len(self._entries) > MOST:
            self._entries = {name: self._entries[name] for name in self._used}
        content = json.dumps({"key": self._key, "entries": self._entries})
        temporary = self._file.with_suffix(f".{os.getpid()}")
        try:
            self._file.parent.mkdir(exist_ok=True)
            (self._file.parent / ".gitignore").write_text("*\n")
            temporary.write_text(content)
            temporary.replace(self._file)
        except OSError:
            pass  # check also works in a folder that cannot be written

    def known(self, data: bytes) -> list[tuple[Rule, Found]] | None:
        """Return what was found in this content, None if it is not in the cache."""
        name = _hash(data) if self._file is not None else ""
        entry = self._entries.get(name)
        if entry is None:
            return None
        self._used.add(name)
        try:
            return [(_rule(rule), _found(found)) for rule, found in entry]
        except (TypeError, ValueError, KeyError, LookupError):
            return None  # the file was edited

    def learn(self, data: bytes, found: Sequence[tuple[Rule, Found]]) -> None:
        """Keep what was found in this content."""
        if self._file is not None:
            name = _hash(data)
            self._new = True
            self._used.add(name)
            self._entries[name] = [
                [list(asdict(rule).values()), asdict(each)] for rule, each in found
            ]


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _version() -> str:
    """Return a version that changes with every edit of the rules."""
    package = Path(__file__).parents[1]
    state = [
        (entry.name, entry.stat().st_mtime_ns, entry.stat().st_size)
        for folder in ("rules", "rules/code", "check", "survey")
        for entry in os.scandir(package / folder)
        if entry.name.endswith(".py")
    ]
    python = ".".join(map(str, sys.version_info[:2]))
    return f"{__version__} {python} {zlib.crc32(repr(sorted(state)).encode()):08x}"


def _rule(values: list[Any]) -> Rule:
    code, name, severity = values
    own = next((rule for rule in OWN if rule.code == code), None)
    return own or Rule(code, name, Severity(severity))


def _found(values: dict[str, Any]) -> Found:
    fix = values["fix"]
    if fix is not None:
        edits = tuple(
            TextEdit(tuple(e["start"]), tuple(e["end"]), e["text"])
            for e in fix["edits"]
        )
        fix = Fix(fix["title"], edits)
    statement = tuple(values["statement"])
    return Found(**{**values, "fix": fix, "statement": statement})
