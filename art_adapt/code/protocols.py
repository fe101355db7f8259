"""Tells which classes implement a ``typing.Protocol``, which none of them names."""

from __future__ import annotations

import ast

from art_adapt.code.nodes import FunctionNode, last_name


def is_protocol(definition: ast.ClassDef) -> bool:
    """True if a class is a Protocol: ``class Model(Protocol)``, ``Protocol[T]``."""
    bases = (b.value if isinstance(b, ast.Subscript) else b for b in definition.bases)
    return "Protocol" in map(last_name, bases)


def fits(definition: ast.ClassDef, protocol: ast.ClassDef) -> bool:
    """True if a class has every method of a protocol, with parameters that fit."""
    own, wanted = _methods(definition), _methods(protocol)
    return bool(wanted) and all(
        name in own and _accepts(own[name], method) for name, method in wanted.items()
    )


def _methods(definition: ast.ClassDef) -> dict[str, FunctionNode]:
    return {
        each.name: each for each in definition.body if isinstance(each, FunctionNode)
    }


def _accepts(method: FunctionNode, wanted: FunctionNode) -> bool:
    """True if a method can be called in every way in which a protocol's can."""
    if isinstance(method, ast.AsyncFunctionDef) != isinstance(
        wanted, ast.AsyncFunctionDef
    ):
        return False
    own, given = method.args, wanted.args
    positional = [*own.posonlyargs, *own.args]
    asked = [*given.posonlyargs, *given.args]
    if len(asked) > len(positional) and own.vararg is None:
        return False
    named = {argument.arg for argument in (*positional, *own.kwonlyargs)}
    if own.kwarg is None and any(each.arg not in named for each in given.kwonlyargs):
        return False
    required = positional[len(asked) : len(positional) - len(own.defaults)]
    filled = {argument.arg for argument in given.kwonlyargs}
    return all(argument.arg in filled for argument in required)
