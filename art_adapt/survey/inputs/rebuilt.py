"""Tells which values of the project's own classes pydantic can make again of what JSON holds."""

from __future__ import annotations

import ast

from art_adapt.code.classes import is_enum, lineage
from art_adapt.code.nodes import decorator_names, dotted, last_name, unquoted
from art_adapt.code.project import Project
from art_adapt.code.syntax import BUILTIN, Syntax

# Of the standard library, which pydantic makes of a text or a number.
STANDARD = {  # with what a row has
    "date": "str",
    "datetime": "str",
    "time": "str",
    "timedelta": "str | float",
    "Decimal": "str | float",
    "UUID": "str",
}
OF_STANDARD = ("datetime", "decimal", "uuid")
NAMESPACE = "Namespace"  # of argparse, which a row's options make again
# Of typing, with what they are called without an import.
CONTAINERS = {
    "list": "list",
    "List": "list",
    "Sequence": "list",
    "dict": "dict",
    "Dict": "dict",
    "tuple": "tuple",
    "Tuple": "tuple",
}


def rebuilt_as(project: Project, syntax: Syntax, annotation: ast.expr | None) -> str:
    """Return an annotation of records, enumerations or times, as ``list[Submission]``; or "".

    In a container they may be pydantic's own classes. What they hold, such as records,
    enumerations and times, ``pydantic.TypeAdapter`` makes of a row, whatever the classes nest
    (pydantic 2, type_adapter.py).
    """
    spelled = "" if annotation is None else _spelled(unquoted(annotation))
    classes = classes_in(spelled) if spelled else []
    is_container = "[" in spelled
    is_made = bool(classes) and all(
        _is_standard(syntax, each)
        or _is_made_of_values(project, syntax, each)
        or (is_container and _is_of_pydantic(project, syntax, each))
        for each in classes
    )
    return spelled if is_made else ""


def _is_standard(syntax: Syntax, name: str) -> bool:
    spelled = syntax.qualified(ast.parse(name, mode="eval").body) or ""
    module, _, last = spelled.rpartition(".")
    return module in OF_STANDARD and last in STANDARD


def is_validated(project: Project, syntax: Syntax, class_name: str) -> bool:
    """True if pydantic makes the objects of a class."""
    return any(
        (dotted(base) or "").endswith("BaseModel")
        for place, name in lineage(project, syntax, class_name)
        for base in place.classes[name].bases
    )


def _is_of_pydantic(project: Project, syntax: Syntax, name: str) -> bool:
    found = project.class_named(syntax, name)
    return found is not None and is_validated(project, *found)


def classes_in(annotation: str) -> list[str]:
    """Return the names in such an annotation that its file has."""
    nodes = list(ast.walk(ast.parse(annotation, mode="eval")))
    inner = {node.value for node in nodes if isinstance(node, ast.Attribute)}
    named = (
        dotted(node)
        for node in nodes
        if isinstance(node, ast.Name | ast.Attribute) and node not in inner
    )
    return [each for each in dict.fromkeys(named) if each and each not in BUILTIN]


def _spelled(annotation: ast.expr) -> str:
    """Spell an annotation of classes and containers without names of typing; "" for another one."""
    match annotation:
        case ast.Name() | ast.Attribute():
            return dotted(annotation) or ""
        case ast.Constant(value=None):
            return "None"
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _joined(" | ", left, right)
        case ast.Subscript(value=container, slice=inner):
            if last_name(container) == "Optional":
                return f"{spelled} | None" if (spelled := _spelled(inner)) else ""
            kind = CONTAINERS.get(last_name(container))
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            spelled = _joined(", ", *parts)
            return f"{kind}[{spelled}]" if kind and spelled else ""
        case ast.Constant(value=value) if value is ...:
            return "..."
    return ""


def _joined(between: str, *parts: ast.expr) -> str:
    spelled = [_spelled(each) for each in parts]
    return between.join(spelled) if all(spelled) else ""


def _is_made_of_values(project: Project, syntax: Syntax, name: str) -> bool:
    """True of a dataclass, a named tuple and an enumeration."""
    found = project.class_named(syntax, name)
    if found is None:
        return False
    place, own = found
    definition = place.classes[own]
    return (
        "dataclass" in decorator_names(definition)
        or "NamedTuple" in map(last_name, definition.bases)
        or is_enum(place, own)
    )
