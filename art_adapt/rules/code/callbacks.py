"""Find what ``after_each`` of a gather calls, and what that gives back for a group."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from art_adapt.code.nodes import keyword, last_name
from art_adapt.code.reaching import is_left
from art_adapt.code.syntax import Syntax
from art_adapt.rules.code.file import File
from art_adapt.rules.code.values import Body, Value, constant


@dataclass(frozen=True)
class Callback:
    """A function or lambda that gets each group, and its calls of other functions.

    ``given`` is the argument of the gather. ``body`` is the project's function that runs at
    last: the callback itself, or what the lambda calls.
    """

    gather: ast.Call
    given: ast.expr
    made: Value  # a lambda, a partial, or what names the function
    body: Body | None

    @property
    def result(self) -> Value | None:
        """Return what a lambda gives back."""
        made = self.made.node
        return self.made.of(made.body) if isinstance(made, ast.Lambda) else None


@dataclass(frozen=True)
class Callbacks:
    """The ``after_each`` of the gathers of a file."""

    file: File

    def __iter__(self) -> Iterator[Callback]:
        for gather in self.file.art_calls("gather_trajectory_groups"):
            given = keyword(gather, "after_each")
            if given is None:
                continue
            for made in self.file.values(given):
                yield Callback(gather, given, made, self._body(made))

    def _body(self, made: Value) -> Body | None:
        node = made.node
        if isinstance(node, ast.Lambda):
            called = made.of(node.body)
            if isinstance(node.body, ast.Await):
                called = made.of(node.body.value)
            return self.file.flow.functions.enter(called)
        if isinstance(node, ast.Call) and last_name(node.func) == "partial":
            made = made.of(node.args[0]) if node.args else made
        return self.file.flow.functions.handed(made)

    def may_drop(self, callback: Callback) -> bool:
        """Return whether it certainly gives None for some groups, which the gather leaves out."""
        made = callback.made.node
        if (
            isinstance(made, ast.Call)
            and last_name(made.func) == "partial"
            and made.args
            and _is_ruler(callback.made.syntax, made.args[0])
        ):
            return self._swallows(callback.made.of(made))
        if callback.result is not None and self._is_none(callback.result):
            return True
        body = callback.body
        if body is None or not isinstance(body.function.node, ast.AsyncFunctionDef):
            return False
        return not is_left(body.function.node.body) or any(
            self._is_none(each) for each in body.returns()
        )

    def _is_none(self, returned: Value) -> bool:
        values = self.file.values(returned)
        return any(
            constant(each) is None
            or (
                isinstance(each.node, ast.Call)
                and _is_ruler(each.syntax, each.node.func)
                and self._swallows(each)
            )
            for each in values
        )

    def _swallows(self, judged: Value) -> bool:
        assert isinstance(judged.node, ast.Call)
        given = keyword(judged.node, "swallow_exceptions")
        return given is not None and self.file.constant(judged.of(given)) is True


def _is_ruler(syntax: Syntax, name: ast.expr) -> bool:
    return (syntax.qualified(name) or "").endswith(".ruler_score_group")
