"""Reads the defaults that are declared by a call: ``Field("", max_length=9)``."""

from __future__ import annotations

import ast

from art_adapt.code.nodes import dotted

# Calls that declare a default instead of being one: of dataclasses, pydantic, typer, and
# FastAPI.
DECLARED = ("field", "Field", "Option", "Argument", "Form", "Query", "Body")


def default_of(value: ast.expr | None) -> ast.expr | None:
    """Return the default in ``field(default_factory=list)`` or ``Field("", max_length=9)``."""
    if not isinstance(value, ast.Call):
        return value
    if (dotted(value.func) or "").split(".")[-1] not in DECLARED:
        return value
    given = [
        k for k in value.keywords if k.arg in ("default", "default_factory", "init")
    ]
    if given:
        return ast.Name("...") if given[0].arg != "default" else given[0].value
    first = value.args[0] if value.args else None
    required = isinstance(first, ast.Constant) and first.value is ...
    return None if required else first


def passed_default(value: ast.expr | None) -> ast.expr | None:
    """Return the default that episode() can pass or leave out; None: the scenario has to say.

    A declaration's default is passed, and can only be if it is a literal.
    """
    default = default_of(value)
    if default is None or default is value:
        return default
    try:
        literal = ast.literal_eval(default)
    except ValueError:
        return None
    return None if literal is ... else default
