"""Keeps answers in ``[tool.art-adapt.agents."FILE"]``, so that the next run asks nothing."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from art_adapt.errors import Refusal
from art_adapt.file_edit import FileEdit
from art_adapt.pyproject import (
    AGENTS_TABLE,
    agent_key,
    nearest_pyproject,
    own_table,
    read_toml,
)
from art_adapt.settings import SETTINGS, Options, Origin, Setting
from art_adapt.survey.reading.packages import import_name

ROOTS = (".git", "setup.py", "setup.cfg")
CRLF = b"\r\n"


def kept_answers(options: Options, agent: Path) -> FileEdit | None:
    """Return the edit that keeps answers in the agent's own table of a pyproject.toml.

    Comments, order and whatever else the file holds stay. None: nothing was answered.

    Raises:
        Refusal: the file cannot be read, or is not TOML.
    """
    answered = [
        setting for setting in SETTINGS if options.origin(setting.name) is Origin.ANSWER
    ]
    values = {s.key: _as_toml(s, getattr(options, s.name)) for s in answered}
    values = {key: value for key, value in values.items() if value is not None}
    if not values:
        return None
    path = _configuration(agent)
    before = path.read_bytes() if path.exists() else None
    return FileEdit(path, before, _with(before, values, path, agent_key(agent, path)))


def _configuration(agent: Path) -> Path:
    """Return the pyproject.toml that an agent's answers belong to, which may be a new one.

    That is the nearest one of its repository. A new one is at the top of that: in a
    package it would stand between the package and those who import it.
    """
    found = nearest_pyproject(agent)
    above = agent.absolute().parents
    root = next((f for f in above if any((f / m).exists() for m in ROOTS)), None)
    if found is not None and (root is None or found.parent.is_relative_to(root)):
        return found
    return (root or import_name(agent.absolute())[0]) / "pyproject.toml"


def _as_toml(setting: Setting, value: Any) -> Any:
    if value is None:
        return setting.option.absent or None
    return list(value) if isinstance(value, tuple) else value


def _with(before: bytes | None, values: dict[str, Any], path: Path, key: str) -> bytes:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    if before is not None:
        own_table(read_toml(path), path)  # refuses what is no table
    try:
        document = tomlkit.parse(before or b"")
        table = document
        for name in ("tool", "art-adapt", AGENTS_TABLE):
            table = table.setdefault(name, tomlkit.table(is_super_table=True))
        is_new = key not in table
        own = table.setdefault(key, tomlkit.table())
        for name, value in values.items():
            own[name] = value
        if is_new:  # apart from what follows, if anything does
            own.add(tomlkit.nl())
        text = tomlkit.dumps(document)
        after = (f"{text.rstrip()}\n" if is_new else text).encode()
        read = tomllib.loads(text)["tool"].get("art-adapt", {}).get(AGENTS_TABLE, {})
        if values.keys() - read.get(key, {}).keys():
            raise ValueError("make it a table of its own first")
    except (TOMLKitError, ValueError, TypeError, AttributeError) as error:
        raise Refusal(
            f"[tool.art-adapt] cannot be written there: {error}", path=path
        ) from error
    if (
        before is not None
        and b"\n" in before
        and before.count(b"\n") == before.count(CRLF)
    ):
        after = after.replace(CRLF, b"\n").replace(b"\n", CRLF)
    return after
