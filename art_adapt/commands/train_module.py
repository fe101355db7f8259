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


def only_train_module(named: str) -> Path:
    """Return the only train module in the working folder, or else the only one below it.

    ``named``: how the user of a command names one.

    Raises:
        Refusal: there is none, or more than one.
    """
    below = (each for each in python_files(Path()) if each.name.endswith(ENDING))
    found = sorted(Path().glob(f"*{ENDING}")) or sorted(below)
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
