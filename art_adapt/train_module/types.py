"""Types that the train module can name without importing more of the agent."""

from __future__ import annotations

import ast

from art_adapt.survey.syntax import BUILTIN

TYPING = {"List": "list", "Dict": "dict", "Tuple": "tuple", "Set": "set", "Any": "Any"}
TYPING |= {"Path": "Path", "PathLike": "Path"}  # pydantic makes one of a string


def plain_type(annotation: str | None) -> str:
    """Spell ``annotation`` in built-in types and ``Any``.

    An annotation that names something of the agent's own becomes "Any".
    """
    if annotation is None:
        return "Any"
    try:
        tree = ast.parse(annotation.strip("\"'"), mode="eval").body
    except SyntaxError:
        return "Any"
    return _plain(tree) or "Any"


def _plain(node: ast.expr) -> str | None:
    name = (
        node.attr
        if isinstance(node, ast.Attribute)
        else node.id
        if isinstance(node, ast.Name)
        else None
    )
    if name is not None:
        return name if name in BUILTIN else TYPING.get(name)
    if isinstance(node, ast.Constant):
        return "None" if node.value is None else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        parts = [_plain(node.left), _plain(node.right)]
        return " | ".join(p for p in parts if p) if all(parts) else None
    if isinstance(node, ast.Subscript):
        return _subscript(node)
    return None


def _subscript(node: ast.Subscript) -> str | None:
    outer = (
        node.value.attr
        if isinstance(node.value, ast.Attribute)
        else getattr(node.value, "id", "")
    )
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if not inner:  # Tuple[()]
        return "tuple"
    parts = [
        "..." if isinstance(i, ast.Constant) and i.value is ... else _plain(i) or "Any"
        for i in inner
    ]
    if outer == "Annotated":
        return parts[0]
    if outer == "Optional":
        return f"{parts[0]} | None"
    if outer == "Union":
        return " | ".join(parts)
    if outer == "Literal":
        return (
            "str"
            if all(
                isinstance(i, ast.Constant) and isinstance(i.value, str) for i in inner
            )
            else None
        )
    base = TYPING.get(outer, outer)
    if base in ("Sequence", "Iterable"):
        base = "list"
    if base in ("Mapping", "MutableMapping"):
        base = "dict"
    return f"{base}[{', '.join(parts)}]" if base in BUILTIN else None
