"""``art-adapt scenarios``: its options and exit codes."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from art_adapt.commands import command_app
from art_adapt.commands.train_module import (
    WITH_MODULE,
    ModuleOption,
    only_train_module,
)
from art_adapt.errors import Refusal
from art_adapt.installing import pip_install
from art_adapt.scenarios.source_kind import SourceKind, source_kind

FINE, FOUND = 0, 1
app = command_app()


@app.command()
def scenarios(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]",
            help="A JSONL or CSV file, a dataset's folder, or module:NAME; else the "
            "train module's own.",
        ),
    ] = None,
    module: ModuleOption = None,
    validation: Annotated[
        str | None, typer.Option(help="A separate source for validation.")
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print everything as one JSON object.")
    ] = False,
) -> None:
    """Check scenarios against a train module's Scenario, before a run reads them.

    Reports rows that do not fit and why, duplicates, the lengths of fields and what is
    held out for validation; shows some rows. Of the train module only its
    Scenario runs. Nothing is changed, and no variations are made.

    Exit codes: 0 all rows are scenarios, each once; 1 something found; 2 could not check.
    """
    path = module or only_train_module(WITH_MODULE)
    needs_pydantic()
    from art_adapt.report.scenarios import scenarios_as_json, show_scenarios
    from art_adapt.scenarios.check import check_scenarios
    from art_adapt.scenarios.declared import constant, declared_scenario

    scenario = declared_scenario(path)
    given = source or own_source(path)
    if source_kind(given) is SourceKind.ROWS:
        raise Refusal(
            f"cannot check {given} without importing it",
            next_step="run art-adapt doctor, which imports the train module and checks its scenarios",
        )
    try:
        report = check_scenarios(
            scenario,
            given,
            validation,
            constant(path, "VALIDATION_SCENARIOS"),
            path,
        )
    except (SystemExit, OSError) as error:
        raise Refusal(str(error)) from error
    if json:
        print(scenarios_as_json(report))
    else:
        show_scenarios(report, given, sys.stdout)
    raise typer.Exit(FINE if report.is_fine else FOUND)


def needs_pydantic() -> None:
    """Raise a Refusal if pydantic is not installed."""
    if not find_spec("pydantic"):
        raise Refusal(
            "reading scenarios needs pydantic, which is not installed",
            next_step=pip_install("train"),
        )


def own_source(path: Path) -> str:
    """Return what a train module itself would read, which is beside it."""
    from art_adapt.scenarios.declared import constant

    said = constant(path, "SCENARIOS")
    if not isinstance(said, str):
        raise Refusal(
            "SCENARIOS is not a string in this train module",
            next_step="name a file",
            path=path,
        )
    is_module = source_kind(said) is SourceKind.ROWS
    return said if is_module else str(path.parent / said)
