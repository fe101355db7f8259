"""Find libcst nodes by their positions in the ``ast`` tree of the same file.

libcst knows positions only after generating the code again, which costs more than parsing
it. So it generates only the statements of the module that hold something we look for.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from art_adapt.span import Span


@dataclass(frozen=True)
class Parsed:
    """A file as both parsers read it, and its lines as ``ast`` counts them."""

    module: cst.Module
    tree: ast.Module
    lines: Sequence[str]


@dataclass(frozen=True)
class Located:
    """The expression found at each span, and the statements of the module that hold them."""

    nodes: Mapping[Span, cst.BaseExpression]
    statements: frozenset[int]  # ids

    def edited(self, module: cst.Module, by: cst.CSTTransformer) -> cst.Module:
        """Visit only the statements that hold something."""
        body = [n.visit(by) if id(n) in self.statements else n for n in module.body]
        return module.with_changes(body=body)


def locate(file: Parsed, spans: Collection[Span]) -> Located:
    """Find the expressions at ``spans``; ``nodes`` lacks those that are not found."""
    found: dict[Span, cst.BaseExpression] = {}
    holding = set()
    for first, last, node in _statements(file):
        inside = [
            span for span in spans if first <= span.line and span.end_line <= last
        ]
        if inside:
            holding.add(id(node))
            placed = _placed(file, node, last)
            found |= {
                span: placed[at]
                for span in inside
                if (at := _in_characters(file.lines, span)) in placed
            }
    return Located(found, frozenset(holding))


def _statements(file: Parsed) -> Iterator[tuple[int, int, cst.CSTNode]]:
    """Yield the statements of the module with their lines; those of one line are one."""
    statements = iter(file.tree.body)
    for node in file.module.body:
        several = len(node.body) if isinstance(node, cst.SimpleStatementLine) else 1
        own = [next(statements) for _ in range(several)]
        decorators = getattr(own[0], "decorator_list", [])
        first = min(each.lineno for each in (own[0], *decorators))
        yield first, own[-1].end_lineno or own[-1].lineno, node


def _placed(
    file: Parsed, statement: cst.CSTNode, last: int
) -> dict[Span, cst.BaseExpression]:
    """Return the expressions of a statement by their positions, with columns in characters."""
    alone = file.module.with_changes(body=[statement])
    positions = MetadataWrapper(alone, unsafe_skip_copy=True).resolve(PositionProvider)
    offset = last - positions[statement].end.line
    found = {}
    for node, position in positions.items():
        if isinstance(node, cst.BaseExpression):
            start, end = position.start, position.end
            if isinstance(node, cst.Tuple | cst.GeneratorExp) and node.lpar:
                # For ast, their parentheses belong to them; for libcst, they stand around.
                start, end = positions[node.lpar[-1]].start, positions[node.rpar[0]].end
            place = (start.line + offset, start.column, end.line + offset, end.column)
            found[Span(*place)] = node
    return found


def _in_characters(lines: Sequence[str], span: Span) -> Span:
    """Return a span with columns in characters, as libcst counts them: none for a mark."""

    def characters(line: int, column: int) -> int:
        text = lines[line - 1]
        text = text.removeprefix("\ufeff") if line == 1 else text
        return len(text.encode()[:column].decode(errors="ignore"))

    start = characters(span.line, span.column)
    end = characters(span.end_line, span.end_column)
    return Span(span.line, start, span.end_line, end)
