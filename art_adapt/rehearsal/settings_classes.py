"""Finds the variables that classes of pydantic-settings read, which no file spells."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from art_adapt.code.nodes import keyword, last_name
from art_adapt.code.syntax import Syntax

ALIASES = ("validation_alias", "alias", "env")
# What stands for a value that nobody has set, by its type.
STAND_INS = {"int": "1", "float": "1.0", "bool": "false"}


@dataclass(frozen=True)
class Variable:
    """An environment variable that a field is read from.

    ``stand_in`` is a value of its type; "" where the field has a default.
    """

    name: str
    stand_in: str


def settings_read(files: Iterable[Syntax]) -> Iterator[Variable]:
    """Yield the variables that the settings classes of some files read.

    pydantic-settings 2 finds a field by its name in any case, behind ``env_prefix``, or
    by its alias.
    """
    for file in files:
        for definition in file.classes.values():
            if any(last_name(base) == "BaseSettings" for base in definition.bases):
                yield from _fields(definition)


def _fields(definition: ast.ClassDef) -> Iterator[Variable]:
    prefix = _prefix(definition)
    for statement in definition.body:
        if not isinstance(statement, ast.AnnAssign):
            continue
        if not isinstance(statement.target, ast.Name):
            continue
        declared = statement.value if isinstance(statement.value, ast.Call) else None
        aliases = [keyword(declared, each) for each in ALIASES] if declared else []
        alias = next((a.value for a in aliases if isinstance(a, ast.Constant)), None)
        name = str(alias) if alias else f"{prefix}{statement.target.id}".upper()
        required = statement.value is None or _requires(declared)
        kind = ast.unparse(statement.annotation)
        yield Variable(name, STAND_INS.get(kind, "rehearsal") if required else "")


def _requires(declared: ast.Call | None) -> bool:
    """True if ``Field(...)`` gives no default."""
    if declared is None or last_name(declared.func) != "Field":
        return False
    first = declared.args[0] if declared.args else keyword(declared, "default")
    is_open = isinstance(first, ast.Constant) and first.value is ...
    return is_open or (first is None and keyword(declared, "default_factory") is None)


def _prefix(definition: ast.ClassDef) -> str:
    """Return the ``env_prefix`` of a class: in ``model_config``, or in a class ``Config``."""
    for node in ast.walk(definition):
        value: ast.expr | None = None
        if isinstance(node, ast.Call):
            value = keyword(node, "env_prefix")
        elif (
            isinstance(node, ast.Assign) and last_name(node.targets[0]) == "env_prefix"
        ):
            value = node.value
        elif isinstance(node, ast.Dict):
            value = next(
                (
                    each
                    for key, each in zip(node.keys, node.values, strict=True)
                    if isinstance(key, ast.Constant) and key.value == "env_prefix"
                ),
                None,
            )
        if isinstance(value, ast.Constant):
            return str(value.value)
    return ""
