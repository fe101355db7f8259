"""Finds what a repository has for a training run: scenarios, and functions that score.

Nothing of it is used unasked: the guide offers it, with its place.
"""

from __future__ import annotations

import ast
import csv
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from art_adapt import hooks_file
from art_adapt.code.nodes import FunctionNode
from art_adapt.code.packages import package_depth
from art_adapt.code.syntax import Syntax
from art_adapt.code.trials import is_test
from art_adapt.errors import Refusal
from art_adapt.folders import files_in
from art_adapt.reward_function import takes_a_trajectory_and_a_scenario
from art_adapt.scenarios.reward_keys import keys_read
from art_adapt.source import Place, read_source
from art_adapt.survey.model import EntryPoint
from art_adapt.words import EXPECTED, SCORED, SCORES

MOST_LISTED = 50_000
MOST_FILES = 3000  # of a project that are looked at
LONGEST = 20_000_000  # bytes of a file with rows
ROWS = (".jsonl", ".ndjson", ".csv", ".tsv")
SCORING = re.compile(rf"def\s+(?:\w*_)?(?:{SCORES})\w*\s*\(".encode())
NAMES = re.compile(rf"(?:.*_)?(?:{SCORES})\w*")
UNREADABLE = (OSError, ValueError, RecursionError, csv.Error, Refusal)


@dataclass(frozen=True)
class Rows:
    """Rows that scenarios can be made of.

    ``source``: as the option takes it, from the agent's folder. ``expected``: the column
    that seems to say what is right.
    """

    place: Place
    source: str
    example: dict[str, Any]
    expected: str | None


@dataclass(frozen=True)
class Scoring:
    """A function that scores. ``name`` is what --reward takes, if it can be taken.

    ``reads``: the keys of a scenario without which it raises.
    """

    place: Place
    signature: str
    name: str | None
    reads: frozenset[str]


def project_files(agent: Path) -> tuple[Path, ...]:
    """List the files of the project that an agent belongs to: of its repository, else beside it."""
    start = Path(os.path.abspath(agent)).parent
    marks = (".git", "pyproject.toml")
    above = (f for f in (start, *start.parents) if any((f / m).exists() for m in marks))
    root = next(above, None)
    if root is None:  # what lies below may be a whole home
        return tuple(p for p in sorted(start.iterdir()) if _may_help(p.name))
    found = islice(files_in([root], _may_help), MOST_LISTED)
    # The nearest first: what lies far away in a large repository is another agent's.
    near = sorted(found, key=lambda p: -len(os.path.commonpath([start, p.absolute()])))
    return tuple(near[:MOST_FILES])


def _may_help(name: str) -> bool:
    return name.endswith((*ROWS, ".py"))


@cache  # a question is looked at more than once
def rows_for(
    fields: tuple[str, ...], entry: EntryPoint, files: tuple[Path, ...]
) -> list[Rows]:
    """Find rows that have all fields of a scenario: in files, and in lists in modules."""
    if not fields:
        return []
    found: list[Rows] = []
    for path in files:
        try:
            if path.stat().st_size <= LONGEST:
                found += _rows_in(path, fields, entry)
        except UNREADABLE:
            continue  # it is nothing to offer
    return sorted(found, key=lambda rows: (rows.expected is None, len(rows.source)))


def _rows_in(path: Path, fields: Sequence[str], entry: EntryPoint) -> Iterator[Rows]:
    if path.suffix == ".py":
        yield from _lists_in(path, fields, entry)
        return
    row = _first_row(path)
    if row is not None and row.keys() >= set(fields):
        source = Path(os.path.relpath(path, entry.home.parent)).as_posix()
        yield Rows(Place(path, 1), source, row, _expected(row, fields))


def _first_row(path: Path) -> dict[str, Any] | None:
    if path.suffix in (".csv", ".tsv"):
        with path.open(encoding="utf-8-sig", newline="") as file:
            delimiter = "\t" if path.suffix == ".tsv" else ","
            return next(iter(csv.DictReader(file, delimiter=delimiter)), None)
    with path.open(encoding="utf-8") as file:
        line = next((line for line in file if line.strip()), "null")
    row = json.loads(line)
    return row if isinstance(row, dict) else None


def _lists_in(path: Path, fields: Sequence[str], entry: EntryPoint) -> Iterator[Rows]:
    """Yield the lists of dicts at the top of a module."""
    data = path.read_bytes()
    if not all(field.encode() in data for field in fields):
        return
    module = _module_name(path, entry)
    if module is None:
        return
    for node in read_source(path).tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.List() as value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.List() as value):
                pass
            case _:
                continue
        try:
            row = ast.literal_eval(value.elts[0])
        except (ValueError, TypeError, IndexError, RecursionError):
            continue
        if isinstance(row, dict) and row.keys() >= set(fields):
            place = Place(path, node.lineno)
            yield Rows(place, f"{module}:{name}", row, _expected(row, fields))


def _expected(row: dict[str, Any], fields: Sequence[str]) -> str | None:
    others = [name for name in row if name not in fields]
    return next(
        (n for n in others for part in EXPECTED if part in str(n).lower()), None
    )


@cache
def scoring_functions(entry: EntryPoint, files: tuple[Path, ...]) -> list[Scoring]:
    """Find functions that score, those first that can be the reward as they are."""
    found: list[Scoring] = []
    for path in files:
        below = os.path.relpath(path, entry.home.parent).replace(os.sep, "/")
        if path.suffix != ".py" or is_test(Path(below)) or path.name == hooks_file.NAME:
            continue
        try:
            if SCORING.search(path.read_bytes()):
                found += _scoring_in(path, entry)
        except UNREADABLE:
            continue
    return sorted(found, key=lambda each: each.name is None)


def _scoring_in(path: Path, entry: EntryPoint) -> Iterator[Scoring]:
    module = _module_name(path, entry)
    syntax = Syntax.of(read_source(path))
    for node in syntax.source.tree.body:
        if not isinstance(node, FunctionNode):
            continue
        if not NAMES.fullmatch(node.name):
            continue
        first = next((argument.arg for argument in node.args.args), "")
        takes = takes_a_trajectory_and_a_scenario(node) and first in SCORED
        yield Scoring(
            Place(path, node.lineno),
            f"{node.name}({ast.unparse(node.args)})",
            f"{module}:{node.name}" if takes and module else None,
            frozenset(keys_read(syntax, node.name)) if takes else frozenset(),
        )


def _module_name(path: Path, entry: EntryPoint) -> str | None:
    """Return how a train module beside the agent imports a file."""
    root = entry.home.parents[package_depth(entry.package)]
    if path.is_relative_to(root):
        parts = path.relative_to(root).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        if parts and all(part.isidentifier() for part in parts):
            return ".".join(parts)
    return None
