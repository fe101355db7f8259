"""Keeps a train module's command line from the agent that it imports.

An agent may read ``sys.argv`` when it is imported: ``DB = sys.argv[1]`` would be ``--backend``.
"""

from __future__ import annotations

import sys

_own: list[str] = []


def take() -> None:
    """Take the arguments of this process if its main module is what imports ``training``.

    The agent sees what it sees in production without any: its own defaults.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_importing(frame.f_code.co_filename):
        frame = frame.f_back
    if frame.f_globals.get("__name__") == "__main__":
        _own[:] = sys.argv[1:]
        del sys.argv[1:]


def arguments() -> list[str]:
    """Return what the train module was started with."""
    return sys.argv[1:] or _own


def _is_importing(file: str) -> bool:
    return file.startswith("<frozen importlib") or file == _PACKAGE


_PACKAGE = __file__.replace("command_line.py", "__init__.py")
