"""Find the files that an adaptation starts from, and read each of them once."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from shlex import quote

from art_adapt import hooks_file
from art_adapt.code.packages import import_roots, module_file, module_roots
from art_adapt.code.syntax import Syntax
from art_adapt.errors import Refusal
from art_adapt.folders import files_in
from art_adapt.paths import at, shown
from art_adapt.printable import printable, quoted
from art_adapt.source import Source, read_source
from art_adapt.survey.calls.completion_calls import FoundCall, find_completion_calls
from art_adapt.survey.calls.obstacles import art_use, find_obstacles
from art_adapt.survey.side_effects.harm import Obstacle
from art_adapt.terminal import shown_progress
from art_adapt.train_file import standing_module

# What people name by mistake in place of an agent.
OTHERS = frozenset(
    {".js", ".ts", ".jsx", ".tsx", ".mjs", ".json", ".jsonl", ".yaml", ".yml", ".toml"}
    | {".md", ".txt", ".go", ".rs", ".java", ".sh", ".html", ".csv"}
)


def standard_input(name: str) -> Source:
    """Return the file on standard input, which ``name`` gives a place."""
    return Source(Path(os.path.abspath(name)), sys.stdin.buffer.read())


def named_sources(paths: Sequence[str], exclude: Sequence[str] = ()) -> list[Source]:
    """Return the files at ``paths``; a folder stands for the agents below it.

    ``exclude``: patterns of files and folders that it does not stand for.

    Raises:
        Refusal: a path cannot be read, or there is no agent in a folder.
    """
    found: dict[Path, Source] = {}
    for name in paths:
        path = Path(name)
        agents = (
            _agents_below(path, found, exclude)
            if path.is_dir()
            else [_read(path, found)]
        )
        found |= {source.path: source for source in agents}
    return list(found.values())


def adapted_sources(paths: Sequence[str], exclude: Sequence[str] = ()) -> list[Source]:
    """Return the files at ``paths``; a folder stands for what was adapted below it.

    Raises:
        Refusal: a path cannot be read.
    """
    found: dict[Path, Source] = {}
    for name in paths:
        path = Path(name)
        if not path.is_dir():
            found |= {source.path: source for source in [_read(path, found)]}
            continue
        for file in files_in([path], lambda name: name.endswith(".py"), exclude):
            if _is_adapted(file):
                with suppress(Refusal):
                    source = _read(file, found)
                    found[source.path] = source
    return list(found.values())


def _is_adapted(file: Path) -> bool:
    """True if a file has hooks, or belongs to a train module, as far as a look tells."""
    try:
        mentions = hooks_file.MODULE.encode() in file.read_bytes()
        return mentions or standing_module(file) is not None
    except OSError:
        return False


def is_agent(source: Source) -> bool:
    """True if the file itself makes a completion call that can be recorded.

    A file that uses ART is none: it records its own trajectories.
    """
    calls = [call for call in _completion_calls(source) if call.supported]
    return bool(calls) and art_use(calls[0].syntax) is None


def with_entry_file(sources: Sequence[Source], entry: str | None) -> list[Source]:
    """Return ``sources`` and the file of ``module:callable``, where ``entry`` names one.

    The module is a dotted name, or a path from here or from beside the agent.

    Raises:
        Refusal: there is no such module.
    """
    module, colon, _ = (entry or "").partition(":")
    if not colon:
        return [*sources]
    is_path = module.endswith(".py")
    above = import_roots if is_path else module_roots
    roots = [*above(sources[0].path), Path.cwd()]
    for root in reversed(roots) if is_path else roots:
        if is_path:
            path = root / module if (root / module).is_file() else None
        else:
            path = module_file(root.joinpath(*module.split(".")))
        if path is not None:
            known = any(source.path == path for source in sources)
            return [*sources] if known else [*sources, read_source(path)]
    raise Refusal(
        f"--entry {entry}: no module {module} beside {quoted(sources[0].path.name)} or above it",
        next_step="name it as package.module:function or path/to/file.py:function",
    )


def _read(path: Path, known: Mapping[Path, Source]) -> Source:
    try:
        path.name.encode()
    except UnicodeEncodeError:
        raise Refusal(
            "the file name is not valid text, so no module can import this file",
            next_step="rename the file",
            path=path,
        ) from None
    if path.suffix in OTHERS and path.is_file():
        raise Refusal(
            f"not a Python file, but a {path.suffix} file",
            why="art-adapt adapts agents written in Python",
            next_step="name the Python file in which the agent calls its model",
            path=path,
        )
    return known.get(Path(os.path.abspath(path))) or read_source(path)


def _agents_below(
    folder: Path, known: Mapping[Path, Source], exclude: Sequence[str]
) -> list[Source]:
    """Return the files of a folder that call a chat model, generated ones left out."""
    found, read, left_out = [], 0, False
    for path in shown_progress(files_in([folder], _may_be_agent, exclude), sys.stderr):
        read += 1
        try:
            source = _read(path, known)
            if _completion_calls(source):
                found.append(source)
        except Refusal as refusal:
            sys.stderr.write(f"{printable(_left_out(path, refusal))}\n")
            left_out = True
    if found:
        return found
    files = "the other Python files" if left_out else "its Python files"
    other = _other_agent(folder, exclude)
    raise Refusal(
        f"no agent in this folder: none of {files} calls the OpenAI client for a chat completion"
        if read
        else "no agent in this folder: there are no Python files in it",
        why=""
        if other is None
        else f"{at(other.place)} calls its model through {other.what}",
        next_step="name the agent's file"
        if other is None
        else f"art-adapt {quote(shown(other.place.path))} says what can be done",
        path=folder,
    )


def _left_out(path: Path, refusal: Refusal) -> str:
    line = "" if refusal.line is None else f":{refusal.line}"
    then = f"; if it is a part of the agent, {refusal.next_step}" * bool(
        refusal.next_step
    )
    return f"left out {shown(path)}{line}: {refusal.what}{then}"


def _other_agent(folder: Path, exclude: Sequence[str]) -> Obstacle | None:
    """Return the first call of a folder that asks a model in a way that cannot be recorded."""
    for path in files_in([folder], _may_be_agent, exclude):
        with suppress(Refusal):
            for obstacle in find_obstacles(Syntax.of(read_source(path))):
                if obstacle.calls_model:
                    return obstacle
    return None


def _may_be_agent(name: str) -> bool:
    generated = name in hooks_file.NAMES or name.endswith("_train.py")
    return name.endswith(".py") and not generated


def _completion_calls(source: Source) -> list[FoundCall]:
    if not source.mentions_model:
        return []
    return list(find_completion_calls(Syntax.of(source)))
