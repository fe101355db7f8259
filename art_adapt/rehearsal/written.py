"""Tells which files of a project were written while its agent ran."""

from __future__ import annotations

import os
from pathlib import Path

MOST = 20_000  # files that are looked at
NOT_LOOKED_AT = {"__pycache__", "node_modules", "site-packages"}

Files = dict[Path, tuple[int, int]]  # when each was written last, and its size


def files_below(root: Path) -> Files | None:
    """Return what tells whether a file below a folder is written; None: they are too many."""
    found: Files = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [
            name
            for name in folders
            if name not in NOT_LOOKED_AT and not name.startswith(".")
        ]
        for name in names:
            path = Path(folder, name)
            try:
                status = path.lstat()
            except OSError:
                continue  # it is gone by now
            found[path.relative_to(root)] = (status.st_mtime_ns, status.st_size)
        if len(found) > MOST:
            return None
    return found


def written(before: Files | None, after: Files | None) -> frozenset[Path] | None:
    """Return the files that are new or were changed."""
    if before is None or after is None:
        return None
    return frozenset(path for path, told in after.items() if before.get(path) != told)
