"""Reads what lists and dicts hold, and where their elements come out again.

An agent keeps its tools, its sub-agents and its providers in tables. What it calls on an
element, it calls on one of the things that were put in: ``self.tools[name].execute()``.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from art_adapt.code.annotations import alternatives
from art_adapt.code.nodes import awaited, called_name, dotted, last_name
from art_adapt.code.syntax import Syntax
from art_adapt.words import PUTS_ALL, PUTS_ONE

# Calls with the elements of what they are given, and methods with those of their object.
SAME_ELEMENTS = frozenset(
    {"list", "tuple", "set", "frozenset", "dict", "sorted", "reversed", "iter", "deque"}
    | {"filter"}
)
SAME_OBJECTS = frozenset({"values", "copy", "items"})
TUPLES = ("tuple", "Tuple")
TAKES_ONE = frozenset({"get", "pop", "popleft", "setdefault", "__getitem__"})
TAKE_ONE_OF = frozenset({"next", "choice", "min", "max"})  # functions
OF_ELEMENTS = frozenset(
    {"list", "List", "Sequence", "Iterable", "Iterator", "Collection", "set", "Set"}
    | {"tuple", "Tuple", "dict", "Dict", "Mapping", "MutableMapping", "defaultdict"}
    | {"MutableSequence", "OrderedDict", "deque", "frozenset"}
)


def container_of(syntax: Syntax, value: ast.expr) -> ast.expr | None:
    """Return the container that ``value`` is an element of; None if it is taken from none.

    That is ``tools`` for ``tools[name]``, for ``tools.get(name)``, and for what a loop
    over ``tools.values()`` binds.
    """
    if isinstance(value, ast.Subscript):
        return None if isinstance(value.slice, ast.Slice) else value.value
    if isinstance(value, ast.Call):
        if last_name(value.func) in TAKE_ONE_OF and value.args:
            return value.args[0]
        method = value.func if isinstance(value.func, ast.Attribute) else None
        return method.value if method and method.attr in TAKES_ONE else None
    if isinstance(value, ast.Name):
        return iterated(syntax, syntax.owner(value), value.id)
    return None


def iterated(syntax: Syntax, owner: str, name: str) -> ast.expr | None:
    """Return what a loop of a function goes over that binds a name to each element."""
    return _iterated(syntax).get((owner, name))


def held_by(container: ast.expr) -> tuple[list[ast.expr], list[ast.expr]]:
    """Return what a container is made of: its elements, and containers whose elements it has."""
    match container:
        case ast.Dict():
            pairs = list(zip(container.keys, container.values, strict=True))
            several = [value for key, value in pairs if key is None]
            return [value for key, value in pairs if key is not None], several
        case ast.List() | ast.Tuple() | ast.Set():
            several = [e.value for e in container.elts if isinstance(e, ast.Starred)]
            return [
                e for e in container.elts if not isinstance(e, ast.Starred)
            ], several
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
            return [container.elt], []
        case ast.DictComp():
            return [container.value], []
        case ast.BoolOp():
            return [], container.values
        case ast.IfExp():
            return [], [container.body, container.orelse]
        case ast.BinOp(op=ast.Add() | ast.BitOr()):
            return [], [container.left, container.right]
        case ast.Call(func=ast.Attribute(value=whole, attr=method)) if (
            method in SAME_OBJECTS
        ):
            return [], [whole]
        case ast.Call() if last_name(container.func) in SAME_ELEMENTS:
            named = [k.value for k in container.keywords if k.arg is not None]
            return named, container.args[-1:]
    return [], []


def put_into(
    syntax: Syntax, name: str, owner: str
) -> tuple[list[ast.expr], list[ast.expr]]:
    """Return what a file adds to a container after it is made, as ``held_by`` gives it.

    ``name``: how the container is spelled. ``owner``: the function that uses it. One that
    is an attribute, or the module's, is added to anywhere.
    """
    held: list[ast.expr] = []
    others: list[ast.expr] = []
    for where, each, is_one in _additions(syntax).get(name, ()):
        is_local = syntax.is_local(name, owner) or syntax.is_local(name, where)
        if where == owner or not is_local:
            (held if is_one else others).append(each)
    return held, others


def element_annotation(annotation: ast.expr) -> ast.expr | None:
    """Return the annotation of a container's elements: ``Tool`` of ``dict[str, Tool]``."""
    for each in alternatives(annotation):
        if isinstance(each, ast.Subscript):
            inner = each.slice
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            if last_name(each.value) == "Annotated":
                return element_annotation(parts[0])
            if last_name(each.value) in OF_ELEMENTS and parts:
                return parts[1 if len(parts) == 2 else 0]
    return None


@functools.lru_cache(maxsize=512)
def _iterated(syntax: Syntax) -> dict[tuple[str, str], ast.expr]:
    """Return what the loops of a file go over, by their functions and the names that they bind."""
    found: dict[tuple[str, str], ast.expr] = {}
    for node in syntax.nodes:
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            for target, container in _elements_in(node.target, node.iter):
                if isinstance(target, ast.Name):
                    found.setdefault((syntax.owner(node), target.id), container)
    return found


def _elements_in(
    target: ast.expr, over: ast.expr
) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the targets that a loop binds to elements, each with the container of these."""
    called = called_name(over) if isinstance(over, ast.Call) else ""
    if not isinstance(target, ast.Tuple):
        yield target, over
    elif isinstance(over, ast.Call) and called == "zip":
        yield from zip(target.elts, over.args, strict=False)
    elif len(target.elts) == 2:
        if called in ("items", "getmembers"):
            yield target.elts[1], over
        elif isinstance(over, ast.Call) and called == "enumerate" and over.args:
            yield from _elements_in(target.elts[1], over.args[0])
        else:  # for name, tool in pairs: each is a part of an element
            yield from ((each, over) for each in target.elts)


@functools.lru_cache(maxsize=512)
def _additions(syntax: Syntax) -> dict[str, list[tuple[str, ast.expr, bool]]]:
    """Return what is put into containers: the function, the value, whether it is one element."""
    found: dict[str, list[tuple[str, ast.expr, bool]]] = {}
    for node in syntax.nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Subscript):
                    entry = (syntax.owner(node), node.value, True)
                    found.setdefault(dotted(target.value) or "", []).append(entry)
        elif isinstance(node, ast.AugAssign):
            entry = (syntax.owner(node), node.value, False)
            found.setdefault(dotted(node.target) or "", []).append(entry)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in PUTS_ONE | PUTS_ALL
        ):
            into = found.setdefault(dotted(node.func.value) or "", [])
            for value in node.args[-1:]:
                entry = (syntax.owner(node), value, node.func.attr in PUTS_ONE)
                into.append(entry)
            into += [  # update(save=save)
                (syntax.owner(node), each.value, True)
                for each in node.keywords
                if each.arg is not None
            ]
    return found


def unpacked(syntax: Syntax, name: str, owner: str) -> list[tuple[ast.Call, int]]:
    """Return the calls whose result a name is an element of: ``answer, log = run()``."""
    return [
        (call, index)
        for where, call, index in _unpacked(syntax).get(name, ())
        if where == owner or not syntax.is_local(name, owner)
    ]


@functools.lru_cache(maxsize=512)
def _unpacked(syntax: Syntax) -> dict[str, list[tuple[str, ast.Call, int]]]:
    found: dict[str, list[tuple[str, ast.Call, int]]] = {}
    for node in syntax.nodes:
        if not isinstance(node, ast.Assign):
            continue
        made = awaited(node.value)
        for target in node.targets:
            if not isinstance(made, ast.Call) or not isinstance(target, ast.Tuple):
                continue
            for index, element in enumerate(target.elts):
                if isinstance(element, ast.Starred):
                    break  # how many it takes is not known
                entry = (syntax.owner(node), made, index)
                found.setdefault(dotted(element) or "", []).append(entry)
    return found


def element_at(whole: ast.expr, index: int) -> list[ast.expr]:
    """Return an element of a tuple, or of the annotation of one: ``tuple[str, Thread]``."""
    if isinstance(whole, ast.Subscript) and last_name(whole.value) in TUPLES:
        whole = whole.slice
    elements = whole.elts if isinstance(whole, ast.Tuple) else []
    return elements[index : index + 1]


def copied(call: ast.Call) -> ast.expr | None:
    """Return what a call makes a copy of: ``deepcopy(thread)``, ``config.model_copy()``."""
    if last_name(call.func) in ("copy", "deepcopy") and len(call.args) == 1:
        return call.args[0]
    if isinstance(call.func, ast.Attribute) and call.func.attr == "model_copy":
        return call.func.value
    return None
