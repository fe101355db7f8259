"""Copies a project's folder, so that what an agent writes there stays in the copy."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from art_adapt.folders import SKIPPED, VIRTUAL_ENVIRONMENT

# Environments, caches and git's own; what "build" and "dist" hold may be an agent's data.
SHARED = SKIPPED - {"build", "dist"}
LARGEST = 64_000_000  # bytes of a file; a larger one is shared, unless it is a database
DATABASE = b"SQLite format 3\0"
MOST = 10_000  # files of a copy
MOST_BYTES = 512_000_000


class TooLarge(Exception):
    """The folder holds more than a project does."""


@dataclass(frozen=True)
class Copy:
    """A copy of a project's folder. Both are resolved paths."""

    project: Path
    folder: Path

    def inside(self, path: str) -> str:
        """Return the path in the copy of what it holds of the project; any other as it is.

        The project may be known by another path, through a link.
        """
        if not os.path.isabs(path):
            return path
        for spelled in (path, os.path.realpath(path)):
            below = _below(spelled, self.project)
            if below is not None:
                is_held = SHARED.isdisjoint(below.parts)
                return f"{self.folder / below}" if is_held else path
        return path

    def outside(self, path: str) -> str:
        """Return the path in the project of one in the copy; any other path as it is."""
        below = _below(path, self.folder)
        return path if below is None else f"{self.project / below}"

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """Return an environment in which paths and URLs of the project lead into the copy.

        Folders of PYTHONPATH without a root are meant from the folder of this process.
        """
        shared = "|".join(map(re.escape, sorted(SHARED)))
        own = re.compile(
            rf"{re.escape(f'{self.project}')}(?![\w.-])(?!(?:/[^/:]+)*/(?:{shared})(?:[/:]|$))"
        )
        named = variables.get("PYTHONPATH", "").split(os.pathsep)
        folders = os.pathsep.join(os.path.abspath(each) for each in named if each)
        rooted = {**variables, **({"PYTHONPATH": folders} if folders else {})}
        return {
            name: own.sub(lambda _: f"{self.folder}", value)
            for name, value in rooted.items()
        }

    def told_outside(self, text: str) -> str:
        """Return a text in which the copy's paths are the project's."""
        return text.replace(f"{self.folder}", f"{self.project}")


def _below(path: str, folder: Path) -> Path | None:
    is_below = Path(path).is_relative_to(folder)
    return Path(path).relative_to(folder) if is_below else None


def can_be_copied(project: Path) -> bool:
    """True if a folder holds no more than a project does."""
    try:
        _content(project, without=None)
    except TooLarge:
        return False
    return True


def fill(copy: Copy) -> None:
    """Copy a project's files. What is installed, of git or large is linked.

    Raises:
        TooLarge: nothing is left of the copy then.
    """
    listed = _content(copy.project, copy.folder)
    copy.folder.mkdir(parents=True, exist_ok=True)
    for source, is_shared in listed:
        target = copy.folder / source.relative_to(copy.project)
        if is_shared and source.is_symlink():
            # What it leads to inside the project is in the copy as well.
            target.symlink_to(copy.inside(os.path.realpath(source)))
        elif is_shared:
            target.symlink_to(source)
        elif source.is_dir():
            target.mkdir(exist_ok=True)
        else:
            _copy(source, target)


def _copy(source: Path, target: Path) -> None:
    try:
        shutil.copy2(source, target)
    except PermissionError:
        target.symlink_to(source)  # as the agent finds it: not to be read
    except FileNotFoundError:
        pass  # another process has removed it meanwhile


def _content(project: Path, without: Path | None) -> list[tuple[Path, bool]]:
    """Return what a copy holds, each with whether it is linked.

    Raises:
        TooLarge: that is too much.
    """
    listed: list[tuple[Path, bool]] = []
    size = 0
    for source, is_shared, bytes_of in _listed(project, without):
        listed.append((source, is_shared))
        size += 0 if is_shared else bytes_of
        if len(listed) > MOST or size > MOST_BYTES:
            raise TooLarge
    return listed


def _listed(folder: Path, without: Path | None) -> Iterator[tuple[Path, bool, int]]:
    """Yield what is below a folder, whether a copy links it, and how large it is."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return  # which the agent cannot read either
    for entry in entries:
        path = Path(entry.path)
        if without is not None and without.is_relative_to(path):
            continue  # a folder for temporary files that lies in the project
        try:
            is_folder, is_shared = entry.is_dir(), _is_shared(entry)
            size = 0 if is_folder else entry.stat().st_size
            is_file = entry.is_file()
        except FileNotFoundError:
            continue  # it is gone by now
        if is_shared or is_folder or is_file:
            yield path, is_shared, size
        if is_folder and not is_shared:
            yield from _listed(path, without)


def _is_shared(entry: os.DirEntry[str]) -> bool:
    """True if a copy links a folder or file: an environment, a link, large data."""
    if entry.is_symlink():
        return True
    if entry.is_dir():
        try:
            is_environment = Path(entry.path, VIRTUAL_ENVIRONMENT).exists()
        except PermissionError:
            return True
        return entry.name in SHARED or is_environment
    return (
        entry.is_file() and entry.stat().st_size > LARGEST and not _is_database(entry)
    )


def _is_database(entry: os.DirEntry[str]) -> bool:
    with open(entry.path, "rb") as file:
        return file.read(len(DATABASE)) == DATABASE
