"""Tell the branches that code has for models that are not trained."""

from __future__ import annotations

import ast

from art_adapt.code.syntax import Syntax


def is_for_untrained(syntax: Syntax, node: ast.AST) -> bool:
    """Return whether a node is in the branch where ``model.trainable`` is false.

    A name may stand for the test: ``client = ... if isinstance(model, TrainableModel) else None``.
    """
    inner = node
    for outer in syntax.ancestors(node):
        if isinstance(outer, ast.If | ast.IfExp):
            asks = _asks_for_training(syntax, outer.test)
            if asks is not None:
                other = outer.orelse if asks else outer.body
                return inner in other if isinstance(other, list) else inner is other
        inner = outer
    return False


def _asks_for_training(syntax: Syntax, test: ast.expr) -> bool | None:
    """Return whether a test is true for models that are trained; None if it asks something else.

    A comparison, as with None, is taken to be true for them.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        asks = _asks_for_training(syntax, test.operand)
        return None if asks is None else not asks
    if "trainable" in ast.unparse(test).lower():
        return True
    tested = test.left if isinstance(test, ast.Compare) else test
    told = {_asks_for_training(syntax, each) for each in syntax.values_of(tested)}
    return told.pop() if len(told) == 1 else None
