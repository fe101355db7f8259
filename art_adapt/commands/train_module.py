"""The train module that a command is about: how it is named, and which it is if nobody says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from art_adapt.code.project_folder import python_files
from art_adapt.errors import Refusal
from art_adapt.train_file import ENDING

MOST = 5  # train modules that are named
WITH_MODULE = "name it with --module path/to/agent_train.py"
TrainModule = Annotated[
    Path | None,
    typer.Argument(
        metavar="TRAIN_MODULE", help="By default the one *_train.py in this folder."
    ),
]
ModuleOption = Annotated[
    Path | None,
    typer.Option(
        help="The train module; by default the one *_train.py in this folder."
    ),
]


def named_train_module(module: Path | None, named: str) -> Path:
    """Return the train module that is named, itself or by its folder; None: see below."""
    is_file = module is not None and not module.is_dir()
    return module if module and is_file else only_train_module(named, module or Path())


def only_train_module(named: str, folder: Path = Path()) -> Path:
    """Return the only train module in a folder, or else the only one below it.

    ``named``: how the user of a command names one.

    Raises:
        Refusal: there is none, or more than one.
    """
    below = (each for each in python_files(folder) if each.name.endswith(ENDING))
    found = sorted(folder.glob(f"*{ENDING}")) or sorted(below)
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(map(str, found[:MOST]))
        names += f" and {len(found) - MOST} more" * (len(found) > MOST)
        what = f"several train modules in this folder: {names}"
        raise Refusal(what, next_step=named)
    raise Refusal(
        "no train module in this folder or below it",
        next_step=f"write one with art-adapt agent.py, or {named}",
    )
