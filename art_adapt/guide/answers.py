"""Keeps answers in ``[tool.art-adapt]``, so that the next run asks nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from art_adapt.errors import Refusal
from art_adapt.file_edit import FileEdit
from art_adapt.pyproject import nearest_pyproject, own_table, read_toml
from art_adapt.settings import SETTINGS, Options, Origin, Setting


def kept_answers(options: Options, agent: Path) -> FileEdit | None:
    """Return the edit of the nearest pyproject.toml, or of a new one beside the agent.

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
    path = nearest_pyproject(agent)
    before = None if path is None else path.read_bytes()
    path = path or agent.absolute().with_name("pyproject.toml")
    return FileEdit(path, before, _with(before, values, path))


def _as_toml(setting: Setting, value: Any) -> Any:
    if value is None:
        return setting.option.absent or None
    return list(value) if isinstance(value, tuple) else value


def _with(before: bytes | None, values: dict[str, Any], path: Path) -> bytes:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    if before is not None:
        own_table(read_toml(path), path)  # refuses what is no table
    try:
        document = tomlkit.parse(before or b"")
        tool = document.setdefault("tool", tomlkit.table(is_super_table=True))
        table = tool.setdefault("art-adapt", tomlkit.table())
        for key, value in values.items():
            table[key] = value
        return tomlkit.dumps(document).encode()
    except TOMLKitError as error:
        raise Refusal(f"not readable as TOML: {error}", path=path) from error
