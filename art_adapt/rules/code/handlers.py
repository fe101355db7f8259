"""Find what handles errors: except clauses, and ``contextlib.suppress``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from art_adapt.code.nodes import last_name
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
    """What handles errors: an except clause, or ``contextlib.suppress``."""

    node: ast.excepthandler | ast.expr
    statement: ast.stmt  # the try or with
    caught: ast.expr | None
    tried: Sequence[ast.stmt]
    body: Sequence[ast.stmt]

    @property
    def names(self) -> set[str]:
        """The last names of the exceptions that are caught."""
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
