"""Finds the files of a project that use an agent's functions.

The file that a user names often holds an LLM helper only: the function that starts the
conversation is in another one, which no import leads to.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from art_adapt.survey.nodes import dotted, last_name
from art_adapt.survey.project import Project
from art_adapt.survey.syntax import Syntax

MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", ".git")
NOT_THE_PROJECT = {"node_modules", "site-packages", "__pycache__", "build", "dist"}
MOST_READ = 4_000  # files whose bytes are searched
MOST_FOUND = 40
LARGEST = 1_000_000  # bytes


def files_that_use(
    project: Project,
    functions: Iterable[tuple[Path, str]],
    constructed: Iterable[str] = (),
) -> list[Path]:
    """Find the files, not yet in the project, that mention one of ``functions``.

    A function counts where its name is called; a method where its class, or one that the
    class is derived from, is named as well. ``constructed``: classes that are made or
    derived from.
    """
    wanted = [m for path, name in functions for m in _mentions(project, path, name)]
    for each in constructed:
        name = re.escape(each.rpartition(".")[2].encode())
        wanted.append((re.compile(rb"\b%s\(|class\s+\w+\(.*\b%s\b" % (name, name)),))
    found: list[Path] = []
    for path in _python_files(project_root(project.given[0])):
        if path in project.files:
            continue
        data = path.read_bytes()
        if any(all(each.search(data) for each in mention) for mention in wanted):
            found.append(path)
            if len(found) == MOST_FOUND:
                break
    return found


_Mention = tuple[re.Pattern[bytes], ...]  # all of them are in the file


def _mentions(project: Project, path: Path, qualname: str) -> Iterator[_Mention]:
    """How a file mentions a function; a method also by a function that makes its object."""
    owner, _, name = qualname.rpartition(".")
    if not owner:
        yield _function(path, name)
        return
    syntax = project.files[path]
    definition = syntax.classes.get(owner)
    bases = definition.bases if definition is not None else []
    named = re.compile(rb"\b(%s)\b" % _any_of([owner, *map(last_name, bases)]))
    used = _any_of([name, *_stored_as(syntax, f"self.{name}")])
    called = re.compile(rb"\.(%s)\(" % used)
    yield (named,) if name == "__call__" else (called, named)
    yield (re.compile(rb"\b%s\(" % re.escape(owner.encode())),)
    for place, call in project.constructed(syntax, owner):
        maker = place.owner(call)
        if place is syntax and maker in place.functions and "." not in maker:
            yield _function(path, maker)


def _function(path: Path, name: str) -> _Mention:
    used = rb"\b%s\b" % re.escape(name.encode())
    stem = path.stem if path.stem != "__init__" else path.parent.name
    return re.compile(used), re.compile(rb"\b%s\b" % re.escape(stem.encode()))


def _any_of(names: Iterable[str]) -> bytes:
    return b"|".join(re.escape(name.encode()) for name in names if name)


def _stored_as(syntax: Syntax, method: str) -> Iterator[str]:
    """The names under which an object hands out a method of its own."""
    for node in syntax.nodes:
        if dotted(node) != method:
            continue
        holder = syntax.parents[node]
        if isinstance(holder, ast.keyword) and holder.arg:
            yield holder.arg
        elif isinstance(holder, ast.Assign):
            yield from map(last_name, holder.targets)


def project_root(path: Path) -> Path:
    """Return the folder that holds the project of a file.

    That is the nearest one with a marker such as pyproject.toml; without any, the working
    folder, where the file is below it; else the folder around the file's package, or the
    file's own.
    """
    for folder in path.parents[:8]:
        if any((folder / marker).exists() for marker in MARKERS):
            return folder
    here = Path.cwd()
    if here in path.absolute().parents and here not in (Path.home(), Path(here.anchor)):
        return here
    folder = path.parent
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    return folder


def _python_files(root: Path) -> Iterator[Path]:
    read = 0
    for folder, folders, names in os.walk(root):
        inner = Path(folder)
        folders[:] = sorted(
            name
            for name in folders
            if name not in NOT_THE_PROJECT
            and not name.startswith(".")
            and not (inner / name / "pyvenv.cfg").exists()
        )
        for name in sorted(names):
            path = inner / name
            if path.suffix == ".py" and path.is_file():
                if path.stat().st_size <= LARGEST:
                    yield path
                read += 1
                if read == MOST_READ:
                    return
