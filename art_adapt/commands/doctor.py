"""``art-adapt doctor``: its options and exit codes."""

from __future__ import annotations

import json
import shutil
import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from art_adapt import backends
from art_adapt.commands import command_app
from art_adapt.commands.train_module import TrainModule, named_train_module
from art_adapt.errors import Refusal, missing
from art_adapt.installing import pip_install

if TYPE_CHECKING:
    from art_adapt.doctor import Finding

app = command_app()
MARGIN = 19  # where the texts begin


@app.command()
def doctor(
    module: TrainModule = None,
    backend: Annotated[
        str | None, typer.Option(help=f"{backends.NAMES}, instead of BACKEND.")
    ] = None,
    try_judge: Annotated[
        bool, typer.Option("--try-judge", help="Call RULER's judge once.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object per line.")
    ] = False,
) -> None:
    """Check whether a train module could run here, before you pay for a GPU.

    It imports the module and its agent; it starts no engine and runs no episode.

    Exit codes: 0 it could; 1 something would end the run or make it worthless; 2 could
    not check.
    """
    module = named_train_module(
        module, "name it: art-adapt doctor path/to/agent_train.py"
    )
    if not module.is_file():  # before ART is imported: that takes seconds
        raise missing(module)
    try:
        from art_adapt.doctor import State, examine
    except ImportError as error:
        raise Refusal(
            f"doctor needs {error.name}, which is not installed",
            why="doctor examines the environment that trains",
            next_step=f"run {pip_install('train')} in that environment",
        ) from error
    has_failed = False
    if backend not in (None, *backends.Backend):
        raise typer.BadParameter(backends.NAMES, param_hint="--backend")
    for finding in examine(module, backend=backend, try_judge=try_judge):
        has_failed |= finding.state is State.FAILED
        if as_json:
            print(json.dumps(asdict(finding)))
            continue
        print(_shown(finding))
    raise typer.Exit(1 if has_failed else 0)


def _shown(finding: Finding) -> str:
    """Lay a finding out for a terminal, what to do about it on lines of its own."""
    width = max(40, min(100, shutil.get_terminal_size().columns)) - MARGIN
    texts = finding.what.split("\n")
    texts += [f"-> {finding.remedy}"] if finding.remedy else []
    lines = [
        line
        for text in texts
        for line in textwrap.wrap(text, width, break_on_hyphens=False)
    ]
    head = f"{finding.state:7} {finding.subject}"
    return f"\n{'':{MARGIN}}".join([f"{head:{MARGIN}}{lines[0]}", *lines[1:]])
