"""What episodes start from."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from textwrap import shorten

from art_adapt.decisions import from_train_module
from art_adapt.errors import Refusal
from art_adapt.guide.question import Choice, Question, Situation
from art_adapt.guide.sources import Rows, rows_for
from art_adapt.paths import at
from art_adapt.recipe.fields import scenario_fields
from art_adapt.report.outcome import lacking
from art_adapt.scenarios.source_kind import SourceKind, source_kind
from art_adapt.settings import TrainingOptions

ORDER = 40  # before the reward: rows that have answers can be compared with them
SHOWN = 5


def questions(situation: Situation) -> Iterator[Question]:
    entry = situation.entry
    if (
        situation.is_known("scenarios")
        or entry is None
        or situation.options.single_turn
    ):
        return
    usual = TrainingOptions.scenarios
    rows = entry.home.parent / usual
    if rows.exists() and not lacking(rows, SourceKind.JSONL, entry):
        return
    fields = tuple(field.name for field in scenario_fields(entry))
    found = rows_for(fields, entry, situation.files)[:SHOWN]
    offered = tuple(
        Choice(
            f"{rows.source}  {at(rows.place)}",
            {"scenarios": rows.source},
            ("its answers are in " + rows.expected + ": " if rows.expected else "")
            + shorten(_example(rows, fields), 80),
        )
        for rows in found
    )
    keys = ", ".join(f'"{name}": ...' for name in fields)
    to_write = Choice(
        f"{usual}, which you still have to write",
        {"scenarios": usual},
        "or art-adapt capture writes it while your agent runs",
    )
    yield Question(
        "Where do your scenarios come from?",
        (*offered, to_write),
        why=f"Each row is one scenario: {{{keys}}}. A few dozen will do to begin with; hundreds are better.",
        typed=("scenarios",),
        example="a JSONL or CSV file, a dataset's folder, or module:NAME",
        meant=lambda typed: _found(typed["scenarios"], entry.home.parent),
        of_agent=True,
    )


def _found(typed: str, folder: Path) -> dict[str, str]:
    """Return a source as it reads from the agent's folder, wherever it was typed.

    Raises:
        Refusal: there is no such file.
    """
    source = from_train_module(typed, folder)
    kind, path = source_kind(source), folder / source
    is_there = (
        os.path.isdir(path) if kind is SourceKind.DATASET else os.path.isfile(path)
    )
    if kind is not SourceKind.ROWS and not is_there:
        raise Refusal(f"{typed} does not exist, neither here nor beside the agent")
    return {"scenarios": source}


def _example(rows: Rows, fields: tuple[str, ...]) -> str:
    """Show a row's fields; of further columns, which may hold anything, the names."""
    shown = str({name: rows.example[name] for name in fields})
    further = [str(name) for name in rows.example if name not in fields]
    return f"{shown} and {', '.join(further)}" if further else shown
