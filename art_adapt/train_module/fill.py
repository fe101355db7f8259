"""Fills in ``template.py``, which is itself a train module that ruff reads.

A comment at the end of a statement's first line says what happens to the statement (to
the line, where no statement begins on it): ``#: name`` keeps it if the condition
``name`` holds, ``#: <name>`` puts the text ``name`` in its place. A constant at the top
gets its value by its name.
"""

from __future__ import annotations

import ast
import builtins
import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from art_adapt.code.importable import ImportedName
from art_adapt.train_module.imports import is_standard, render_imports

TEMPLATE = Path(__file__).with_name("template.py")
MARK = re.compile(r"  #: (<?)(\w+)>?$")
FOR_LINTERS = re.compile(r"^(?:# (?:mypy|ruff): .*\n)+")


def fill(
    values: Mapping[str, str],
    texts: Mapping[str, str],
    conditions: Mapping[str, bool],
    libraries: Sequence[ImportedName],
) -> str:
    """Return the template's text, filled in.

    Args:
        values: of the constants, as Python expressions.
        texts: in the place of whole statements; an empty one removes its statement.
        conditions: by name, whether statements that are marked with it stay.
        libraries: what the module imports beside the template's own.
    """
    source = _text()
    lines = source.split("\n")
    ends, constants = _statements(source)
    imports = dict(_imports(source))
    group: dict[ImportedName, str] = {}  # with their comments
    kept: list[str] = []
    number = 1
    while number <= len(lines):
        line, last = lines[number - 1], number
        mark = MARK.search(line)
        if number in imports:
            if mark is None or conditions[mark[2]]:
                text = line[: mark.start()] if mark else line
                group[imports[number]] = text.partition("  # ")[2]
            if lines[number] == "":
                standard = is_standard(next(iter(group)))
                more = [each for each in libraries if is_standard(each) is standard]
                kept += render_imports([*group, *more], group)
                group = {}
            number += 1
            continue
        if mark is None:
            kept.append(_with_value(line, values.get(constants.get(number, ""))))
        elif mark[1]:
            last = ends.get(number, number)
            kept += [texts[mark[2]]] if texts[mark[2]] else []
        elif conditions[mark[2]]:
            line = line[: mark.start()]
            kept.append(_with_value(line, values.get(constants.get(number, ""))))
        else:
            last = ends.get(number, number)
        if mark is not None and kept[-1:] == [""] and lines[last] == "":
            kept.pop()  # of one that stood alone, a blank line goes as well
        number = last + 1
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(kept))


def _imports(source: str) -> Iterator[tuple[int, ImportedName]]:
    """Yield the template's imports of libraries, by line: what stands before the agent's."""
    lines = source.split("\n")
    before = takewhile(
        lambda node: not lines[node.lineno - 1].endswith("<local_imports>"),
        ast.parse(source).body,
    )
    for node in before:
        match node:
            case ast.Import(names=[alias]):
                yield node.lineno, ImportedName(alias.name)
            case ast.ImportFrom(module=str(module), names=[alias]) if (
                module != "__future__"
            ):
                yield node.lineno, ImportedName(module, alias.name)


def _with_value(line: str, value: str | None) -> str:
    """Give a constant its value; its comment stays."""
    if value is None:
        return line
    return re.sub(r"= .*?(?=  #|$)", lambda _: f"= {value}", line)


def names_of_template() -> dict[str, ImportedName | None]:
    """Return the names that a train module binds, each with the library's name that it imports.

    The agent's own names must be others.
    """
    # Names of Python's, of the reward function, and of episode()'s own.
    own = {*dir(builtins), "score", "agent", "client", "endpoint", "scenario"}
    for node in ast.parse(_text()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            own.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            own |= {target.id for target in targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.Import | ast.ImportFrom):
            own |= {alias.asname or alias.name for alias in node.names}
    imported = {each.bound: each for _, each in _imports(_text())}
    return {name: imported.get(name) for name in own - {"run_agent"}}


@functools.cache
def _text() -> str:
    return FOR_LINTERS.sub("", TEMPLATE.read_text(encoding="utf-8"))


def _statements(source: str) -> tuple[dict[int, int], dict[int, str]]:
    """Return the last line of each statement by its first, and constants by line."""
    ends: dict[int, int] = {}
    constants: dict[int, str] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt):
            ends.setdefault(node.lineno, node.end_lineno or node.lineno)
        if isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            if isinstance(target, ast.Name):
                constants[node.lineno] = target.id
    return ends, constants
