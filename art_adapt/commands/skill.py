"""``art-adapt skill``: its options and exit codes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from art_adapt.commands import command_app
from art_adapt.errors import Refusal

app = command_app()


@app.command()
def skill(
    install: Annotated[
        str | None,
        typer.Option(
            metavar="ASSISTANT",
            help="claude, codex or cursor: write it where the assistant looks.",
        ),
    ] = None,
) -> None:
    """Tell a coding assistant how to use art-adapt.

    Without options it prints the text. With --install it writes it below this folder; of
    AGENTS.md, which is the project's, only a marked part.

    Exit codes: 0 done; 2 could not do it.
    """
    from art_adapt.skill import ASSISTANTS, skill_text, written_for

    if install is None:
        sys.stdout.write(skill_text())
        return
    if install not in ASSISTANTS:
        known = ", ".join(ASSISTANTS)
        raise typer.BadParameter(f"known are {known}", param_hint="--install")
    path = ASSISTANTS[install].path
    try:
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(written_for(ASSISTANTS[install], before), encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal(
            "cannot write the skill",
            why=str(error),
            next_step="run art-adapt skill to print it",
            path=Path(path),
        ) from error
    print(f"{'changed' if before else 'written'}: {path}")
