"""Tells which file of an agent a command runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path


def agent_of(command: Sequence[str]) -> Path | None:
    """Return the file that a command runs; None if it names none that is here."""
    named: list[Path] = []
    for before, word in zip(("", *command), command, strict=False):
        module = word.partition(":")[0].replace(".", "/")
        if before == "-m" or ":" in word:
            named += [Path(f"{module}.py"), Path(module, "__main__.py")]
        elif word.endswith(".py"):
            named.append(Path(word))
    imported = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    folders = [Path(), Path("src"), *(Path(each) for each in imported if each)]
    found = (folder / path for path in named for folder in folders)
    return next((path for path in found if path.is_file()), None)
