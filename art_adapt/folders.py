"""Lists the files below folders, without those that git ignores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from art_adapt.errors import Refusal

SKIPPED = frozenset(
    [
        ".git",
        ".hg",
        ".venv",
        "venv",
        ".tox",
        ".nox",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
        "__pycache__",
        "node_modules",
        "site-packages",
        "build",
        "dist",
        ".eggs",
        ".art",
        ".ipynb_checkpoints",
    ]
)
VIRTUAL_ENVIRONMENT = "pyvenv.cfg"  # is in each, whatever its folder's name


def files_in(
    paths: Iterable[Path],
    is_wanted: Callable[[str], bool],
    exclude: Iterable[str] = (),
) -> Iterator[Path]:
    """List each file once: every named file, and the wanted ones below named folders.

    ``is_wanted``: decides by the name of a file. ``exclude``: patterns of files or of
    folders above them, as ``Path.match`` takes them.

    Raises:
        Refusal: a path does not exist.
    """
    seen: set[str] = set()
    patterns = tuple(pattern.rstrip("/") for pattern in exclude)
    for path in paths:
        if not path.exists():
            raise Refusal(
                "no such file or folder", next_step="check the path", path=path
            )
        for file in _below(path, is_wanted) if path.is_dir() else (path,):
            real = os.path.realpath(file)
            if real in seen or _is_excluded(file, patterns):
                continue
            seen.add(real)
            yield file


def _below(folder: Path, is_wanted: Callable[[str], bool]) -> Iterator[Path]:
    listed = _from_git(folder)
    for file in walk(folder) if listed is None else listed:
        if file.is_dir():  # a nested repository, which git lists as one entry
            if (file / ".git").exists():  # of its own; an empty submodule has none
                yield from _below(file, is_wanted)
        elif is_wanted(file.name) and file.is_file():
            yield file


def _is_excluded(file: Path, patterns: tuple[str, ...]) -> bool:
    return any(
        path.match(pattern) for pattern in patterns for path in (file, *file.parents)
    )


def _from_git(folder: Path) -> list[Path] | None:
    """List the files that git tracks or would add; None where git cannot say."""
    if not any(
        (up / ".git").exists() for up in (folder.absolute(), *folder.absolute().parents)
    ):
        return None
    import subprocess

    command = ["git", "-C", str(folder), "ls-files", "-z", "--cached", "--others"]
    try:
        listed = subprocess.run(
            [*command, "--exclude-standard"], capture_output=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    names = sorted(filter(None, listed.decode(errors="surrogateescape").split("\0")))
    files = [Path(name) for name in dict.fromkeys(names)]
    # A virtual environment is left out even if git does not ignore it.
    return [folder / file for file in files if SKIPPED.isdisjoint(file.parts)] or None


def walk(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, ignored ones too, but none that is installed."""
    folders, files = [], []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in SKIPPED:
                        folders.append(entry.name)
                else:
                    files.append(entry.name)
    except OSError:
        return
    if VIRTUAL_ENVIRONMENT in files:
        return
    for name in sorted(files):
        yield folder / name
    for name in sorted(folders):
        yield from walk(folder / name)
