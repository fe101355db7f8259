"""Looks at scenarios before a run does: rows that do not fit, doubles, lengths, leaks."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import pydantic

from art_adapt.scenarios.reward_keys import keys_of_reward
from art_adapt.scenarios.rows import identity, misfit, read_rows, split
from art_adapt.scenarios.unpassed import unpassed


@dataclass(frozen=True)
class Wrong:
    """A row that is no scenario, and why."""

    place: str
    reason: str


@dataclass(frozen=True)
class Lengths:
    """How long the values of a field are, in characters."""

    shortest: int
    median: int
    longest: int


@dataclass(frozen=True)
class ScenarioReport:
    """What was found in a source of scenarios.

    Attributes:
        rows: how many there are, wrong ones too.
        doubles: places of rows with the same fields, further keys aside.
        lengths: by field.
        further: how many rows have each key that is no field.
        unpassed: of these, what the agent has a parameter for, and where.
        training, validation: how many a run would take for each.
        leaked: places of validation rows that are trained on as well.
        shown: some rows, with their places.
    """

    rows: int
    wrong: tuple[Wrong, ...]
    doubles: tuple[tuple[str, ...], ...]
    lengths: dict[str, Lengths]
    further: dict[str, int]
    unpassed: dict[str, str]
    training: int
    validation: int
    leaked: tuple[str, ...]
    shown: tuple[tuple[str, dict[str, Any]], ...]

    @property
    def is_fine(self) -> bool:
        return bool(self.rows) and not (self.wrong or self.doubles or self.leaked)


SHOWN = 3


def check_scenarios(
    scenario: type[pydantic.BaseModel],
    source: str,
    validation: str | None,
    held_out: int | None,
    module: Path,
) -> ScenarioReport:
    """Check the rows of ``source`` against a train module's ``Scenario``.

    ``validation``: a source of its own for it; otherwise some of the rows are held out, at
    most ``held_out``, as a run does. ``module``: the train module.

    Raises:
        SystemExit: a source is missing.
    """
    needed = keys_of_reward(module)
    fitting, wrong = _read(scenario, source, needed)
    places = defaultdict(list)
    for place, row in fitting:
        places[identity(row)].append(place)
    training = [row for _, row in fitting]
    leaked: tuple[str, ...] = ()
    if validation is None:
        training, kept = split(training, held_out)
    else:
        beside, more = _read(scenario, validation, needed)
        wrong, kept = [*wrong, *more], [row for _, row in beside]
        leaked = tuple(place for place, row in beside if identity(row) in places)
    further = Counter(key for _, row in fitting for key in row.model_extra or {})
    return ScenarioReport(
        rows=len(fitting) + len(wrong),
        wrong=tuple(wrong),
        doubles=tuple(tuple(each) for each in places.values() if len(each) > 1),
        lengths={
            name: _lengths(given)
            for name in scenario.model_fields
            if (given := _given(fitting, name))
        },
        further=dict(further),
        unpassed=unpassed(module, further),
        training=len(training),
        validation=len(kept),
        leaked=leaked,
        shown=tuple((p, r.model_dump(mode="json")) for p, r in fitting[:SHOWN]),
    )


def _given(rows: Sequence[tuple[str, pydantic.BaseModel]], name: str) -> list[Any]:
    """Return what rows have under a field, without numbers, switches and None: they have no length."""
    values = (getattr(row, name) for _, row in rows)
    return [v for v in values if v is not None and not isinstance(v, int | float)]


def _read(
    scenario: type[pydantic.BaseModel], source: str, needed: Mapping[str, str]
) -> tuple[list[tuple[str, pydantic.BaseModel]], list[Wrong]]:
    """Return the rows that fit and those that do not; after broken JSON none is read.

    ``needed``: the keys that the reward reads, each with its place.
    """
    fitting: list[tuple[str, pydantic.BaseModel]] = []
    wrong: list[Wrong] = []
    try:
        for place, row in read_rows(scenario, source):
            try:
                made = scenario.model_validate(row, from_attributes=True)
            except pydantic.ValidationError as error:
                wrong.append(Wrong(place, misfit(error)))
                continue
            lacks = next((key for key in needed if not hasattr(made, key)), None)
            if lacks is None:
                fitting.append((place, made))
            else:
                reason = f"{lacks} is missing, which {needed[lacks]} reads"
                wrong.append(Wrong(place, reason))
    except ValueError as error:
        place, _, reason = str(error).partition(": ")
        wrong.append(Wrong(place, f"{reason}; nothing after it was read"))
    return fitting, wrong


def _lengths(values: Iterable[Any]) -> Lengths:
    texts = (
        each if isinstance(each, str) else json.dumps(each, default=str)
        for each in values
    )
    found = sorted(map(len, texts))
    return Lengths(found[0], int(median(found)), found[-1])
