"""Finds the folder that holds a project, and its Python files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", ".git")
NOT_THE_PROJECT = {"node_modules", "site-packages", "__pycache__", "build", "dist"}
MOST_READ = 4_000  # files whose bytes are searched
LARGEST = 1_000_000  # bytes


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


def root_around(path: Path) -> Path:
    """Return the root of the project in whose folder somebody works, if it holds a file.

    A part of it that has markers of its own, as a backend, is run and read from there as well.
    Else it is the file's own.
    """
    here = project_root(Path.cwd() / path.name).resolve()
    return here if path.resolve().is_relative_to(here) else project_root(path)


def above_source(root: Path) -> Path:
    """Return the folder above the ``src`` that a project installs its packages from; another as it is."""
    is_source = root.name == "src" and root.parent == project_root(root / "_")
    return root.parent if is_source else root


def folder_with(path: Path, imported_from: Path) -> Path:
    """Return the folder that holds the project of a file, and the folder it is imported from."""
    root = project_root(path)
    return imported_from if root.is_relative_to(imported_from) else root


def python_files(root: Path) -> Iterator[Path]:
    """List the Python files below a folder, without those of others: environments, builds."""
    read = 0
    for folder, folders, names in os.walk(root):
        inner = Path(folder)
        folders[:] = sorted(
            name
            for name in folders
            if name not in NOT_THE_PROJECT
            and not name.startswith(".")
            and not os.path.exists(inner / name / "pyvenv.cfg")
        )
        for name in sorted(names):
            path = inner / name
            if path.suffix == ".py" and os.path.isfile(path):
                if path.stat().st_size <= LARGEST:
                    yield path
                read += 1
                if read == MOST_READ:
                    return
