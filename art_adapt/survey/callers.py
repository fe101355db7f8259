"""Finds the files of a project that use an agent's functions.

The file that a user names often holds an LLM helper only: the function that starts the
conversation is in another one, which no import leads to.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from art_adapt.survey.nodes import dotted
from art_adapt.survey.project import Project

MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
NOT_THE_PROJECT = {"node_modules", "site-packages", "__pycache__", "build", "dist"}
MOST_READ = 4_000  # files whose bytes are searched
MOST_FOUND = 40
LARGEST = 1_000_000  # bytes


def files_that_use(
    project: Project,
    functions: Iterable[tuple[Path, str]],
    constructed: str | None = None,
) -> list[Path]:
    """Find the files, not yet in the project, that mention one of ``functions``.

    A function counts where its name is called; a method where its class, or one that the
    class is derived from, is named as well. ``constructed``: a class that is made or
    derived from.
    """
    wanted = [_mention(project, path, name) for path, name in functions]
    if constructed is not None:
        name = constructed.rpartition(".")[2].encode()
        name = re.escape(name)
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


def _mention(
    project: Project, path: Path, qualname: str
) -> tuple[re.Pattern[bytes], ...]:
    owner, _, name = qualname.rpartition(".")
    used = rb"\b%s\b" % re.escape(name.encode())
    if not owner:
        stem = path.stem if path.stem != "__init__" else path.parent.name
        return re.compile(used), re.compile(rb"\b%s\b" % re.escape(stem.encode()))
    syntax = project.files[path]
    definition = syntax.classes.get(owner)
    bases = definition.bases if definition is not None else []
    names = [owner, *((dotted(base) or "").split(".")[-1] for base in bases)]
    named = b"|".join(re.escape(each.encode()) for each in names if each)
    if name == "__call__":
        return (re.compile(rb"\b(%s)\b" % named),)
    return re.compile(rb"\.%s\(" % re.escape(name.encode())), re.compile(named)


def project_root(path: Path) -> Path:
    """Return the folder that holds the project of a file.

    That is the nearest one with a marker such as pyproject.toml; without any, the folder
    around the file's package, or the file's own.
    """
    for folder in path.parents[:8]:
        if any((folder / marker).exists() for marker in MARKERS):
            return folder
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
