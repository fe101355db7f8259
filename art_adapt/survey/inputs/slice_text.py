"""Holds what a slice has taken of a project, and spells it as a train module has it."""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass, field

from art_adapt.code.importable import ImportedName
from art_adapt.code.nodes import FunctionNode, last_name
from art_adapt.code.project import Project
from art_adapt.code.syntax import Syntax


@dataclass
class Slice:
    """The statements and names that a value depends on."""

    project: Project
    agent: Syntax
    imports: dict[ImportedName, None] = field(default_factory=dict)
    statements: list[ast.stmt] = field(default_factory=list)
    # What a train module gives in another way: arguments, and all those of clients.
    supplied: dict[ast.AST, str] = field(default_factory=dict)
    clients: set[ast.AST] = field(default_factory=set)
    of_endpoint: set[ast.AST] = field(default_factory=set)  # of both, what names it
    # Statements that keep something on ``self``, and the variable that they set instead.
    kept: dict[ast.AST, str] = field(default_factory=dict)
    once: set[ast.AST] = field(
        default_factory=set
    )  # statements that all episodes share
    left_out: set[ast.stmt] = field(
        default_factory=set
    )  # which an option has to ask for
    foreign: bool = False  # whether some of it is a library's
    uses_endpoint: bool = False  # whether its text names ``endpoint``


def text_of_slice(place: Syntax, node: ast.stmt | ast.expr, taken: Slice) -> str:
    """Return the source of a node: a statement as its author laid it out, at the first column.

    An expression of several lines becomes one line: it will stand somewhere else.
    """
    if node in taken.supplied:
        taken.uses_endpoint |= node in taken.of_endpoint
        return taken.supplied[node]
    if node in taken.kept:
        assert isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        return f"{taken.kept[node]} = {text_of_slice(place, node.value, taken)}"
    inside = set(ast.walk(node))
    taken.uses_endpoint |= not inside.isdisjoint(taken.of_endpoint)
    if not inside.isdisjoint(taken.clients | taken.supplied.keys()):
        return ast.unparse(_with_supplied(node, taken))
    text = place.source.segment(node)
    if isinstance(node, FunctionNode) and node.decorator_list:
        whole = copy.copy(node)
        whole.lineno = min(each.lineno for each in node.decorator_list)
        text = place.source.segment(whole)
    several = isinstance(node, ast.expr) and "\n" in text
    several |= any(
        isinstance(inner, ast.Constant | ast.JoinedStr)
        and (inner.end_lineno or 0) > inner.lineno
        for inner in ast.walk(node)
    )
    if not text or several or place.source.text.count("\t"):
        return ast.unparse(node)
    first, *rest = text.splitlines()
    moved = (line[min(node.col_offset, _indent(line)) :] for line in rest)
    return "\n".join([first, *moved])


def _with_supplied(node: ast.AST, taken: Slice) -> ast.AST:
    """Return a copy of a node in which a train module's own arguments stand."""
    copied = copy.deepcopy(node)
    for own, new in list(zip(ast.walk(node), ast.walk(copied), strict=True)):
        if isinstance(new, ast.Call) and own in taken.clients:
            new.args, new.keywords = [], [ast.keyword(None, ast.Name("endpoint"))]
            continue
        for name, value in ast.iter_fields(own):
            if isinstance(value, list):
                held = getattr(new, name)
                held[:] = [
                    ast.Name(taken.supplied[old]) if old in taken.supplied else each
                    for old, each in zip(value, held, strict=True)
                ]
            elif value in taken.supplied:
                setattr(new, name, ast.Name(taken.supplied[value]))
    return copied


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def read_from_file(place: Syntax, statement: ast.stmt) -> ast.With | None:
    """Return the block that a statement reads an open file in: ``with open(p) as f: t = load(f)``.

    What other contexts give may not live longer than they do.
    """
    block = place.parents[statement]
    if isinstance(block, ast.With) and all(
        isinstance(item.context_expr, ast.Call)
        and last_name(item.context_expr.func) == "open"
        for item in block.items
    ):
        plain = all(isinstance(each, ast.Assign | ast.AnnAssign) for each in block.body)
        return block if plain else None
    return None
