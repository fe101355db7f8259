"""Types that the train module can name without importing more of the agent."""

from __future__ import annotations

import ast

from art_adapt.code.syntax import BUILTIN
from art_adapt.train_module.layout import literal

TYPING = {"List": "list", "Dict": "dict", "Tuple": "tuple", "Set": "set", "Any": "Any"}
LONGEST_LITERAL = 60  # characters
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
        return _union([_plain(node.left), _plain(node.right)])
    if isinstance(node, ast.Subscript):
        return _subscript(node)
    return None


def _union(parts: list[str | None]) -> str | None:
    """Return what JSON can hold of a union; None where that is nothing, or None itself."""
    plain = [part for part in parts if part]
    return " | ".join(plain) if set(plain) - {"None"} else None


def _subscript(node: ast.Subscript) -> str | None:
    outer = (
        node.value.attr
        if isinstance(node.value, ast.Attribute)
        else getattr(node.value, "id", "")
    )
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if not inner:  # Tuple[()]
        return "tuple"
    if outer == "Union":
        return _union([_plain(i) for i in inner])
    parts = [
        "..." if isinstance(i, ast.Constant) and i.value is ... else _plain(i) or "Any"
        for i in inner
    ]
    if outer == "Annotated":
        return parts[0]
    if outer == "Optional":
        return f"{parts[0]} | None"
    if outer == "Literal":
        return _literal(inner)
    base = TYPING.get(outer, outer)
    if base in ("Sequence", "Iterable"):
        base = "list"
    if base in ("Mapping", "MutableMapping"):
        base = "dict"
    return f"{base}[{', '.join(parts)}]" if base in BUILTIN else None


def _literal(values: list[ast.expr]) -> str | None:
    """Return the texts that are admitted, as formatters spell them; where they are many, a text."""
    found = [v.value for v in values if isinstance(v, ast.Constant)]
    texts = [each for each in found if isinstance(each, str)]
    if len(texts) < len(values):
        return None
    spelled = f"Literal[{', '.join(map(literal, texts))}]"
    return spelled if len(spelled) <= LONGEST_LITERAL else "str"
