"""How paths are shown."""

from __future__ import annotations

import os
from pathlib import Path


def shown(path: Path) -> str:
    """A path as short as it can be said from here."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive
        return str(path)
    return str(path) if relative.startswith(f"..{os.sep}..{os.sep}..") else relative
