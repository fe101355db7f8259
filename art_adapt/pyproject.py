"""Read ``[tool.art-adapt]`` and the formatter's line length from the nearest pyproject.toml."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from art_adapt.errors import Refusal
from art_adapt.settings import SETTINGS, Options, Origin, Setting

EXPECTED = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    tuple: "a list of strings",
}
RULES_TABLE = "check"  # read by check/settings.py
CHECK_KEYS = (
    *("select", "extend-select", "ignore", "exclude", "per-file-ignores"),
    "art-version",
)
AGENTS_TABLE = "agents"  # of agents that share the file


def with_configuration(options: Options, start: Path) -> Options:
    """Fill in what the nearest pyproject.toml says about options that no flag has set.

    Raises:
        Refusal: the file is not readable, not TOML, or says something that art-adapt does not know.
    """
    pyproject = nearest_pyproject(start)
    if pyproject is None:
        return options
    content = read_toml(pyproject)
    settings = {setting.key: setting for setting in SETTINGS}
    values: dict[str, Any] = {}
    table = own_table(content, pyproject)
    refuse_unknown(table, pyproject)
    for key, value in {**table, **_of_agent(table, start, pyproject)}.items():
        if key in (RULES_TABLE, AGENTS_TABLE):
            continue
        setting = settings[key]
        values[setting.name] = setting.meant(_typed(setting, value, pyproject))
    said = {name: v for name, v in values.items() if name not in options.origins}
    origins = {**options.origins, **dict.fromkeys(said, Origin.CONFIG)}
    if "line_length" not in origins and (length := _formatter_line_length(content)):
        said["line_length"] = length
    return replace(options, **said, origins=origins)


def agent_key(agent: Path, pyproject: Path) -> str:
    """Return what an agent's own table is called: its path from the configuration file."""
    return Path(os.path.relpath(agent.absolute(), pyproject.parent)).as_posix()


def _of_agent(table: dict[str, Any], agent: Path, pyproject: Path) -> dict[str, Any]:
    """Return what is configured for one agent only: ``[tool.art-adapt.agents."FILE"]``."""
    agents = table.get(AGENTS_TABLE, {})
    own = agents.get(agent_key(agent, pyproject), {}) if isinstance(agents, dict) else 0
    if not isinstance(own, dict):
        raise Refusal(
            f"[tool.art-adapt.{AGENTS_TABLE}] must hold only tables",
            next_step=f'write options below a line [tool.art-adapt.{AGENTS_TABLE}."agent.py"]',
            path=pyproject,
        )
    return own


def nearest_pyproject(start: Path) -> Path | None:
    """Return the pyproject.toml beside ``start`` or in the closest folder above it."""
    here = start.absolute()
    folders = (here, *here.parents) if here.is_dir() else here.parents
    files = (folder / "pyproject.toml" for folder in folders)
    return next((file for file in files if file.is_file()), None)


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file.

    Raises:
        Refusal: it cannot be read, or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Refusal(f"cannot read this file: {error.strerror}", path=path) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Refusal(f"not valid TOML: {error}", path=path) from error
    except RecursionError as error:
        raise Refusal("not valid TOML: nested too deeply", path=path) from error


def own_table(content: dict[str, Any], path: Path) -> dict[str, Any]:
    """``[tool.art-adapt]``, empty where there is none.

    Raises:
        Refusal: it is not a table.
    """
    table = content
    for name, shown in (("tool", "tool"), ("art-adapt", "tool.art-adapt")):
        table = table.get(name, {})
        if not isinstance(table, dict):
            raise Refusal(
                f"{shown} = {table!r} is not a table",
                next_step="write the options below a line [tool.art-adapt]",
                path=path,
            )
    return table


def refuse_unknown(table: Mapping[str, Any], path: Path) -> None:
    """Refuse a key of ``[tool.art-adapt]``, or of its tables, that art-adapt does not know.

    Raises:
        Refusal: there is one; the nearest known key is named.
    """
    known = [*(setting.key for setting in SETTINGS), RULES_TABLE, AGENTS_TABLE]
    agents = table.get(AGENTS_TABLE, {})
    tables = {"tool.art-adapt": (table, known)}
    for name, own in agents.items() if isinstance(agents, dict) else ():
        _refuse_misspelled(str(name), path)
        if isinstance(own, dict):
            tables[f'tool.art-adapt.{AGENTS_TABLE}."{name}"'] = own, known[:-2]
    rules = table.get(RULES_TABLE, {})
    if isinstance(rules, dict):
        tables[f"tool.art-adapt.{RULES_TABLE}"] = rules, list(CHECK_KEYS)
    for shown, (own, keys) in tables.items():
        for key in own:
            if key not in keys:
                close = difflib.get_close_matches(key, keys, 1)
                near = f"did you mean {close[0]}?" if close else ""
                raise Refusal(
                    f"unknown key {key!r} in [{shown}]",
                    next_step=near or f"known keys: {', '.join(keys)}",
                    path=path,
                )


def _refuse_misspelled(agent: str, pyproject: Path) -> None:
    """Refuse a table of an agent that is not there, if another file is nearly called so.

    Raises:
        Refusal: there is such a file.
    """
    file = pyproject.parent / agent
    if file.exists() or not file.parent.is_dir():
        return
    names = [each.name for each in file.parent.glob("*.py")]
    if close := difflib.get_close_matches(file.name, names, 1, 0.8):
        raise Refusal(
            f'[tool.art-adapt.{AGENTS_TABLE}."{agent}"] names a file that does not exist',
            next_step=f"did you mean {file.with_name(close[0]).relative_to(pyproject.parent)}?",
            path=pyproject,
        )


def _typed(setting: Setting, value: Any, path: Path) -> Any:
    """``value`` as the option's type.

    Raises:
        Refusal: it is of another type.
    """
    if setting.kind is tuple and isinstance(value, list):
        if all(isinstance(each, str) for each in value):
            return tuple(value)
    elif type(value) is setting.kind or (setting.kind is float and type(value) is int):
        return value
    said = setting.said(value, Origin.CONFIG)
    raise Refusal(f"{said} is not {EXPECTED[setting.kind]}", path=path)


def _formatter_line_length(content: Mapping[str, Any]) -> int | None:
    """Return the line length of ruff or black, which report what is wrong in their tables."""
    for names in (("ruff", "format"), ("ruff",), ("black",)):
        table: Any = content.get("tool", {})
        for name in names:
            table = table.get(name) if isinstance(table, dict) else None
        length = table.get("line-length") if isinstance(table, dict) else None
        if type(length) is int:
            return length
    return None
