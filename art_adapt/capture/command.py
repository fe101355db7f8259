"""Tells which file of an agent a command runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from art_adapt.code.project_folder import MARKERS, project_root


def agent_of(command: Sequence[str]) -> Path | None:
    """Return the file that a command runs; None if it names none that is here.

    A script outside of the project in which somebody works, and of any other, drives that
    project's agent.
    """
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
    ran = next((path for path in found if path.is_file()), None)
    return None if ran is not None and _is_driver(ran) else ran


def _is_driver(path: Path) -> bool:
    here = project_root(Path.cwd() / path.name)
    outside = not path.resolve().is_relative_to(here.resolve())
    return outside and _is_marked(here) and not _is_marked(project_root(path.resolve()))


def _is_marked(folder: Path) -> bool:
    return any((folder / marker).exists() for marker in MARKERS)
