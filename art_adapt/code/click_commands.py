"""Tells what click and typer make of a function: a command, and what its options are by default."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import Function, decorator_names, dotted, last_name
from art_adapt.code.syntax import Syntax


def is_click_command(syntax: Syntax, function: Function) -> bool:
    """True if a decorator of click makes the function a Command object."""
    if syntax.imports_module("click") is None:
        return False
    return any(
        name == "command" and not _is_typers(syntax, decorator)
        for name, decorator in zip(
            decorator_names(function.node), function.node.decorator_list, strict=True
        )
    )


def is_given_context(function: Function) -> bool:
    """True if click gives a command an object that only its command line makes: ``ctx``.

    A command of a group is none: the group makes the object first.
    """
    names = decorator_names(function.node)
    decorators = map(dotted, map(_called, function.node.decorator_list))
    alone = not {"click.command", "command"}.isdisjoint(decorators)
    return alone and not {"pass_context", "pass_obj"}.isdisjoint(names)


def _called(decorator: ast.expr) -> ast.expr:
    return decorator.func if isinstance(decorator, ast.Call) else decorator


def _is_typers(syntax: Syntax, decorator: ast.expr) -> bool:
    """True if a decorator is ``@app.command()`` of a ``typer.Typer()``."""
    named = _called(decorator)
    holder = named.value if isinstance(named, ast.Attribute) else named
    return any(
        isinstance(value, ast.Call) and syntax.qualified(value.func) == "typer.Typer"
        for value in syntax.values_of(holder)
    )


def defaults_of_click(function: Function) -> Iterator[tuple[str, ast.expr]]:
    """Yield what click gives a command for options that nobody types."""
    for decorator in function.node.decorator_list:
        if not isinstance(decorator, ast.Call):
            continue
        kind = last_name(decorator.func)
        names = [e.value for e in decorator.args if isinstance(e, ast.Constant)]
        flags = [name for name in names if isinstance(name, str)]
        if kind != "option" or not flags:
            continue
        own = next((name for name in flags if name.isidentifier()), max(flags, key=len))
        given = {k.arg: k.value for k in decorator.keywords if k.arg is not None}
        said = {name: getattr(value, "value", None) for name, value in given.items()}
        name = own.lstrip("-").partition("/")[0].replace("-", "_").lower()
        if "default" in given:
            yield name, given["default"]
        elif said.get("is_flag") or "/" in own:
            yield name, ast.Constant(False)
        elif said.get("multiple"):
            yield name, ast.Tuple([])
        elif not said.get("required") and "prompt" not in given:
            yield name, ast.Constant(None)
