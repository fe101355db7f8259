"""Show on a terminal, and as JSON, what was found in scenarios."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from textwrap import shorten
from typing import TextIO

from art_adapt.printable import counted
from art_adapt.report.lines import Line, write
from art_adapt.scenarios.check import ScenarioReport

MOST = 20  # rows that are listed of each kind


def scenarios_as_json(report: ScenarioReport) -> str:
    return json.dumps(asdict(report), indent=2)


def show_scenarios(report: ScenarioReport, source: str, stream: TextIO) -> None:
    """Write what was found, the wrong rows first."""
    fit = report.rows - len(report.wrong)
    stream.write(f"{source}: {counted(report.rows, 'row')}, {fit} valid\n")
    write(list(_lines(report)), stream)


def _lines(report: ScenarioReport) -> Iterator[Line]:
    for wrong in report.wrong[:MOST]:
        yield Line("wrong", wrong.place, wrong.reason)
    if (more := len(report.wrong) - MOST) > 0:
        yield Line("wrong", f"and {more} more")
    for places in report.doubles[:MOST]:
        yield Line("twice", ", ".join(places), "the same fields")
    for place in report.leaked[:MOST]:
        yield Line("leaked", place, "held out for validation, and trained on as well")
    for name, found in report.lengths.items():
        said = f"{found.shortest} to {found.longest} characters, half of them at most {found.median}"
        if found.shortest == found.longest:
            said = counted(found.shortest, "character")
        yield Line(name, said)
    if report.further:
        keys = ", ".join(
            f"{key} ({counted(count, 'row')})" for key, count in report.further.items()
        )
        yield Line("further", keys, "kept, for rewards")
    for key, where in report.unpassed.items():
        fix = (
            f"to pass it, add {key} to Scenario, and {key}=scenario.{key} in episode()"
        )
        yield Line("not passed", f"{where} takes {key}, too", fix)
    yield Line("split", f"{report.training} to train on, {report.validation} held out")
    for place, row in report.shown:
        yield Line("row", place, shorten(json.dumps(row, ensure_ascii=False), 200))
