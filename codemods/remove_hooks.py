"""Takes all hooks off a file again: what remains is the file as its author wrote it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

import libcst as cst

from art_adapt.errors import Refusal
from art_adapt.source import Source
from art_adapt.survey.hooks import hook_imports, imported_hooks
from art_adapt.survey.model import Span
from art_adapt.survey.syntax import Syntax
from codemods.hooking import shifted
from codemods.import_hooks import without_hook_import
from codemods.layout import Removal, fits_joined, removal_of
from codemods.locating import Located, locate


@dataclass(frozen=True)
class _Hook:
    """A hook call to take off: where it stands, how it comes off, and whether the call it hooks is joined again."""

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
    """``module`` (parsed from ``source``) without the hooks of ``art_recording`` and their import.

    Raises:
        Refusal: the file uses a hook in a way that art-adapt does not write, so that it cannot be taken off safely.
    """
    syntax = Syntax.of(source)
    names = imported_hooks(syntax)
    hooks: list[_Hook] = []
    used = 0
    for node in syntax.nodes:
        if isinstance(node, ast.Name) and node.id in names:
            used += 1
        if (
            not isinstance(node, ast.Call)
            or not isinstance(node.func, ast.Name)
            or node.func.id not in names
        ):
            continue
        if (
            not node.args
            or node.keywords
            or any(isinstance(argument, ast.Starred) for argument in node.args)
        ):
            raise _not_ours(source, node)
        used -= 1
        parent = syntax.parents[node]
        joins = None
        if (
            isinstance(parent, ast.Call)
            and parent.func is node
            and fits_joined(
                source,
                Span.of(node),
                Span.of(node.args[0]),
                Span.of(parent),
                line_length,
            )
        ):
            joins = Span.of(parent)
        removal = removal_of(
            source,
            Span.of(node),
            node.func.end_col_offset or 0,
            Span.of(node.args[0]),
            line_length,
        )
        hooks.append(_Hook(Span.of(node), removal, joins))
    if used:
        raise _not_ours(
            source,
            next(
                n
                for n in syntax.nodes
                if isinstance(n, ast.Name)
                and n.id in names
                and not _is_called(syntax, n)
            ),
        )
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
