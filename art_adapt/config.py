"""Reads ``[tool.art-adapt]`` of the nearest pyproject.toml, and how long the project's
lines may be.
"""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from art_adapt.decisions import Options, Origin
from art_adapt.errors import Refusal

KEYS: dict[str, type | tuple[type, ...]] = {
    "entry": str,
    "policy": list,
    "auxiliary": list,
    "reward": str,
    "ruler-weight": float,
    "trace": str,
    "isolate": str,
    "pipeline": bool,
    "scenarios": str,
    "backend": str,
    "base-model": str,
    "project": str,
    "run-name": str,
    "judge-model": str,
    "learning-rate": (float, int),
    "rollouts-per-group": int,
    "groups-per-step": int,
    "epochs": int,
    "line-length": int,
    "train-module": bool,
}


def with_config(options: Options, start: Path) -> Options:
    """``options`` with what the configuration says about those that no flag set.

    Raises:
        Refusal: the file is no TOML, or says something that art-adapt does not know.
    """
    pyproject = nearest_pyproject(start)
    if pyproject is None:
        return options
    try:
        content = tomllib.loads(pyproject.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Refusal(f"not readable as TOML: {error}", path=pyproject) from error
    tools = content.get("tool", {})
    table = tools.get("art-adapt", {})
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key == "check":  # the rules' own: check/settings.py
            continue
        _check(key, value, pyproject)
        name = key.replace("-", "_")
        if getattr(options, name) in (None, ()):
            values[name] = tuple(value) if isinstance(value, list) else value
    origins = {**options.origins, **dict.fromkeys(values, Origin.CONFIG)}
    if options.line_length is None and "line_length" not in values:
        values["line_length"] = _formatter_line_length(tools)
    return replace(options, **values, origins=origins)


def nearest_pyproject(start: Path) -> Path | None:
    folder = start.absolute() if start.is_dir() else start.absolute().parent
    return next(
        (
            f / "pyproject.toml"
            for f in (folder, *folder.parents)
            if (f / "pyproject.toml").is_file()
        ),
        None,
    )


def _check(key: str, value: Any, path: Path) -> None:
    if key not in KEYS:
        close = difflib.get_close_matches(key, KEYS, 1)
        hint = (
            f"did you mean {close[0]}?" if close else "known keys: " + ", ".join(KEYS)
        )
        raise Refusal(f"[tool.art-adapt] has no key {key!r}", next_step=hint, path=path)
    kind = KEYS[key]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        expected = kind.__name__ if isinstance(kind, type) else "number"
        raise Refusal(
            f"[tool.art-adapt] {key} = {value!r} is not a {expected}", path=path
        )


def _formatter_line_length(tools: dict[str, Any]) -> int | None:
    for table in (
        tools.get("ruff", {}).get("format", {}),
        tools.get("ruff", {}),
        tools.get("black", {}),
    ):
        length = table.get("line-length")
        if isinstance(length, int) and not isinstance(length, bool):
            return length
    return None
