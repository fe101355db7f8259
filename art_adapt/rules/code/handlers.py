"""Find what handles errors: except clauses, ``suppress``, and context managers of the file."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from art_adapt.code.nodes import dotted, last_name
from art_adapt.code.syntax import Syntax

BROAD = {"Exception", "BaseException"}
# Errors that the model does not cause. An answer that is too long or refused is its doing.
NOT_ITS_DOING = BROAD | {
    "TimeoutError",
    "APITimeoutError",
    "APIConnectionError",
    "RateLimitError",
    "APIError",
    "APIStatusError",
    "OpenAIError",
    "InternalServerError",
    "HTTPError",
    "ConnectionError",
}


@dataclass(frozen=True)
class Handler:
    """What handles errors: an except clause, ``suppress``, or a context manager."""

    node: ast.excepthandler | ast.expr | ast.stmt
    statement: ast.stmt  # the try or with
    caught: ast.expr | None
    tried: Sequence[ast.stmt]
    body: Sequence[ast.stmt]

    @property
    def names(self) -> set[str]:
        """Return the last names of the exceptions that are caught."""
        if self.caught is None:
            return {"BaseException"}
        one = self.caught
        kinds = one.elts if isinstance(one, ast.Tuple) else [one]
        return {last_name(kind) for kind in kinds}


def handlers(syntax: Syntax) -> Iterator[Handler]:
    """Yield the handlers of a file."""
    for node in syntax.nodes:
        if isinstance(node, ast.Try):
            for each in node.handlers:
                yield Handler(each, node, each.type, node.body, each.body)
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                made = item.context_expr
                if (
                    isinstance(made, ast.Call)
                    and last_name(made.func) == "suppress"
                    and made.args
                ):
                    caught = ast.Tuple(made.args, ast.Load())
                    yield Handler(made, node, caught, node.body, ())
                else:
                    yield from _of_manager(syntax, node, made)


def _of_manager(
    syntax: Syntax, statement: ast.With | ast.AsyncWith, made: ast.expr
) -> Iterator[Handler]:
    """Yield how a context manager of the file handles what its block raises.

    Its ``__exit__`` swallows every error if all that it returns is True; a generator has an
    except clause around its ``yield``.
    """
    values = [made] if isinstance(made, ast.Call) else syntax.values_of(made)
    names = {dotted(v.func) if isinstance(v, ast.Call) else None for v in values}
    name = names.pop() if len(names) == 1 else None
    if name is None:
        return
    if name in syntax.classes:
        exits = f"{name}.__aexit__", f"{name}.__exit__"
        leaving = next(
            (syntax.functions[e] for e in exits if e in syntax.functions), None
        )
        nodes = [] if leaving is None else list(syntax.owned_by(leaving.qualname))
        returned = [node for node in nodes if isinstance(node, ast.Return)]
        swallows = all(
            isinstance(each.value, ast.Constant) and each.value.value is True
            for each in returned
        )
        if leaving is not None and returned and swallows:
            body = leaving.node.body
            yield Handler(returned[0], statement, None, statement.body, body)
    elif name in syntax.functions:
        for node in syntax.owned_by(name):
            if isinstance(node, ast.Try) and any(
                isinstance(each, ast.Yield)
                for part in node.body
                for each in ast.walk(part)
            ):
                for each in node.handlers:
                    yield Handler(each, statement, each.type, statement.body, each.body)
