"""Find libcst nodes by their positions in the ``ast`` tree of the same file.

libcst knows positions only after generating the whole file's code again, which costs
more than parsing it. So we walk both trees' statement lists side by side (they match
one to one), and let libcst compute positions only for the few statements that hold
something we look for.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from art_adapt.span import Span

Positions = tuple[int, int, int, int]
BLOCKS = (cst.IndentedBlock, cst.SimpleStatementSuite)
STATEMENTS = (
    cst.BaseStatement,
    cst.BaseSmallStatement,
    cst.BaseSuite,
    cst.ExceptHandler,
    cst.ExceptStarHandler,
    cst.Else,
    cst.Finally,
    cst.MatchCase,
)


@dataclass(frozen=True)
class Parsed:
    """A file as both parsers read it, and its lines as ``ast`` counts them."""

    module: cst.Module
    tree: ast.Module
    lines: Sequence[str]


@dataclass
class Located:
    """The expression found at each span, and the way to it.

    ``path`` holds the ids of the statements and blocks that lead to the expressions,
    ``elifs`` the ids of those that are an ``elif``.
    """

    lines: Sequence[str]
    default_indent: str
    nodes: dict[Span, cst.BaseExpression] = field(default_factory=dict)
    path: set[int] = field(default_factory=set)
    elifs: set[int] = field(default_factory=set)

    def leads_to(self, node: cst.CSTNode) -> bool:
        """True if a transformer has to visit ``node``: only statements on the path."""
        return id(node) in self.path or not isinstance(node, STATEMENTS)


def locate(file: Parsed, spans: Collection[Span]) -> Located:
    """Find the expressions at ``spans``; ``nodes`` lacks those that are not found."""
    located = Located(file.lines, file.module.default_indent)
    _descend(file.tree.body, file.module.body, sorted(spans), (), located)
    return located


def _descend(
    statements: Sequence[ast.stmt],
    nodes: Sequence[cst.CSTNode],
    spans: list[Span],
    indents: tuple[str | None, ...],
    located: Located,
) -> None:
    first_of_line: dict[int, ast.stmt] = {}
    for statement, (line, node) in zip(
        statements, _small_statements(nodes), strict=True
    ):
        first = first_of_line.setdefault(id(line), statement)
        mine = [
            s
            for s in spans
            if _first_line(statement) <= s.line and s <= _end(statement)
        ]
        if not mine:
            continue
        located.path |= {id(line), id(node)}
        if isinstance(line, cst.SimpleStatementLine):
            _match(_first_line(first), line, mine, indents, located)
        else:
            _enter(statement, node, mine, indents, located)


def _small_statements(
    nodes: Sequence[cst.CSTNode],
) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
    """Pair each statement that ``ast`` counts with the node of its line."""
    for node in nodes:
        if isinstance(node, cst.SimpleStatementLine):
            yield from ((node, small) for small in node.body)
        else:
            yield node, node


def _first_line(statement: ast.AST) -> int:
    """Return the line that a statement, or its first decorator, starts on."""
    if isinstance(statement, ast.match_case):
        return statement.pattern.lineno
    assert isinstance(statement, ast.stmt | ast.excepthandler)
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min(part.lineno for part in (statement, *decorators))


def _end(statement: ast.stmt) -> Span:
    line = statement.end_lineno or statement.lineno
    return Span(line, statement.end_col_offset or 0, line + 1, 0)


def _enter(
    statement: ast.AST,
    node: cst.CSTNode,
    spans: list[Span],
    indents: tuple[str | None, ...],
    located: Located,
) -> None:
    """Search a compound statement: its blocks, its branches and its own line."""
    left = spans
    for statements, holder, block in _blocks(statement, node):
        inside = [span for span in left if _is_within(span, statements)]
        if not inside:
            continue
        located.path |= {id(holder), id(block)}
        if isinstance(block, cst.IndentedBlock):
            left = [span for span in left if span not in inside]
            _descend(
                statements,
                block.body,
                inside,
                (*indents, block.indent),
                located,
            )
            continue
        located.path |= {id(small) for small in block.body}
        if holder is not node:  # else: return ...
            left = [span for span in left if span not in inside]
            _match(statements[0].lineno, holder, inside, indents, located)
    for part, part_node in _branches(statement, node):
        first, last = _first_line(part), _last_line(part)
        inside = [span for span in left if first <= span.line <= last]
        if inside:
            left = [span for span in left if span not in inside]
            located.path.add(id(part_node))
            if isinstance(part_node, cst.If):
                located.elifs.add(id(part_node))
            deeper = (node.indent,) if isinstance(node, cst.Match) else ()
            _enter(part, part_node, inside, (*indents, *deeper), located)
    if left:
        _match(_first_line(statement), node, left, indents, located)


def _is_within(span: Span, statements: Sequence[ast.stmt]) -> bool:
    first, last = statements[0], statements[-1]
    start = (
        _first_line(first),
        0 if _first_line(first) < first.lineno else first.col_offset,
    )
    return start <= (span.line, span.column) and span <= _end(last)


def _last_line(part: ast.AST) -> int:
    body: list[ast.stmt] = getattr(part, "body", [])
    ends = [getattr(part, "end_lineno", None), body[-1].end_lineno if body else None]
    return max(end for end in ends if end is not None)


def _blocks(
    statement: ast.AST, node: cst.CSTNode
) -> Iterator[
    tuple[list[ast.stmt], cst.CSTNode, cst.IndentedBlock | cst.SimpleStatementSuite]
]:
    """Yield the statement lists inside a statement, each with its holder and block."""
    for name in ("body", "orelse", "finalbody"):
        statements = getattr(statement, name, None)
        holder = node if name == "body" else getattr(node, name, None)
        block = getattr(holder, "body", None)
        is_elif = name == "orelse" and isinstance(holder, cst.If)
        if statements and not is_elif and isinstance(block, BLOCKS):
            assert isinstance(holder, cst.CSTNode)
            yield statements, holder, block


def _branches(
    statement: ast.AST, node: cst.CSTNode
) -> Iterator[tuple[ast.AST, cst.CSTNode]]:
    """Yield the parts that have their own header: elif branches, except clauses, cases."""
    if isinstance(statement, ast.If) and isinstance(node, cst.If):
        if isinstance(node.orelse, cst.If):
            yield statement.orelse[0], node.orelse
    elif isinstance(statement, ast.Try | ast.TryStar):
        assert isinstance(node, cst.Try | cst.TryStar)
        yield from zip(statement.handlers, node.handlers, strict=True)
    elif isinstance(statement, ast.Match):
        assert isinstance(node, cst.Match)
        yield from zip(statement.cases, node.cases, strict=True)


def _match(
    first_line: int,
    node: cst.CSTNode,
    spans: list[Span],
    indents: tuple[str | None, ...],
    located: Located,
) -> None:
    """Match the expressions of one statement, without its blocks, to ``spans``."""
    placed, first_placed_line = _place(
        node,
        [indent or located.default_indent for indent in indents],
        is_elif=id(node) in located.elifs,
    )
    offset = first_line - first_placed_line
    by_position = {
        (start + offset, column, end + offset, end_column): found
        for (start, column, end, end_column), found in placed
    }
    for span in spans:
        start = _characters(located.lines, span.line, span.column)
        end = _characters(located.lines, span.end_line, span.end_column)
        found = by_position.get((span.line, start, span.end_line, end))
        if found is not None:
            located.nodes[span] = found


def _characters(lines: Sequence[str], line: int, column: int) -> int:
    """Convert a column from UTF-8 bytes to characters, as libcst counts them.

    A byte order mark takes no column.
    """
    text = lines[line - 1]
    return (
        column
        if text.isascii()
        else len(text.lstrip("\ufeff").encode()[:column].decode(errors="ignore"))
    )


def _place(
    node: cst.CSTNode, indents: Sequence[str], *, is_elif: bool
) -> tuple[list[tuple[Positions, cst.BaseExpression]], int]:
    """Compute positions in a file that holds only ``node``, as deep as it stands.

    Returns the expressions with their positions, and the line that ``node`` starts on.
    """
    module = _module_of(_without_blocks(node), indents, is_elif=is_elif)
    wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
    positions = wrapper.resolve(PositionProvider)
    anchor = min(
        (p.start.line for n, p in positions.items() if n is node or _is_child(n, node)),
        default=1,
    )
    found = []
    for expression, position in positions.items():
        if isinstance(expression, cst.BaseExpression):
            start, end = position.start, position.end
            if isinstance(expression, cst.Tuple | cst.GeneratorExp) and expression.lpar:
                # For ast, their parentheses belong to them; for libcst, they stand
                # around them.
                start, end = (
                    positions[expression.lpar[-1]].start,
                    positions[expression.rpar[0]].end,
                )
            found.append(((start.line, start.column, end.line, end.column), expression))
    return found, anchor


def _module_of(
    bare: cst.CSTNode, indents: Sequence[str], *, is_elif: bool
) -> cst.Module:
    """Build a module that holds one statement or branch, as deep as it stands."""
    shell: cst.SimpleStatementLine | cst.BaseCompoundStatement
    if isinstance(bare, cst.Else):
        shell = cst.If(test=cst.Name("x"), body=_EMPTY, orelse=bare)
    elif isinstance(bare, cst.Finally):
        shell = cst.Try(body=_EMPTY, finalbody=bare)
    elif isinstance(bare, cst.ExceptHandler):
        shell = cst.Try(body=_EMPTY, handlers=[bare])
    elif isinstance(bare, cst.ExceptStarHandler):
        shell = cst.TryStar(body=_EMPTY, handlers=[bare])
    elif isinstance(bare, cst.MatchCase):
        *indents, indent = indents
        shell = cst.Match(subject=cst.Name("x"), cases=[bare], indent=indent)
    elif isinstance(bare, cst.If) and is_elif:
        shell = cst.If(test=cst.Name("x"), body=_EMPTY, orelse=bare)
    else:
        assert isinstance(bare, cst.SimpleStatementLine | cst.BaseCompoundStatement)
        shell = bare
    for indent in reversed(indents):
        block = cst.IndentedBlock([shell], indent=indent)
        shell = cst.If(test=cst.Name("x"), body=block)
    return cst.Module([shell])


_EMPTY = cst.IndentedBlock([cst.SimpleStatementLine([cst.Pass()])])


def _is_child(node: cst.CSTNode, parent: cst.CSTNode) -> bool:
    return any(node is child for child in parent.children) and not isinstance(
        node, cst.BaseParenthesizableWhitespace | cst.EmptyLine | cst.TrailingWhitespace
    )


def _without_blocks(node: cst.CSTNode) -> cst.CSTNode:
    """Empty the blocks and drop the branches of a statement; its expressions stay.

    They stay the same objects: identity is what they are looked up by.
    """
    changes: dict[str, object] = {}
    if isinstance(getattr(node, "body", None), cst.IndentedBlock):
        changes["body"] = _EMPTY
    for name in ("orelse", "finalbody"):
        if getattr(node, name, None) is not None:
            changes[name] = None
    if isinstance(node, cst.Try | cst.TryStar):
        changes["finalbody"], changes["handlers"] = cst.Finally(_EMPTY), []
    if isinstance(node, cst.Match):
        changes["cases"] = [cst.MatchCase(pattern=cst.MatchAs(), body=_EMPTY)]
    return node.with_changes(**changes) if changes else node
