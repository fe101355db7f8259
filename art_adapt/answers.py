"""Keeps answers in ``[tool.art-adapt.agents."FILE"]``, so that the next run asks nothing."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from art_adapt.decided import decided_in, with_earlier
from art_adapt.errors import Refusal
from art_adapt.file_edit import FileEdit
from art_adapt.pyproject import (
    AGENTS_TABLE,
    agent_key,
    nearest_pyproject,
    own_table,
    read_toml,
    with_configuration,
)
from art_adapt.settings import SETTINGS, Options, Origin, Setting
from art_adapt.train_file import import_name, standing_module

ROOTS = (".git", "setup.py", "setup.cfg")
# Behind the head of a table that art-adapt has made, which it may take back.
MADE = "answers to art-adapt"


def kept_answers(options: Options, agent: Path) -> FileEdit | None:
    """Return the edit that keeps answers in the agent's own table of a pyproject.toml.

    Comments, order and whatever else the file holds stay. A flag that overrules an earlier answer
    takes its place. None: nothing was answered.

    Raises:
        Refusal: the file cannot be read, or is not TOML.
    """
    path, before, earlier = _kept(agent)
    values = {
        setting.key: value
        for setting in SETTINGS
        if (origin := options.origin(setting.name)) in (Origin.ANSWER, Origin.FLAG)
        and (value := _as_toml(setting, getattr(options, setting.name))) is not None
        and (origin is Origin.ANSWER or earlier.get(setting.key, value) != value)
    }
    if not values:
        return None
    return FileEdit(path, before, _with(before, values, path, agent_key(agent, path)))


def earlier_answers(agent: Path) -> dict[str, Any]:
    """Return what was answered for an agent before, by the names of the options."""
    _, _, kept = _kept(agent)
    return {
        setting.name: tuple(value) if isinstance(value, list) else value
        for setting in SETTINGS
        if (value := kept.get(setting.key)) is not None
    }


def _kept(agent: Path) -> tuple[Path, bytes | None, dict[str, Any]]:
    """Return an agent's pyproject.toml, its bytes if there is one, and the answers in it."""
    path = _configuration(agent)
    before = path.read_bytes() if path.exists() else None
    return path, before, _earlier(before, agent_key(agent, path))


def _earlier(data: bytes | None, key: str) -> dict[str, Any]:
    """Return the answers that art-adapt has kept for an agent; none of somebody's own table."""
    text = "" if data is None else data.decode(errors="replace")
    if MADE not in text:
        return {}
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        table = _agents(tomlkit.parse(text))[key]
        return dict(table.unwrap()) if MADE in table.trivia.comment else {}
    except (TOMLKitError, LookupError, TypeError, ValueError, AttributeError):
        return {}


def _agents(document: Any) -> Any:
    return document["tool"]["art-adapt"][AGENTS_TABLE]


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


def answered_agents(agents: Iterable[Path]) -> Iterator[Path]:
    """Yield the files that answers are kept for beside those of some agents."""
    for path in dict.fromkeys(filter(None, map(nearest_pyproject, agents))):
        with suppress(Refusal):
            tables = own_table(read_toml(path), path).get(AGENTS_TABLE, {})
            for key in tables if isinstance(tables, dict) else ():
                if (agent := path.parent / key).is_file():
                    yield agent


def configured(options: Options, agent: Path) -> Options:
    """Fill in what pyproject.toml says of an agent about options that no flag has set.

    Who named another of its files, or a folder, has answered for that; the train module says
    which.

    Raises:
        Refusal: a configuration file cannot be read.
    """
    kept = {each.absolute() for each in answered_agents([agent])}
    module = standing_module(agent)
    named = () if module is None else decided_in(module).named
    led = [Path(os.path.normpath(agent.absolute().parent / name)) for name in named]
    holder = next((e for e in (agent.absolute(), *led) if e in kept), agent)
    return with_configuration(options, holder)


def decided_before(agent: Path) -> Options:
    """Return what pyproject.toml says of an agent, and what its train module was written with.

    Raises:
        Refusal: a configuration file cannot be read.
    """
    options, module = configured(Options(), agent), standing_module(agent)
    if module is None:
        return options
    return with_earlier(options, decided_in(module).options)


def without_answers(agents: Iterable[Path]) -> Iterator[FileEdit | tuple[Path, str]]:
    """Yield the edits that take the answers kept for agents back, or why they stay.

    A table that somebody has written is not ours to take.
    """
    keys: dict[Path, list[str]] = {}
    for agent in agents:
        if (path := nearest_pyproject(agent)) is not None:
            keys.setdefault(path, []).append(agent_key(agent, path))
    for path, wanted in keys.items():
        data = before = path.read_bytes()
        for key in wanted:
            data = _without(data, key)
        if data != before:
            yield FileEdit(path, before, data if data.strip() else None)
        with suppress(Refusal):  # a file that is not TOML has no table of ours
            tables = own_table(read_toml(path), path).get(AGENTS_TABLE, {})
            for key in wanted:
                if key in tables and data == before:
                    yield path, f"its table for {key} holds options of yours"


def _without(data: bytes, key: str) -> bytes:
    """Return a configuration file without an agent's table, if art-adapt has made it."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    text, newline = _normal(data)
    if MADE not in text:
        return data
    try:
        values = _agents(tomllib.loads(text))[key]
        before = _before_appended(text, values, key)
        if before is None:  # somebody has edited it since
            document: Any = tomlkit.parse(text)
            agents = _agents(document)
            if MADE not in agents[key].trivia.comment:
                return data
            agents.remove(key)
            before = tomlkit.dumps(document)
    except (tomllib.TOMLDecodeError, TOMLKitError, KeyError, TypeError, AttributeError):
        return data
    return before.replace("\n", newline).encode()


def _before_appended(text: str, values: dict[str, Any], key: str) -> str | None:
    """Return the text that a table was appended to; None if it stands elsewhere by now."""
    start = text.find(_appended("", values, key).partition("\n")[0])
    if start < 0:
        return None
    before = text[:start]
    after = text[start:].partition("\n[")  # a table that somebody has added below
    rest = "".join(after[1:]).removeprefix("\n")
    alone = text.removesuffix(rest)
    shorter = (before.removesuffix("\n"), before.removesuffix("\n\n"), "")
    return next(
        (f"{each}{rest}" for each in shorter if _appended(each, values, key) == alone),
        None,
    )


def _appended(text: str, values: dict[str, Any], key: str) -> str:
    """Return a configuration with a table below it, which ends as the text has ended."""
    import tomlkit

    own = tomlkit.table()
    own.comment(MADE)
    for name, value in values.items():
        own[name] = value
    document: Any = tomlkit.document()
    table = document
    for name in ("tool", "art-adapt", AGENTS_TABLE):
        table = table.setdefault(name, tomlkit.table(is_super_table=True))
    table[key] = own
    block = tomlkit.dumps(document).strip("\n")
    if not text or text.endswith("\n"):
        return f"{text}{chr(10) if text else ''}{block}\n"
    return f"{text}\n\n{block}"


def _normal(data: bytes) -> tuple[str, str]:
    """Return a file's text with plain line ends, and the line end that it has."""
    is_crlf = b"\n" in data and data.count(b"\n") == data.count(b"\r\n")
    text = data.decode()
    return (text.replace("\r\n", "\n"), "\r\n") if is_crlf else (text, "\n")


def _with(before: bytes | None, values: dict[str, Any], path: Path, key: str) -> bytes:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    if before is not None:
        own_table(read_toml(path), path)  # refuses what is no table
    text, newline = _normal(before or b"")
    try:
        document: Any = tomlkit.parse(text)
        agents = document.get("tool", {}).get("art-adapt", {}).get(AGENTS_TABLE, {})
        if key in agents:
            for name, value in values.items():
                agents[key][name] = value
            text = tomlkit.dumps(document)
        else:
            text = _appended(text, values, key)
        read = tomllib.loads(text)["tool"].get("art-adapt", {}).get(AGENTS_TABLE, {})
        if values.keys() - read.get(key, {}).keys():
            raise ValueError("write it as a table of its own first")
    except (TOMLKitError, ValueError, TypeError, AttributeError) as error:
        raise Refusal(
            f"cannot write [tool.art-adapt] to this file: {error}", path=path
        ) from error
    return text.replace("\n", newline).encode()
