"""Finds the functions that a file brings in with the object that decorates them.

``app.include_router(chat.router)`` lets an application answer with what stands below
``@router.post(...)`` in another file; ``cli.add_typer(sub.app)`` does so with commands. No
call leads to those functions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import TypeGuard

from art_adapt.code.classes import FunctionKey
from art_adapt.code.mentions import variable_read
from art_adapt.code.nodes import dotted, given_to, last_name
from art_adapt.code.project import Project
from art_adapt.code.syntax import Syntax

# What takes in the functions of an object: of FastAPI, Flask, Starlette, typer, click, aiohttp,
# aiogram and Sanic.
TAKES_IN = frozenset(
    {"include_router", "include_routers", "register_blueprint", "mount", "blueprint"}
    | {"add_typer", "add_command", "add_routes", "add_subapp", "add_router"}
)


def brought_in(project: Project, paths: Iterable[Path]) -> set[FunctionKey]:
    """Return the functions below decorators of the objects that some files take in.

    Those of objects that are taken in where these are made count as well: a router's routers.
    """
    found: set[FunctionKey] = set()
    left, seen = list(paths), set[Path]()
    while left:
        path = left.pop()
        if path in seen:
            continue
        seen.add(path)
        syntax = project.files[path]
        for node in syntax.nodes:
            for given in given_to(node) if _takes_in(node) else ():
                held = variable_read(project, syntax, given)
                if held is not None:
                    place, name = held
                    names = _decorated_by(place, name)
                    found |= {(place.source.path, each) for each in names}
                    left.append(place.source.path)
    return found


def _takes_in(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and last_name(node.func) in TAKES_IN


def _decorated_by(syntax: Syntax, name: str) -> set[str]:
    """Return the functions below ``@name.something`` or ``@name.something(...)``."""
    return {
        function.qualname
        for function in syntax.functions.values()
        for each in function.node.decorator_list
        if (dotted(each.func if isinstance(each, ast.Call) else each) or "").startswith(
            f"{name}."
        )
    }
