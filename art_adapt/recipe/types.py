"""Types that a train module can name without importing more of the agent."""

from __future__ import annotations

import ast

from art_adapt.code.nodes import last_name
from art_adapt.code.syntax import BUILTIN

ANY = ast.Name("Any")
NONE = ast.Constant(None)
TYPING = {"List": "list", "Dict": "dict", "Tuple": "tuple", "Set": "set", "Any": "Any"}
TYPING |= {"Path": "Path", "PathLike": "Path"}  # pydantic makes one of a string
TYPING |= {"Sequence": "list", "Iterable": "list"}
TYPING |= {"Mapping": "dict", "MutableMapping": "dict"}
LONGEST_LITERAL = 60  # characters


def parsed(annotation: str | None) -> ast.expr | None:
    """Return an annotation's expression, also one that is written as a string."""
    try:
        return ast.parse((annotation or "").strip("\"'"), mode="eval").body
    except SyntaxError:
        return None


def typed(text: str) -> ast.expr:
    """Return the type that a text spells."""
    return ast.parse(text, mode="eval").body


def plain_type(annotation: ast.expr | None) -> ast.expr:
    """Spell an annotation in built-in types, ``Path``, ``Literal`` and ``Any``.

    An annotation that names something of the agent's own becomes ``Any``.
    """
    return (annotation and _plain(annotation)) or ANY


def or_none(kind: ast.expr) -> ast.expr:
    """Return a type that admits None as well."""
    return kind if _admits_none(kind) else ast.BinOp(kind, ast.BitOr(), NONE)


def _admits_none(kind: ast.expr) -> bool:
    match kind:
        case ast.BinOp(left=left, right=right):
            return _admits_none(left) or _admits_none(right)
        case ast.Constant(value=None) | ast.Name("Any"):
            return True
    return False


def _plain(node: ast.expr) -> ast.expr | None:
    """Return a type that a train module can name; None where JSON can hold nothing of it."""
    match node:
        case ast.Name() | ast.Attribute():
            name = last_name(node)
            known = TYPING.get(name, name if name in BUILTIN else None)
            return ast.Name(known) if known else None
        case ast.Constant(value=None):
            return node
        case ast.BinOp(op=ast.BitOr()):
            return _union([node.left, node.right])
        case ast.Subscript():
            return _subscript(node)
    return None


def _union(parts: list[ast.expr]) -> ast.expr | None:
    """Return what JSON can hold of a union; None where that is nothing, or None itself."""
    plain = [kind for part in parts if (kind := _plain(part)) is not None]
    if all(isinstance(each, ast.Constant) for each in plain):
        return None
    whole, *others = plain
    for each in others:
        whole = ast.BinOp(whole, ast.BitOr(), each)
    return whole


def _subscript(node: ast.Subscript) -> ast.expr | None:
    outer = last_name(node.value)
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if not inner:  # Tuple[()]
        return ast.Name("tuple")
    if outer == "Union":
        return _union(inner)
    if outer == "Literal":
        return _literal(inner)
    parts = [each if _is_ellipsis(each) else _plain(each) or ANY for each in inner]
    if outer == "Annotated":
        return parts[0]
    if outer == "Optional":
        return ast.BinOp(parts[0], ast.BitOr(), NONE)
    base = TYPING.get(outer, outer)
    if base not in BUILTIN:
        return None
    held = ast.Tuple(parts) if len(parts) > 1 else parts[0]
    return ast.Subscript(ast.Name(base), held)


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _literal(values: list[ast.expr]) -> ast.expr | None:
    """Return the texts that are admitted; where they are many, a text."""
    if not all(
        isinstance(v, ast.Constant) and isinstance(v.value, str) for v in values
    ):
        return None
    held = ast.Tuple(values) if len(values) > 1 else values[0]
    spelled = ast.Subscript(ast.Name("Literal"), held)
    short = len(ast.unparse(spelled)) <= LONGEST_LITERAL
    return spelled if short else ast.Name("str")
