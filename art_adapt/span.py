"""Positions of expressions, which the survey finds and the codemods edit at."""

from __future__ import annotations

import ast
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Span:
    """The position of an expression, as ``ast`` counts it.

    Lines count from 1, columns from 0 in UTF-8 bytes.
    """

    line: int
    column: int
    end_line: int
    end_column: int

    @staticmethod
    def of(node: ast.expr | ast.stmt) -> Span:
        return Span(
            node.lineno,
            node.col_offset,
            node.end_lineno or node.lineno,
            node.end_col_offset or node.col_offset,
        )
