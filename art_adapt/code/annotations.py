"""Reads annotations: without quotes and None, and what unions admit."""

from __future__ import annotations

import ast

from art_adapt.code.nodes import last_name, unquoted


def bare(annotation: ast.expr) -> ast.expr:
    """Return the annotation without quotes, and without ``| None``."""
    annotation = unquoted(annotation)
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        sides = [annotation.left, annotation.right]
        some = [s for s in sides if not (isinstance(s, ast.Constant) and not s.value)]
        return bare(some[0]) if len(some) == 1 else annotation
    if isinstance(annotation, ast.Subscript):
        optional = last_name(annotation.value) == "Optional"
        return bare(annotation.slice) if optional else annotation
    return annotation


def alternatives(annotation: ast.expr) -> list[ast.expr]:
    """Return what a union admits, but for None; another annotation is its only alternative."""
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        return [*alternatives(annotation.left), *alternatives(annotation.right)]
    if (
        isinstance(annotation, ast.Subscript)
        and last_name(annotation.value) == "Union"
        and isinstance(annotation.slice, ast.Tuple)
    ):
        return [each for part in annotation.slice.elts for each in alternatives(part)]
    is_none = isinstance(annotation, ast.Constant) and annotation.value is None
    return [] if is_none else [annotation]


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
