"""Read the settings of ``art-adapt check`` from ``[tool.art-adapt]``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from art_adapt.errors import Refusal

KEYS = ("select", "ignore", "exclude")


@dataclass(frozen=True)
class Settings:
    """The settings of ``[tool.art-adapt.check]``, and ``auxiliary`` of its parent."""

    root: Path  # the folder that the cache is kept in
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    auxiliary: frozenset[str] = frozenset()  # functions whose calls are not trained


def settings_for(path: Path) -> Settings:
    """Read the settings of the nearest ``pyproject.toml``.

    Raises:
        Refusal: it is not TOML, or has a key or a value that art-adapt does not accept.
    """
    start = path.absolute()
    folders = (start, *start.parents) if start.is_dir() else tuple(start.parents)
    for folder in folders:
        file = folder / "pyproject.toml"
        if file.is_file():
            return _read(file)
    return Settings(Path.cwd())


def _read(file: Path) -> Settings:
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Refusal(f"not readable as TOML: {error}", path=file) from error
    table: Any = content
    for name in ("tool", "art-adapt"):
        table = table.get(name, {})
        if not isinstance(table, dict):
            raise Refusal(f"{name} is not a table", path=file)
    own = table.get("check", {})
    if not isinstance(own, dict):
        raise Refusal("[tool.art-adapt] check is not a table", path=file)
    auxiliary = table.get("auxiliary", [])
    for key, value in (*own.items(), ("auxiliary", auxiliary)):
        if key not in (*KEYS, "auxiliary"):
            raise Refusal(
                f"[tool.art-adapt.check] has no key {key!r}",
                next_step=f"known keys: {', '.join(KEYS)}",
                path=file,
            )
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise Refusal(
                f"[tool.art-adapt] {key} = {value!r} is not a list of strings",
                path=file,
            )
    values = {key: tuple(value) for key, value in own.items()}
    return Settings(file.parent, **values, auxiliary=frozenset(auxiliary))
