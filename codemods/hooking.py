"""Put hooks around expressions: the one edit that all kinds of hook share."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from art_adapt.codemods.cannot_edit import CannotEdit
from art_adapt.codemods.layout import Layout, Shape, Wrap, lay_out
from art_adapt.codemods.locating import Located, Parsed, locate


class HookExpressions(cst.CSTTransformer):
    """Put hooks around the located expressions."""

    def __init__(
        self,
        wraps: Sequence[Wrap],
        located: Located,
        layout: Layout,
    ) -> None:
        super().__init__()
        self.hooks: dict[int, list[tuple[str, Shape]]] = {}
        for wrap in wraps:
            node = located.nodes[wrap.span]
            self.hooks.setdefault(id(node), []).append((wrap.hook, layout.shapes[wrap]))
        self.opened = {
            id(located.nodes[span]) for span in layout.opened if span in located.nodes
        }

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT:
        updated: cst.CSTNode = updated_node
        if id(original_node) in self.opened:
            assert isinstance(updated, cst.Call)
            updated = _with_opened_arguments(updated)
        for hook, shape in self.hooks.get(id(original_node), ()):
            assert isinstance(updated, cst.BaseExpression)
            updated = hooked(updated, hook, shape)
        return updated  # type: ignore[return-value]


def hook_expressions(
    file: Parsed, wraps: Sequence[Wrap], line_length: int, *, hug: bool
) -> cst.Module:
    """Put every hook of ``wraps`` around its expression.

    ``hug``: close around it, without regard to the line length.

    Raises:
        CannotEdit: an expression is not where its span says (in an f-string, before Python 3.12).
    """
    calls = {wrap.around for wrap in wraps if wrap.around is not None}
    located = locate(file, {wrap.span for wrap in wraps} | calls)
    for wrap in wraps:
        if wrap.span not in located.nodes:
            raise CannotEdit(
                f"cannot put {wrap.hook}(...) here",
                wrap.span.line,
                wrap.span.column + 1,
                why="the position of the expression is unknown, as in an f-string before Python 3.12",
                next_step="assign the expression to a name in a statement of its own",
            )
    layout = lay_out(file.lines, wraps, line_length, hug=hug)
    return located.edited(file.module, HookExpressions(wraps, located, layout))


def hooked(expression: cst.BaseExpression, hook: str, shape: Shape) -> cst.Call:
    """Make ``expression`` the argument of ``hook``.

    Parentheses that take lines of their own become those of the hook.
    """
    function = cst.Name(hook)
    if isinstance(expression, cst.Tuple) and not expression.lpar:
        return cst.Call(
            function, [_as_argument(element) for element in expression.elements]
        )
    if (
        shape is not Shape.HUGGED
        and expression.lpar
        and _takes_lines(expression.lpar[0].whitespace_after)
    ):
        opening, closing = expression.lpar[0], expression.rpar[-1]
        inner = expression.with_changes(
            lpar=expression.lpar[1:], rpar=expression.rpar[:-1]
        )
        if not (
            isinstance(inner, cst.Tuple | cst.GeneratorExp | cst.NamedExpr | cst.Yield)
            and not inner.lpar
        ):
            argument = cst.Arg(inner, whitespace_after_arg=closing.whitespace_before)
            return cst.Call(
                function, [argument], whitespace_before_args=opening.whitespace_after
            )
    if shape is not Shape.OPENED:
        if isinstance(expression, cst.Tuple | cst.GeneratorExp):
            return cst.Call(function, [cst.Arg(expression)])
        # Its parentheses stay outside: they may be all that separates it from a keyword,
        # as in return(text).
        bare = expression.with_changes(lpar=[], rpar=[])
        return cst.Call(
            function, [cst.Arg(bare)], lpar=expression.lpar, rpar=expression.rpar
        )
    argument = cst.Arg(
        shifted(expression, "    "), whitespace_after_arg=_line_break("")
    )
    return cst.Call(function, [argument], whitespace_before_args=_line_break("    "))


def _as_argument(element: cst.BaseElement) -> cst.Arg:
    assert isinstance(element, cst.Element)
    return cst.Arg(element.value, comma=element.comma)


def _takes_lines(whitespace: cst.BaseParenthesizableWhitespace) -> bool:
    return (
        isinstance(whitespace, cst.ParenthesizedWhitespace)
        and whitespace.first_line.comment is None
    )


def _line_break(indent: str) -> cst.ParenthesizedWhitespace:
    return cst.ParenthesizedWhitespace(
        indent=True, last_line=cst.SimpleWhitespace(indent)
    )


def _with_opened_arguments(call: cst.Call) -> cst.Call:
    if not call.args or not isinstance(
        call.whitespace_before_args, cst.SimpleWhitespace
    ):
        return call
    last = call.args[-1].with_changes(whitespace_after_arg=_line_break(""))
    return call.with_changes(
        whitespace_before_args=_line_break("    "), args=[*call.args[:-1], last]
    )


class _Shift(cst.CSTTransformer):
    """Move the lines of an expression to the right, or back to the left."""

    def __init__(self, by: str, back: bool) -> None:
        super().__init__()
        self.by = by
        self.back = back

    def leave_ParenthesizedWhitespace(
        self,
        original_node: cst.ParenthesizedWhitespace,
        updated_node: cst.ParenthesizedWhitespace,
    ) -> cst.ParenthesizedWhitespace:
        value = updated_node.last_line.value
        value = value.removeprefix(self.by) if self.back else self.by + value
        lines = [
            line.with_changes(
                whitespace=cst.SimpleWhitespace(self._moved(line.whitespace.value))
            )
            if line.comment
            else line
            for line in updated_node.empty_lines
        ]
        return updated_node.with_changes(
            last_line=cst.SimpleWhitespace(value), empty_lines=lines
        )

    def _moved(self, value: str) -> str:
        return value.removeprefix(self.by) if self.back else self.by + value


def shifted(
    expression: cst.BaseExpression, by: str, *, back: bool = False
) -> cst.BaseExpression:
    moved = expression.visit(_Shift(by, back))
    assert isinstance(moved, cst.BaseExpression)
    return moved
