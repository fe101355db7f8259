"""Finds code that loads every module of a folder, with what art-adapt writes there."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path

from art_adapt.code.project import Project
from art_adapt.source import Place
from art_adapt.survey.side_effects.harm import Obstacle

SCANS = re.compile(rb"\b(iter_modules|walk_packages|glob|listdir|iterdir|scandir)\(")
LOADS = re.compile(
    rb"\b(import_module|__import__|spec_from_file_location|run_path|load_extension)\("
)
NAMES_ALL = re.compile(rb"^__all__\s*[:=+]", re.MULTILINE)


def find_loaders(project: Project, folder: Path) -> Iterator[Obstacle]:
    """Find what loads all modules of a folder: its own ``__init__.py``, files above it.

    Production would import the hooks file and the train module, which needs ART.
    """
    init = folder / "__init__.py"
    for path in (init, *sorted(folder.parent.glob("*.py"))):
        known = project.files.get(path)
        data = known.source.data if known is not None else _read(path)
        own = path == init
        loads = LOADS.search(data) or (NAMES_ALL.search(data) if own else None)
        named = own or re.search(rb"\b%s\b" % re.escape(folder.name.encode()), data)
        if SCANS.search(data) and loads and named:
            line = data.count(b"\n", 0, loads.start()) + 1
            yield Obstacle(
                Place(path, line, 1),
                f"may load every module in {folder.name}/",
                "exclude art_recording and names that end in _train there, because a train module imports ART",
                calls_model=False,
            )


@functools.lru_cache(maxsize=512)
def _read(path: Path) -> bytes:
    """Return the contents of a file that the survey has not read; b"" where there is none."""
    return path.read_bytes() if path.is_file() else b""
