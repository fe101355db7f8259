"""Say what was written or undone, and what to do next."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from shlex import join, quote
from typing import TextIO

from art_adapt.backends import Backend
from art_adapt.decisions import Training
from art_adapt.json_lines import json_lines
from art_adapt.paths import at, shown
from art_adapt.plan import Plan
from art_adapt.recipe.fields import scenario_fields, to_fill_in
from art_adapt.report.lines import write
from art_adapt.report.training import training_lines
from art_adapt.scenarios.source_kind import SourceKind, source_kind
from art_adapt.seen.notes import seen_file
from art_adapt.settings import TrainingOptions
from art_adapt.survey.model import EntryPoint
from art_adapt.train_file import train_module_path
from art_adapt.undo import Undo


def say_written(plan: Plan) -> None:
    changed = [edit for edit in plan.edits if edit.changes]
    if not changed:
        print("\nNothing to change: everything is already recorded.")
        return
    print()
    for edit in changed:
        done = "wrote" if edit.before is None else "edited"
        print(f"{done if edit.after is not None else 'removed'} {shown(edit.path)}")
    training, entry = plan.decisions.training, plan.decisions.entry
    for obstacle in plan.survey.obstacles if training is not None else ():
        if obstacle.fails_import:
            print(f"\nFirst: {at(obstacle.place)}: {obstacle.instead}")
    if training is not None and entry is not None:
        _say_next(training, entry)


def say_how_to_write(arguments: Sequence[str]) -> None:
    """Say which command writes what ``--diff`` has shown, and which shows all of it."""
    without = [each for each in arguments if each != "--diff"]
    print(f"\nNext: write it, with {join(['art-adapt', *without])}")
    print("In a pipe, --diff prints the whole patch, including the generated files.")


def _say_next(training: Training, entry: EntryPoint) -> None:
    module = shown(train_module_path(entry.home))
    for parameter in to_fill_in(entry):
        print(f"\nFill in: {parameter.name}, in episode() of {module}")
    if has_scenarios(training, entry):
        print(f"\nNext: read {module}, and try it here:")
        print(f"  art-adapt rehearse {quote(module)}")
        on_gpu = training.backend == Backend.LOCAL
        print(f"Then run it{' on a GPU' * on_gpu}.")
        return
    kind, scenarios = source_kind(training.scenarios), _scenarios(training, entry)
    if missing := lacking(scenarios, kind, entry):
        print(f"\nThe rows of {shown(scenarios)} lack {' and '.join(missing)}.")
    names = [field.name for field in scenario_fields(entry)]
    example = ", ".join(f'"{name}": ...' for name in names)
    rows = {
        SourceKind.JSONL: f"one scenario per line: {{{example}}}"
        if names
        else "a line with {} for each episode: the agent takes nothing from it",
        SourceKind.CSV: f"first the line {','.join(names)}, then one scenario per line",
        SourceKind.DATASET: f"a saved dataset with the columns {', '.join(names)}",
    }
    if entry.is_request and kind is SourceKind.JSONL:
        agent = shown(entry.home)
        print(
            f"\nNext: record requests: art-adapt capture --agent {quote(agent)} -- COMMAND"
        )
        print("COMMAND runs your agent. Or read its logs: art-adapt logs EXPORT")
    else:
        print(f"\nNext: write {shown(scenarios)}, {rows[kind]}")
    print(f"Then: art-adapt rehearse {quote(module)}")


def has_scenarios(training: Training, entry: EntryPoint) -> bool:
    """Tell whether there are scenarios for this entry point: a module's are taken to be."""
    kind, scenarios = source_kind(training.scenarios), _scenarios(training, entry)
    return kind is SourceKind.ROWS or (
        scenarios.exists() and not lacking(scenarios, kind, entry)
    )


def lacking(scenarios: Path, kind: SourceKind, entry: EntryPoint) -> list[str]:
    """Return what an episode needs and the first row has not: it was written for another one."""
    if kind is not SourceKind.JSONL:
        return []
    with suppress(OSError, ValueError):  # the run says what is wrong with the file
        _, row = next(json_lines(scenarios), ("", None))
        if isinstance(row, dict):
            needed = (each for each in scenario_fields(entry) if each.default is None)
            return [each.name for each in needed if each.name not in row]
    return []


def _scenarios(training: Training, entry: EntryPoint) -> Path:
    return entry.home.parent / training.scenarios


def say_how_to_train(training: Training, entry: EntryPoint) -> None:
    """Say how to train for real, where no rehearsal has said it."""
    module = train_module_path(entry.home)
    print()
    write([*training_lines(module, Backend(training.backend))], sys.stdout)


def _rows_and_runs(undo: Undo) -> list[tuple[Path, str]]:
    """Return what art-adapt has written beside the code, and does not take back."""
    changed = [edit.path for edit in undo.edits if edit.changes]
    rows = [path.with_name(TrainingOptions.scenarios) for path in changed]
    runs = [seen_file(path).parent for path in changed]
    told = [(path, "your rows") for path in rows]
    told += [(path, "what watched runs have shown") for path in runs]
    return [each for each in dict.fromkeys(told) if each[0].exists()]


def say_undone(undo: Undo, stream: TextIO, *, would: bool = False) -> None:
    """Say what an undo has changed and left, or ``would`` change and leave."""
    back, away, left = ("restored", "removed", "left")
    if would:
        back, away, left = ("would restore", "would remove", "would leave")
    for edit in undo.edits:
        if edit.changes:
            done = back if edit.after is not None else away
            stream.write(f"{done} {shown(edit.path)}\n")
    kept = _rows_and_runs(undo) if undo.changes else []
    for path, reason in (*undo.left, *kept):
        stream.write(f"{left} {shown(path)}: {reason}\n")
    if not undo.changes:
        stream.write("Nothing to undo.\n")
