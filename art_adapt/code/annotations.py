"""Reads annotations: what they admit, without quotes and None."""

from __future__ import annotations

import ast

from art_adapt.code.nodes import last_name, unquoted


def alternatives(annotation: ast.expr) -> list[ast.expr]:
    """Return what an annotation admits but for None: two for ``"Tool | list[Tool] | None"``."""
    annotation = unquoted(annotation)
    match annotation:
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return [*alternatives(left), *alternatives(right)]
        case ast.Subscript(value=union, slice=inner) if last_name(union) in (
            "Optional",
            "Union",
        ):
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return [each for part in parts for each in alternatives(part)]
        case ast.Constant(value=None):
            return []
    return [annotation]


def bare(annotation: ast.expr) -> ast.expr:
    """Return the annotation without quotes, and without ``| None``."""
    admitted = alternatives(annotation)
    return admitted[0] if len(admitted) == 1 else annotation


def result_annotation(annotation: ast.expr) -> ast.expr | None:
    """Return what a call gives: ``Llm`` of ``type[Llm]`` and of ``Callable[..., Llm]``."""
    annotation = bare(annotation)
    if not isinstance(annotation, ast.Subscript):
        return None
    inner = annotation.slice
    if last_name(annotation.value) in ("type", "Type"):
        return inner
    is_callable = last_name(annotation.value) == "Callable"
    return inner.elts[-1] if is_callable and isinstance(inner, ast.Tuple) else None
