"""Reads annotations: without quotes and None, and what unions admit."""

from __future__ import annotations

import ast

from art_adapt.code.nodes import dotted


def bare(annotation: ast.expr) -> ast.expr:
    """Return the annotation without quotes, and without ``| None``."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            return bare(ast.parse(annotation.value, mode="eval").body)
        except SyntaxError:
            return annotation
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        sides = [annotation.left, annotation.right]
        some = [s for s in sides if not (isinstance(s, ast.Constant) and not s.value)]
        return bare(some[0]) if len(some) == 1 else annotation
    if (
        isinstance(annotation, ast.Subscript)
        and (dotted(annotation.value) or "").split(".")[-1] == "Optional"
    ):
        return bare(annotation.slice)
    return annotation


def alternatives(annotation: ast.expr) -> list[ast.expr]:
    """Return what a union admits, but for None; another annotation is its only alternative."""
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        return [*alternatives(annotation.left), *alternatives(annotation.right)]
    if (
        isinstance(annotation, ast.Subscript)
        and (dotted(annotation.value) or "").split(".")[-1] == "Union"
        and isinstance(annotation.slice, ast.Tuple)
    ):
        return [each for part in annotation.slice.elts for each in alternatives(part)]
    is_none = isinstance(annotation, ast.Constant) and annotation.value is None
    return [] if is_none else [annotation]
