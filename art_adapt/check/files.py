"""The Python files and notebooks under some paths, without those that git ignores."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
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
    ]
)


def python_files(paths: Iterable[Path], exclude: Iterable[str] = ()) -> Iterator[Path]:
    """Each file once: those that are named, whatever they are called, and the ``.py``
    and ``.ipynb`` files below folders. ``exclude``: patterns of files or of folders above them, as of
    ``Path.match``.

    Raises:
        Refusal: a path does not exist.
    """
    seen: set[str] = set()
    patterns = tuple(pattern.rstrip("/") for pattern in exclude)
    for path in paths:
        if path.is_dir():
            below = _from_git(path)
            found = _walk(path) if below is None else below
        elif path.exists():
            found = [path]
        else:
            raise Refusal(
                "no such file or folder", next_step="check the path", path=path
            )
        for file in found:
            real = os.path.realpath(file)
            if real in seen or _is_excluded(file, patterns):
                continue
            seen.add(real)
            yield file


def _is_excluded(file: Path, patterns: tuple[str, ...]) -> bool:
    return any(
        path.match(pattern) for pattern in patterns for path in (file, *file.parents)
    )


def _from_git(folder: Path) -> list[Path] | None:
    """What git knows or would take in; None where there is no git, or it ignores the
    folder itself.
    """
    if not any(
        (up / ".git").exists() for up in (folder.absolute(), *folder.absolute().parents)
    ):
        return None
    import subprocess

    command = ["git", "-C", str(folder), "ls-files", "-z", "--cached", "--others"]
    try:
        listed = subprocess.run(
            [*command, "--exclude-standard", "--", "*.py", "*.ipynb"],
            capture_output=True,
            check=True,
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    names = sorted(filter(None, listed.decode(errors="surrogateescape").split("\0")))
    files = [folder / name for name in dict.fromkeys(names)]
    return [file for file in files if file.is_file()] or None


def _walk(folder: Path) -> Iterator[Path]:
    folders, files = [], []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in SKIPPED:
                        folders.append(entry.name)
                elif entry.name.endswith((".py", ".ipynb")) and entry.is_file():
                    files.append(entry.name)
    except OSError:
        return
    for name in sorted(files):
        yield folder / name
    for name in sorted(folders):
        yield from _walk(folder / name)
