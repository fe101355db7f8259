"""Gives what is taken over from the agent's code names that a train module does not use itself."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from art_adapt.code.importable import ImportedName
from art_adapt.survey.model import Construction, Statement


def taken_over(
    made: Construction, taken: Mapping[str, ImportedName | None]
) -> Construction:
    """Return a construction with names that are free in a module which binds ``taken``.

    ``agent = Agent('English')`` becomes ``given_agent = Agent('English')``; an import gets
    another name in the same way, unless the module imports the same under that name.
    """
    assigned = {name for each in made.statements for name in each.binds}
    imported = {i.bound for i in made.imports if taken.get(i.bound) != i}
    new = {each: f"given_{each}" for each in (assigned | imported) & taken.keys()}
    if not new:
        return made
    return replace(
        made,
        imports=tuple(_imported_as(each, new) for each in made.imports),
        statements=tuple(_renamed_statement(each, new) for each in made.statements),
        value=_renamed(made.value, new),
    )


def _imported_as(imported: ImportedName, new: Mapping[str, str]) -> ImportedName:
    return replace(imported, alias=new.get(imported.bound, imported.alias))


def _renamed_statement(statement: Statement, new: Mapping[str, str]) -> Statement:
    binds = frozenset(new.get(each, each) for each in statement.binds)
    return replace(statement, text=_renamed(statement.text, new), binds=binds)


def _renamed(text: str, new: Mapping[str, str]) -> str:
    """Rename variables in a statement or an expression, and leave its layout as it is."""
    tree = ast.parse(text)
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id in new]
    if any(isinstance(node, ast.JoinedStr) for node in ast.walk(tree)):
        for node in found:  # before Python 3.12 names in f-strings have no place
            node.id = new[node.id]
        return ast.unparse(tree)
    lines = [line.encode() for line in text.splitlines()]
    for node in sorted(found, key=lambda n: (n.lineno, n.col_offset), reverse=True):
        line, start = lines[node.lineno - 1], node.col_offset
        end = start + len(node.id.encode())
        lines[node.lineno - 1] = line[:start] + new[node.id].encode() + line[end:]
    return b"\n".join(lines).decode()
