"""Gives what is taken over from the agent's code names that a train module does not use itself."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from art_adapt.survey.model import Construction
from art_adapt.train_module.fill import names_of_template
from art_adapt.train_module.layout import double_quoted


def taken_over(made: Construction, *, whole: bool = False) -> Construction:
    """Return a construction as a train module spells it, with names that are free there.

    ``agent = Agent('English')`` becomes ``given_agent = Agent("English")``; an import gets
    another name in the same way. ``whole``: it makes the agent itself, which keeps its name.
    """
    made = replace(
        made,
        statements=tuple(map(double_quoted, made.statements)),
        value=double_quoted(made.value),
    )
    assigned = {name for text in made.statements for name in _assigned(text)}
    imported = {(name or module).split()[-1] for module, name in made.names}
    taken = names_of_template() - ({"agent"} if whole else set())
    new = {each: f"given_{each}" for each in (assigned | imported) & taken}
    if not new:
        return made
    return replace(
        made,
        names=tuple(_imported_as(*each, new) for each in made.names),
        statements=tuple(_renamed(text, new) for text in made.statements),
        value=_renamed(made.value, new),
    )


def _assigned(text: str) -> set[str]:
    return {
        node.id
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _imported_as(module: str, name: str, new: Mapping[str, str]) -> tuple[str, str]:
    text = name or module
    local = text.split()[-1]
    if local not in new:
        return module, name
    renamed = f"{text.split()[0]} as {new[local]}"
    return (module, renamed) if name else (renamed, "")


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
