"""Takes all hooks off a file again: what remains is the file as its author wrote it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import libcst as cst

from art_adapt.codemods.hooking import shifted
from art_adapt.codemods.import_hooks import without_hook_import
from art_adapt.codemods.layout import Removal, fits_joined, removal_of
from art_adapt.codemods.locating import Located, locate
from art_adapt.errors import Refusal
from art_adapt.source import Source
from art_adapt.survey.hooks import hook_imports, imported_hooks
from art_adapt.survey.model import Span
from art_adapt.survey.syntax import Syntax


@dataclass(frozen=True)
class _Hook:
    """A hook call to take off: where it stands, how it comes off, and whether the call
    it hooks is joined again.
    """

    span: Span
    removal: Removal
    joins: Span | None = None


class RemoveHooks(cst.CSTTransformer):
    """Replaces the located hook calls by what they are around."""

    def __init__(self, hooks: list[_Hook], located: Located) -> None:
        super().__init__()
        self.located = located
        self.hooks = {id(located.nodes[hook.span]): hook for hook in hooks}
        self.joined = {
            id(located.nodes[hook.joins])
            for hook in hooks
            if hook.joins is not None and hook.joins in located.nodes
        }

    def on_visit(self, node: cst.CSTNode) -> bool:
        return self.located.leads_to(node)

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT:
        hook = self.hooks.get(id(original_node))
        updated: cst.CSTNode = updated_node
        if hook is not None:
            assert isinstance(updated, cst.Call)
            updated = _bare(updated, hook.removal)
        elif id(original_node) in self.joined:
            assert isinstance(updated, cst.Call)
            last = updated.args[-1].with_changes(
                whitespace_after_arg=cst.SimpleWhitespace("")
            )
            updated = updated.with_changes(
                whitespace_before_args=cst.SimpleWhitespace(""),
                args=[*updated.args[:-1], last],
            )
        return updated  # type: ignore[return-value]


def _bare(call: cst.Call, removal: Removal) -> cst.BaseExpression:
    if len(call.args) > 1:
        elements = [
            cst.Element(argument.value, comma=argument.comma) for argument in call.args
        ]
        return cst.Tuple(elements, lpar=call.lpar, rpar=call.rpar)
    (argument,) = call.args
    value = argument.value.with_changes(
        lpar=[*call.lpar, *argument.value.lpar], rpar=[*argument.value.rpar, *call.rpar]
    )
    if removal is Removal.DEDENT:
        return shifted(value, "    ", back=True)
    if removal is Removal.PARENTHESES:
        opening = cst.LeftParen(whitespace_after=call.whitespace_before_args)
        closing = cst.RightParen(whitespace_before=argument.whitespace_after_arg)
        return value.with_changes(
            lpar=[opening, *value.lpar], rpar=[*value.rpar, closing]
        )
    return value


def remove_hooks(module: cst.Module, source: Source, line_length: int) -> cst.Module:
    """``module`` (parsed from ``source``) without the hooks of ``art_recording`` and
    their import.

    Raises:
        Refusal: the file uses a hook in a way that art-adapt does not write, so that it cannot be taken off safely.
    """
    syntax = Syntax.of(source)
    names = imported_hooks(syntax)
    calls: list[ast.Call] = []
    for node in syntax.nodes:
        if (
            isinstance(node, ast.Name)
            and node.id in names
            and not _is_called(syntax, node)
        ):
            raise _not_ours(source, node)
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in names
        ):
            if (
                not node.args
                or node.keywords
                or any(isinstance(argument, ast.Starred) for argument in node.args)
            ):
                raise _not_ours(source, node)
            calls.append(node)
    hooks = [_hook(source, syntax, call, calls, line_length) for call in calls]
    located = locate(
        module,
        source,
        {
            span
            for hook in hooks
            for span in (hook.span, hook.joins)
            if span is not None
        },
    )
    for hook in hooks:
        if hook.span not in located.nodes:
            raise Refusal(
                "cannot find this hook in the file's syntax tree",
                path=source.path,
                line=hook.span.line,
            )
    if hooks:
        module = module.visit(RemoveHooks(hooks, located))
    if any(hook_imports(source.tree)):
        module = without_hook_import(module)
    return module


def _hook(
    source: Source,
    syntax: Syntax,
    call: ast.Call,
    calls: Sequence[ast.Call],
    line_length: int,
) -> _Hook:
    assert isinstance(call.func, ast.Name)
    value = call.args[0]
    inner = _width(
        other for other in calls if other is not call and _within(other, value)
    )
    removal = removal_of(
        source,
        Span.of(call),
        call.func.end_col_offset or 0,
        Span.of(value),
        inner,
        line_length,
    )
    parent = syntax.parents[call]
    joins = None
    if isinstance(parent, ast.Call) and parent not in calls:
        width = _width(other for other in calls if _within(other, parent))
        joins = (
            Span.of(parent)
            if fits_joined(source, Span.of(parent), width, line_length)
            else None
        )
    return _Hook(Span.of(call), removal, joins)


def _within(inner: ast.expr, outer: ast.expr) -> bool:
    one, other = Span.of(inner), Span.of(outer)
    return (other.line, other.column) <= (one.line, one.column) and (
        one.end_line,
        one.end_column,
    ) <= (other.end_line, other.end_column)


def _width(calls: Iterable[ast.Call]) -> int:
    return sum(
        len(call.func.id) + 2 for call in calls if isinstance(call.func, ast.Name)
    )


def _is_called(syntax: Syntax, name: ast.Name) -> bool:
    parent = syntax.parents[name]
    return isinstance(parent, ast.Call) and parent.func is name


def _not_ours(source: Source, node: ast.expr) -> Refusal:
    return Refusal(
        "a hook used in a way that art-adapt does not write",
        why="it cannot be taken off without guessing",
        next_step="take this one off by hand, then run --undo again",
        path=source.path,
        line=node.lineno,
        column=node.col_offset + 1,
    )
