"""Tells the user's own code from what is installed."""

from __future__ import annotations

import functools
import os
import site
from pathlib import Path

_INSTALLED = (
    *site.getsitepackages(),
    os.path.dirname(os.__file__),
    str(Path(__file__).parents[1]),
)
_RESOLVED = tuple(map(os.path.realpath, _INSTALLED))


@functools.cache  # it is asked for each frame of each request, and resolving links is slow
def is_installed(file: str) -> bool:
    """Tell whether a code object's file is Python's, a library's or art-adapt's.

    Another environment's libraries may be on the path as well.
    """
    if not {"site-packages", "dist-packages"}.isdisjoint(Path(file).parts):
        return True
    return file.startswith(_INSTALLED) or os.path.realpath(file).startswith(_RESOLVED)
