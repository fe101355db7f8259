"""Shows paths."""

from __future__ import annotations

import os
from pathlib import Path

from art_adapt.report.printable import printable


def shown(path: Path) -> str:
    """Show a path relative to the working folder, unless that takes many ``..``."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive
        relative = str(path)
    if relative.startswith(f"..{os.sep}..{os.sep}.."):
        relative = str(path)
    return printable(relative)
