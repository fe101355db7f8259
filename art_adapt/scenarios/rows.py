"""Loads scenarios: JSON lines, CSV, a saved dataset, a list in a Python module."""

from __future__ import annotations

import csv
import hashlib
import importlib
import json
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from importlib.util import resolve_name
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pydantic
from pydantic_core import ErrorDetails

from art_adapt.json_lines import LineError, json_lines
from art_adapt.scenarios.source_kind import SourceKind, source_kind
from art_adapt.stops import Stop

FEW = 20  # validation scenarios
Json = dict[str, Any]


class Scenario(pydantic.BaseModel):
    """What one episode starts from. Further keys of a row are kept, for rewards.

    ``ASIDE``: fields that make no other scenario.
    """

    ASIDE: ClassVar[frozenset[str]] = frozenset()
    model_config = pydantic.ConfigDict(extra="allow")


class RecordedRequest(Scenario):
    """A request that an agent has made, as chat logs and fine-tuning files hold it.

    Attributes:
        messages: up to the completion. Where a row's last message is an assistant's,
            that is the ``reference``.
        tools: that the request offered. None of them runs.
        model: that was asked; only ``evaluate`` needs it, for the production model.
        reference: the completion that the request got, if it is known: a judge is shown
            it, and a reward function can compare with it.
    """

    ASIDE: ClassVar[frozenset[str]] = frozenset({"reference", "model"})
    messages: list[Json] = pydantic.Field(min_length=1)
    tools: list[Json] | None = None
    model: str = ""
    reference: Any = None

    @pydantic.model_validator(mode="before")
    @classmethod
    def _answered(cls, row: Any) -> Any:
        """Take a row's own answer off its messages."""
        messages = row.get("messages") if isinstance(row, dict) else None
        if not isinstance(messages, list) or not messages:
            return row
        last = messages[-1]
        if not isinstance(last, dict) or last.get("role") != "assistant":
            return row
        return {"reference": last, **row, "messages": messages[:-1]}


S = TypeVar("S", bound=pydantic.BaseModel)
T = TypeVar("T")
# A place for messages, and the row itself.
Rows = Iterator[tuple[str, Any]]


def source_beside(module: Mapping[str, Any]) -> str:
    """Return the ``SCENARIOS`` of a train module, given its ``globals()``.

    A path is beside the module, and a relative module's name is of its package.
    """
    source = str(module["SCENARIOS"])
    if source_kind(source) is not SourceKind.ROWS:
        return str(Path(module["__file__"]).parent / source)
    if source.startswith("."):
        return resolve_name(source, module["__package__"])
    return source


def load_scenarios(scenario: type[S], source: str) -> list[S]:
    """Read ``source`` as scenarios of the class ``scenario``.

    ``source`` is a path or ``module:NAME``; ``source_kind`` tells which.

    Raises:
        SystemExit: it is missing, or a row is no such scenario; with its place.
    """
    try:
        rows = read_rows(scenario, source)
        return [_scenario(scenario, place, row) for place, row in rows]
    except ValueError as error:
        raise Stop(str(error), at=getattr(error, "place", "")) from error


def read_rows(scenario: type[pydantic.BaseModel], source: str) -> Rows:
    """Read the rows of ``source``, each with its place, whether they fit or not.

    Raises:
        SystemExit: it is missing; the message says which keys ``scenario`` wants.
        ValueError: when the rows are read, one is no JSON; with its place.
    """
    kind = source_kind(source)
    if kind is not SourceKind.ROWS and not Path(source).exists():
        raise SystemExit(f"{source} is missing: {_wanted(kind, scenario)}")
    return _READERS[kind](source)


def _scenario(scenario: type[S], place: str, row: Any) -> S:
    try:
        return scenario.model_validate(row, from_attributes=True)
    except pydantic.ValidationError as error:
        keys = ", ".join(scenario.model_fields)
        what = f"not a scenario, whose keys are {keys}: {misfit(error)}"
        raise LineError(place, what) from error


def misfit(error: pydantic.ValidationError) -> str:
    """Say on one line why a row is no scenario: each key, and what is wrong with it."""
    return "; ".join(map(_misfit, error.errors()))


def _misfit(each: ErrorDetails) -> str:
    """Say what is wrong with a key; of one that is missing, which key of the row is nearly it."""
    row = each["input"]
    if not each["loc"] and not isinstance(row, dict):
        return f"a row is a JSON object with these keys, and this is a {type(row).__name__}"
    name = ".".join(map(str, each["loc"]))
    near: list[str] = []
    if each["type"] == "missing" and isinstance(row, dict):
        near = get_close_matches(name.rpartition(".")[2], list(map(str, row)), 1)
    said = f"{name or 'the row'}: {each['msg']}"
    return f"{said} (the row has {near[0]})" if near else said


def split(scenarios: list[T], most: int | None = None) -> tuple[list[T], list[T]]:
    """Hold out a fifth for validation, the same ones in every run.

    With more than ``FEW``, validation takes too much of a run; with fewer, the difference
    between two checkpoints is mostly noise. They are those with the lowest hashes, wherever
    they stand: added rows change few of them. ``most``: no more than these; None: ``FEW``.
    """
    placed = {identity(each): each for each in scenarios}
    held_out = min(len(placed) // 5, FEW if most is None else most)
    validation = [placed[each] for each in sorted(placed, key=_hash)[:held_out]]
    rest = without(validation, scenarios)
    return (rest, validation) if rest else (scenarios, [])


def without(held_out: list[T], scenarios: list[T]) -> list[T]:
    """Return the scenarios that are not held out: rows with equal fields are one scenario."""
    known = set(map(identity, held_out))
    return [each for each in scenarios if identity(each) not in known]


def identity(scenario: Any) -> str:
    """Return what tells a scenario from others: what an episode starts from, as text.

    That is its declared fields, if it has any. An id or a reference beside the same question
    makes no other scenario.
    """
    if not isinstance(scenario, pydantic.BaseModel):
        return repr(scenario)
    declared = set(type(scenario).model_fields) - getattr(scenario, "ASIDE", set())
    dumped = scenario.model_dump(include=declared or None)
    return json.dumps(dumped, sort_keys=True, default=_spelled)


def _spelled(value: Any) -> Any:
    """Spell what JSON has no word for as it is in every process."""
    if isinstance(value, set | frozenset):
        return sorted(map(repr, value))
    kind: Any = type(value)
    return vars(value) if kind.__repr__ is object.__repr__ else repr(value)


def digest(scenarios: Iterable[Any]) -> str:
    """Return a short name of a set of scenarios, in whatever order."""
    text = "\n".join(sorted(map(identity, scenarios)))
    return _hash(text)[:12]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _wanted(kind: SourceKind, scenario: type[pydantic.BaseModel]) -> str:
    keys = list(scenario.model_fields)
    if kind is SourceKind.CSV:
        return f"write a CSV file with the header {','.join(keys)}"
    if kind is SourceKind.DATASET:
        return f"save a dataset there, with the columns {', '.join(keys)}"
    if not keys:
        return "write a line with {} for each episode: the agent takes nothing from it"
    return f"write one JSON object per line, with the keys {', '.join(keys)}"


def _csv(source: str) -> Rows:
    delimiter = "\t" if source.lower().endswith(".tsv") else ","
    with Path(source).open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file, delimiter=delimiter)
        for row in rows:
            yield f"{source}:{rows.line_num}", row


def _python_object(source: str) -> Rows:
    module, _, name = source.partition(":")
    try:
        rows: Iterable[Any] = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise SystemExit(f"{source}: {error}") from error
    for number, row in enumerate(rows):
        yield f"{source}[{number}]", row


def _dataset(source: str) -> Rows:
    datasets: Any = importlib.import_module("datasets")
    for number, row in enumerate(datasets.load_from_disk(source)):
        yield f"{source}, row {number}", row


_READERS = {
    SourceKind.JSONL: json_lines,
    SourceKind.CSV: _csv,
    SourceKind.ROWS: _python_object,
    SourceKind.DATASET: _dataset,
}
