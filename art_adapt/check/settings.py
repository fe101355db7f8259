"""What ``[tool.art-adapt]`` says about checking."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from art_adapt.errors import Refusal

KEYS = ("select", "ignore", "exclude")


@dataclass(frozen=True)
class Settings:
    """Of ``[tool.art-adapt.check]``, and which functions' calls are not trained.
    ``root``: where the cache is kept.
    """

    root: Path
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    auxiliary: frozenset[str] = frozenset()


def settings_for(path: Path) -> Settings:
    """The nearest ``pyproject.toml``'s.

    Raises:
        Refusal: it is no TOML, or says something that art-adapt does not know.
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
            raise Refusal(f"{name} is no table", path=file)
    own = table.get("check", {})
    if not isinstance(own, dict):
        raise Refusal("[tool.art-adapt] check is no table", path=file)
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
                f"[tool.art-adapt] {key} = {value!r} is no list of strings",
                path=file,
            )
    values = {key: tuple(value) for key, value in own.items()}
    return Settings(file.parent, **values, auxiliary=frozenset(auxiliary))
