"""Read the settings of ``art-adapt check`` from ``[tool.art-adapt]``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from art_adapt.check.selection import Selection
from art_adapt.errors import Refusal
from art_adapt.pyproject import (
    nearest_pyproject,
    own_table,
    read_toml,
    refuse_unknown,
)
from art_adapt.rules.target import UNKNOWN, Target, installed_art


@dataclass(frozen=True)
class Settings:
    """The settings of ``[tool.art-adapt.check]``, and ``auxiliary`` of its parent.

    ``file_ignores``: for patterns of files, as seen from ``root``, rules to leave out there.
    """

    selection: Selection = field(default_factory=Selection)
    exclude: tuple[str, ...] = ()
    file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    root: Path = Path()
    target: Target = UNKNOWN

    def selection_for(self, path: Path) -> Selection:
        """Return which rules are reported in a file."""
        return self.selection.without(self.ignored_in(path))

    def ignored_in(self, path: Path) -> tuple[str, ...]:
        """Return the rules that ``per-file-ignores`` leaves out in a file.

        A pattern fits the file's name, its path, or the end of that.
        """
        if not self.file_ignores:
            return ()
        below = Path(os.path.relpath(path.absolute(), self.root)).as_posix()
        return tuple(
            rule
            for pattern, rules in self.file_ignores.items()
            if any(fnmatch(each, pattern) for each in (path.name, below))
            or fnmatch(f"/{below}", f"*/{pattern}")
            for rule in rules
        )


def settings_for(path: Path) -> Settings:
    """Read the settings of the nearest ``pyproject.toml``.

    Raises:
        Refusal: it is not TOML, or has a key or a value that art-adapt does not accept.
    """
    file = nearest_pyproject(path)
    if file is None:
        return Settings(target=Target(art=installed_art()))
    return _read(file)


def _read(file: Path) -> Settings:
    table = own_table(read_toml(file), file)
    refuse_unknown(table, file)
    own = table.get("check", {})
    if not isinstance(own, dict):
        raise Refusal(f"[tool.art-adapt] check = {own!r} is not a table", path=file)
    by_file = own.get("per-file-ignores", {})
    if not isinstance(by_file, dict):
        raise Refusal(
            f"[tool.art-adapt.check] per-file-ignores = {by_file!r} is not a table",
            next_step='write per-file-ignores = {"tests/*.py" = ["ART305"]}',
            path=file,
        )
    where = "tool.art-adapt.check"
    auxiliary = table.get("auxiliary", [])
    return Settings(
        selection=Selection(
            _names(own, "select", where, file),
            _names(own, "ignore", where, file),
            _names(own, "extend-select", where, file),
        ),
        exclude=_names(own, "exclude", where, file),
        file_ignores={
            pattern: _names(by_file, pattern, f"{where}.per-file-ignores", file)
            for pattern in by_file
        },
        root=file.parent,
        target=Target(
            frozenset(
                _names({"auxiliary": auxiliary}, "auxiliary", "tool.art-adapt", file)
            ),
            _art_version(own, file) or installed_art(),
        ),
    )


def _art_version(table: Mapping[str, Any], file: Path) -> str | None:
    given = table.get("art-version")
    if given is None:
        return None
    from packaging.version import InvalidVersion, Version

    try:
        return str(Version(given))
    except (InvalidVersion, TypeError) as error:
        raise Refusal(
            f"[tool.art-adapt.check] art-version = {given!r} is not a version",
            next_step='write art-version = "0.5.18", the ART that you train with',
            path=file,
        ) from error


def _names(
    table: Mapping[str, Any], key: str, shown: str, file: Path
) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise Refusal(
            f"[{shown}] {key} = {value!r} is not a list of strings", path=file
        )
    return tuple(value)
