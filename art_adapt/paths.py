"""Shows paths."""

from __future__ import annotations

import os
from pathlib import Path

from art_adapt.printable import quoted_at_start
from art_adapt.source import Place


def relative(path: Path) -> str:
    """Name a path from the working folder, unless that takes many ``..``."""
    try:
        name = os.path.relpath(path)
    except ValueError:  # another drive
        return str(path)
    return str(path) if name.startswith(f"..{os.sep}..{os.sep}..") else name


def at(place: Place) -> str:
    """Show the file and the line of a place to a person."""
    return f"{shown(place.path)}:{place.line}"


def shown(path: Path) -> str:
    """Show a path from the working folder to a person."""
    return quoted_at_start(relative(path))
