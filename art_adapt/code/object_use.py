"""Tells from the code that uses a parameter whether it is an object that JSON cannot hold."""

from __future__ import annotations

import ast
import functools
import sys

from art_adapt.code.annotations import bare
from art_adapt.code.nodes import (
    Function,
    argument_of,
    arguments_of,
    dotted,
    given_to,
    last_name,
)
from art_adapt.code.project import Project
from art_adapt.code.resolution import resolve
from art_adapt.code.syntax import Syntax
from art_adapt.code.values import steps

HANDED_ON = 3  # functions through which a parameter goes
# What only describes texts, numbers and dicts: HttpUrl, ArrayLike, ChatCompletionMessageParam.
PLAIN_LIBRARIES = ("pydantic", "annotated_types", "typing_extensions", "openai")
ALIASES = ("Like", "Param", "Str", "Url", "Representation")

# The methods of what JSON holds: whoever has another one is an object.
PLAIN_METHODS = frozenset(
    name for kind in (str, list, dict, set, int, float) for name in dir(kind)
)


def is_an_object(
    project: Project,
    syntax: Syntax,
    function: Function,
    name: str,
    depth: int = HANDED_ON,
) -> bool:
    """True if a function uses a parameter as an object, or hands it on to one that does."""
    if is_used_as_object(syntax, function, name):
        return True
    written = syntax.assignments.get(name, ())
    own = [value.lineno for where, value in written if where == function.qualname]
    reused = min(own, default=None)
    calls = (
        node
        for node in syntax.owned_by(function.qualname)
        if isinstance(node, ast.Call)
        and name in map(dotted, given_to(node))
        and (reused is None or node.lineno < reused)
    )
    return depth > 0 and any(
        _is_of_a_library(project, project.files[path], callee, given)
        or is_an_object(project, project.files[path], callee, given, depth - 1)
        for call in calls
        for path, qualname in resolve(project, syntax, call.func)
        if (callee := project.files[path].functions.get(qualname)) is not None
        for given in callee.given
        if dotted(argument_of(call, given, callee.positional) or ast.Pass()) == name
        and not _asks_what_it_is(project.files[path], qualname, given)
    )


def _is_of_a_library(
    project: Project, syntax: Syntax, function: Function, name: str
) -> bool:
    """True if a parameter is annotated with a class that no standard module has: an encoder's."""
    annotation = next(
        (each.annotation for each in arguments_of(function.node) if each.arg == name),
        None,
    )
    if annotation is None:
        return False
    named, head = bare(annotation), (dotted(bare(annotation)) or "").partition(".")[0]
    top = (syntax.qualified(named) or "").partition(".")[0]
    standard = {*sys.stdlib_module_names, *PLAIN_LIBRARIES}
    imported = head in syntax.imports and project.located(syntax, head) is None
    is_alias = last_name(named).endswith(ALIASES)
    return imported and top not in standard and not is_alias


def _asks_what_it_is(syntax: Syntax, function: str, name: str) -> bool:
    """True if a function takes a parameter as a text or as an object, whichever it is."""
    return any(
        isinstance(node, ast.Call)
        and dotted(node.func) in ("isinstance", "hasattr")
        and dotted(node.args[0] if node.args else node) == name
        for node in syntax.owned_by(function)
    )


def is_used_as_object(syntax: Syntax, function: Function, name: str) -> bool:
    """True if the code calls a parameter, or a method of it that no JSON value has.

    A constructor's parameter is followed to the attribute that keeps it, and a list or
    dict to its elements.
    """
    spellings = {name, *_derived_names(syntax, function, name)}
    if (line := _reused_at(syntax, function, name)) is not None and not any(
        _used_as_object(syntax, node) == name
        for node in syntax.owned_by(function.qualname)
        if getattr(node, "lineno", line) < line
    ):
        spellings.remove(name)
    owner = function.qualname.rpartition(".")[0]
    for target, values in syntax.assignments.items():
        if target.startswith("self.") and any(
            where == function.qualname and name in _names_in(value)
            for where, value in values
        ):
            spellings.add(target)
    if not spellings.isdisjoint(_objects_in(syntax, function.qualname)):
        return True
    kept = {each for each in spellings if "." in each}
    return bool(kept) and any(
        not kept.isdisjoint(_objects_in(syntax, method))
        for method in syntax.functions
        if method.startswith(f"{owner}.")
    )


def comes_of_an_object(
    project: Project, syntax: Syntax, value: ast.expr, depth: int = HANDED_ON
) -> bool:
    """True if code uses a variable that a value comes from as only an object can be used.

    That is ``con`` in ``ask(con)``, if ``con = open_db()`` and ``open_db`` calls ``con.execute``
    before it returns ``con``.
    """
    owner = syntax.owner(value)
    if isinstance(value, ast.Name):
        written = syntax.assignments.get(value.id, ())
        once = sum(where == owner for where, _ in written) == 1
        if once and value.id in _objects_in(syntax, owner):
            return True
    return depth > 0 and any(
        comes_of_an_object(project, place, each, depth - 1)
        for place, each in steps(project, syntax, value)
    )


def is_entered(syntax: Syntax, value: ast.expr) -> bool:
    """True for what a block opens and closes: a file, a connection, a session."""
    return any(
        isinstance(syntax.parents.get(each), ast.withitem)
        for each in (value, *syntax.values_of(value))
    )


def _reused_at(syntax: Syntax, function: Function, name: str) -> int | None:
    """Return the first line at which a parameter's name is given to something else, if any is.

    For example ``message = response.choices[0].message``; not where nothing was given for
    it: ``if store is None: store = Store()``, ``store = store or Store()``.
    """
    lines = [
        value.lineno
        for where, value in syntax.assignments.get(name, ())
        if where == function.qualname
        and not _mentions(value, name)
        and not any(
            isinstance(outer, ast.If | ast.IfExp) and _mentions(outer.test, name)
            for outer in syntax.ancestors(value)
        )
    ]
    return min(lines, default=None)


def _mentions(value: ast.expr, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(value))


@functools.lru_cache(maxsize=4096)
def _objects_in(syntax: Syntax, function: str) -> frozenset[str]:
    """Return what a function calls, iterates over or reads attributes of as only objects allow."""
    found = (_used_as_object(syntax, node) for node in syntax.owned_by(function))
    return frozenset(name for name in found if name is not None)


def _derived_names(syntax: Syntax, function: Function, name: str) -> set[str]:
    """Return the names of collections that the function makes of a parameter's elements."""
    found = {name}
    for target, values in syntax.assignments.items():
        for where, value in values:
            if where == function.qualname and isinstance(
                value, ast.DictComp | ast.ListComp | ast.SetComp
            ):
                sources = {dotted(each.iter) for each in value.generators}
                element = getattr(value, "elt", None)
                if sources & found and not isinstance(element, ast.Subscript):
                    found.add(target)
    return found - {name}


def _names_in(value: ast.expr) -> set[str]:
    """Return the names that a value may be: ``x``, ``x or y``."""
    if isinstance(value, ast.BoolOp):
        return {name for each in value.values for name in _names_in(each)}
    return {value.id} if isinstance(value, ast.Name) else set()


def _used_as_object(syntax: Syntax, node: ast.AST) -> str | None:
    if isinstance(node, ast.Call):
        function = node.func
        while isinstance(function, ast.Subscript):  # tools[name]["function"](...)
            function = function.value
        return dotted(function)
    if isinstance(node, ast.Attribute):
        return None if node.attr in PLAIN_METHODS else dotted(node.value)
    if isinstance(node, ast.For | ast.comprehension) and isinstance(
        node.target, ast.Name
    ):
        each = node.target.id
        scope = node if isinstance(node, ast.For) else syntax.parents[node]
        if any(_is_element_object(inner, each) for inner in ast.walk(scope)):
            return dotted(node.iter)
    return None


def _is_element_object(node: ast.AST, name: str) -> bool:
    """True if ``name``, an element, or a part of it, is called or has an attribute."""
    if isinstance(node, ast.Call):
        inner = node.func
    elif isinstance(node, ast.Attribute) and node.attr not in PLAIN_METHODS:
        inner = node.value
    else:
        return False
    while isinstance(inner, ast.Subscript):
        inner = inner.value
    return isinstance(inner, ast.Name) and inner.id == name
