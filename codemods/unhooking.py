"""Take all hooks off a file: what remains is what its author wrote."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from art_adapt.codemods.cannot_edit import CannotEdit
from art_adapt.codemods.hooking import shifted
from art_adapt.codemods.import_hooks import without_hook_import
from art_adapt.codemods.layout import Removal, fits_joined, removal_of
from art_adapt.codemods.locating import Located, Parsed, locate
from art_adapt.span import Span


@dataclass(frozen=True)
class _Hook:
    """A hook call to take off.

    ``joins`` is the call that it is an argument of, if that fits on one line again.
    """

    span: Span
    removal: Removal
    joins: Span | None = None


class UnhookExpressions(cst.CSTTransformer):
    """Replace the located hook calls by their arguments."""

    def __init__(self, hooks: list[_Hook], located: Located) -> None:
        super().__init__()
        self.hooks = {id(located.nodes[hook.span]): hook for hook in hooks}
        self.joined = {
            id(located.nodes[hook.joins])
            for hook in hooks
            if hook.joins is not None and hook.joins in located.nodes
        }

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


def remove_hooks(
    file: Parsed, hooks: Collection[str], hook_module: str, line_length: int
) -> cst.Module:
    """Take the calls of ``hooks`` (local names) and their import off the file.

    Raises:
        CannotEdit: a hook is used in a way that art-adapt does not write, so taking it off would be a guess.
    """
    parents = _parents(file)
    calls = _hook_calls(parents, hooks)
    module = _taken_off(file, calls, calls, parents, line_length)
    return without_hook_import(module, hook_module, hooks) if hooks else module


def remove_hooks_around(
    file: Parsed, hooks: Collection[str], spans: Collection[Span], line_length: int
) -> tuple[cst.Module, frozenset[str]]:
    """Take off the calls of ``hooks`` (local names) whose argument is one of ``spans``.

    Return the module, whose imports stay as they are, and the hooks that it still calls.

    Raises:
        CannotEdit: a hook is used in a way that art-adapt does not write.
    """
    parents = _parents(file)
    calls = _hook_calls(parents, hooks)
    going = [call for call in calls if Span.of(call.args[0]) in spans]
    left = frozenset(
        call.func.id
        for call in calls
        if call not in going and isinstance(call.func, ast.Name)
    )
    return _taken_off(file, going, calls, parents, line_length), left


def _parents(file: Parsed) -> dict[ast.AST, ast.AST]:
    return {
        child: node
        for node in ast.walk(file.tree)
        for child in ast.iter_child_nodes(node)
    }


def _taken_off(
    file: Parsed,
    going: Sequence[ast.Call],
    calls: Sequence[ast.Call],
    parents: Mapping[ast.AST, ast.AST],
    line_length: int,
) -> cst.Module:
    """Take the hooks off that are ``going``; ``calls`` are all of the file."""
    found = [
        _hook(file.lines, call, parents[call], calls, line_length) for call in going
    ]
    spans = {hook.span for hook in found}
    located = locate(file, spans | {hook.joins for hook in found if hook.joins})
    for span in sorted(spans):
        if span not in located.nodes:
            raise CannotEdit("cannot find this hook in the syntax tree", span.line)
    if not found:
        return file.module
    return located.edited(file.module, UnhookExpressions(found, located))


def _hook_calls(
    parents: Mapping[ast.AST, ast.AST], hooks: Collection[str]
) -> list[ast.Call]:
    """Return the calls of hooks, in the order of the file."""
    names = [
        node for node in parents if isinstance(node, ast.Name) and node.id in hooks
    ]
    calls: list[ast.Call] = []
    for name in sorted(names, key=Span.of):
        call = parents[name]
        if not (isinstance(call, ast.Call) and call.func is name and _is_ours(call)):
            raise CannotEdit(
                "this hook is used in a way that art-adapt does not write",
                name.lineno,
                name.col_offset + 1,
                why="art-adapt would have to guess how to remove it",
                next_step="remove it by hand, then run --undo again",
            )
        calls.append(call)
    return calls


def _is_ours(call: ast.Call) -> bool:
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    return bool(call.args) and not call.keywords and not starred


def _hook(
    lines: Sequence[str],
    call: ast.Call,
    parent: ast.AST,
    calls: Sequence[ast.Call],
    line_length: int,
) -> _Hook:
    assert isinstance(call.func, ast.Name)
    value = call.args[0]
    inner = _width(
        other for other in calls if other is not call and _within(other, value)
    )
    removal = removal_of(
        lines,
        Span.of(call),
        call.func.end_col_offset or 0,
        Span.of(value),
        inner,
        line_length,
    )
    joins = None
    if isinstance(parent, ast.Call) and parent not in calls:
        width = _width(other for other in calls if _within(other, parent))
        joins = (
            Span.of(parent)
            if fits_joined(lines, Span.of(parent), width, line_length)
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
