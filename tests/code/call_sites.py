"""Compare which method a call enters, as the engine says, with what is labelled.

python tests/code/call_sites.py SOURCES [missed]

``call_sites.jsonl`` has places and answers: of this repository's fixtures, and of real
agents, which SOURCES holds (as ``../shared/corpus/get.py`` makes it). ``oracle.py`` wrote
them. The engine may say nothing (missed), and the label has to be among what it says.
"""

from __future__ import annotations

import ast
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from art_adapt.code.project import Project
from art_adapt.code.resolution import resolve
from art_adapt.code.session import Session
from art_adapt.code.tables import resolve_in_tables
from art_adapt.source import read_source

ROWS = Path(__file__).with_suffix(".jsonl")


@dataclass(frozen=True)
class Site:
    """A call: where the name of its method ends, and the function that it enters."""

    folder: str
    file: str
    line: int
    column: int
    enters: str


def sites() -> Iterator[Site]:
    for row in map(json.loads, ROWS.read_text().splitlines()):
        file, line, column = row["at"].rsplit(":", 2)
        yield Site(row["in"], file, int(line), int(column), row["enters"])


def judged(root: Path, rows: Iterable[Site]) -> Iterator[tuple[Site, str, set[str]]]:
    """Yield each call of one folder with ``found``, ``missed`` or ``wrong``."""
    session = Session()
    by_file: dict[str, list[Site]] = {}
    for row in rows:
        by_file.setdefault(row.file, []).append(row)
    for file, inside in by_file.items():
        project = Project.of([read_source(root / file)], {}, session)
        syntax = project.files[root / file]
        methods = {
            (node.func.end_lineno, node.func.end_col_offset): node.func
            for node in syntax.nodes
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        }
        for row in inside:
            method = methods[row.line, row.column]
            found = resolve(project, syntax, method)
            found = found or resolve_in_tables(project, syntax, method)
            said = {f"{path.relative_to(root)}:{name}" for path, name in found}
            is_found = row.enters in said
            yield row, "found" if is_found else "wrong" if said else "missed", said


def main() -> None:
    sources, shown = Path(sys.argv[1]), sys.argv[2:]
    by_folder: dict[str, list[Site]] = {}
    for site in sites():
        by_folder.setdefault(site.folder, []).append(site)
    total: Counter[str] = Counter()
    for folder, rows in by_folder.items():
        places = (Path(folder), sources / folder, sources.parent / "pypi" / folder)
        root = next((each.resolve() for each in places if each.is_dir()), None)
        if root is None:
            print(f"{folder}: not there")
            continue
        told: Counter[str] = Counter()
        for row, verdict, said in judged(root, rows):
            told[verdict] += 1
            if verdict in ("wrong", *shown):
                print(f"  {verdict} {row.file}:{row.line} {row.enters} {said or ''}")
        print(folder, dict(told), flush=True)
        total += told
    share = total["found"] / max(total.total(), 1)
    print(f"{dict(total)}: {share:.1%} found of {total.total()}")


if __name__ == "__main__":
    main()
