"""``art-adapt episodes``: its options and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from art_adapt.commands import command_app
from art_adapt.errors import Refusal, missing

app = command_app()


@app.command()
def episodes(
    path: Annotated[
        Path,
        typer.Argument(help="A run's folder (.art/PROJECT/models/RUN), or a file."),
    ],
    split: Annotated[str, typer.Option(help="train or val.")] = "train",
    step: Annotated[
        int | None, typer.Option(help="The step to show; by default the last one.")
    ] = None,
    count: Annotated[
        int,
        typer.Option(
            min=1, help="How many of the best, the worst and the others to show."
        ),
    ] = 1,
    longest: Annotated[
        int, typer.Option(min=20, help="Characters to show of a text.")
    ] = 1000,
) -> None:
    """Show episodes of a training run: the best, the worst and some others.

    Exit codes: 0 shown; 2 there is nothing to show.
    """
    from rich.console import Console

    from art_adapt.report.episodes import episode_view
    from art_adapt.worth_reading import worth_reading

    file = _file(path, split, step) if path.is_dir() else path
    rows = _rows(file)
    console = Console(highlight=False)
    console.print(f"{file}: {len(rows)} episodes", style="bold", markup=False)
    for title, at in worth_reading([row["reward"] for row in rows], count):
        console.print(episode_view(title, rows[at], longest))


def _file(folder: Path, split: str, step: int | None) -> Path:
    files = sorted((folder / "episodes" / split).glob("*.jsonl"))
    steps = {int(file.stem): file for file in files if file.stem.isdigit()}
    if not steps:
        raise Refusal(
            f"no episodes in this folder for the split {split}",
            next_step="name the folder of a run: .art/PROJECT/models/RUN",
            path=folder,
        )
    if step is not None and step not in steps:
        known = ", ".join(map(str, steps))
        raise Refusal(
            f"no such step: {step}", next_step=f"choose one of {known}", path=folder
        )
    return steps[max(steps) if step is None else step]


def _rows(file: Path) -> list[dict[str, Any]]:
    try:
        lines = file.read_text(encoding="utf-8").split("\n")
        rows: list[dict[str, Any]] = [
            json.loads(line) for line in lines if line.strip()
        ]
        if not all("reward" in row and "histories" in row for row in rows):
            raise ValueError("a row lacks reward or histories")
    except FileNotFoundError:
        raise missing(file) from None
    except OSError as error:
        raise Refusal(f"cannot read this file: {error.strerror}", path=file) from error
    except (ValueError, TypeError) as error:
        raise Refusal(
            "not a file of episodes",
            why=str(error),
            next_step="name a file below .art/PROJECT/models/RUN/episodes",
            path=file,
        ) from error
    if not rows:
        raise Refusal("no episodes in this file", path=file)
    return rows
