"""Find the lists that trajectories are made of, and that may grow after they were copied."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import argument_of, dotted
from art_adapt.rules.code.file import File
from art_adapt.words import GROWS_LIST

ITEMS = "messages_and_choices"
Key = tuple[str, str]  # whose a list is, a function's or an object's, and its name


def copied_before(file: File, new: tuple[ast.Call, ...]) -> frozenset[ast.expr]:
    """Return the lists, where a statement adds to them what ``new`` trajectories do not get."""
    copies: dict[Key, list[ast.Call]] = {}
    for key, call in _copies(file, new):
        copies.setdefault(key, []).append(call)
    if not copies:
        return frozenset()
    whole = _put_as_a_whole(file)
    return frozenset(
        grown
        for grown in _grown_lists(file)
        if (made := copies.get(key_of(file, grown)))
        and all(_is_before(file, call, grown) for call in made)
        and key_of(file, grown) not in whole
    )


def _grown_lists(file: File) -> Iterator[ast.expr]:
    """Yield the expressions of lists to which a statement adds something."""
    yield from (grown for _, grown in file.method_calls(*GROWS_LIST))
    for node in file.syntax.nodes:
        if isinstance(node, ast.AugAssign):
            yield node.target


def held_by_objects(file: File, new: tuple[ast.Call, ...]) -> frozenset[Key]:
    """Return the lists of objects that trajectories are made of: ``self.lines`` of its class.

    ``Trajectory(messages_and_choices=chat.lines)`` copies it: only if the function is then done
    with ``chat``, it certainly has all of it.
    """
    found = set()
    for call in new:
        last = call.end_lineno or call.lineno
        for given in _made_of(file, call):
            if not isinstance(given, ast.Attribute):
                continue
            holder = dotted(given.value)
            if holder == "self":
                found.add(key_of(file, given))
            elif any(read.lineno > last for read in file.reads(holder, call)):
                continue
            for value in file.values(given.value):
                made = value.node.func if isinstance(value.node, ast.Call) else None
                if file.has(value) and (name := dotted(made)) in file.syntax.classes:
                    found.add((name or "", f"self.{given.attr}"))
    return frozenset(found)


def key_of(file: File, expression: ast.expr) -> Key:
    """Return whose list an expression is, and its name there."""
    owner, name = file.syntax.owner(expression), dotted(expression) or ""
    is_own = name.startswith("self.")
    return (owner.rpartition(".")[0] if is_own else owner), name


def _copies(file: File, new: tuple[ast.Call, ...]) -> Iterator[tuple[Key, ast.Call]]:
    """Yield the lists that trajectories are made of, each with the call that copies it.

    For a helper that makes one of its parameter, that is the call of the helper.
    """
    functions = file.flow.functions
    for call in new:
        for given in _made_of(file, call):
            function = file.function_of(call)
            name = dotted(given) or ""
            if function is None or name not in function.given:
                yield key_of(file, given), call
                continue
            for outer in functions.calls_of(file.syntax, function):
                passed = argument_of(outer, name, function.positional)
                if passed is not None:
                    yield key_of(file, passed), outer


def _made_of(file: File, call: ast.Call) -> Iterator[ast.expr]:
    """Yield the list that a trajectory is constructed with, also of ``**fields``."""
    for each in call.keywords:
        if each.arg == ITEMS:
            yield each.value
        elif each.arg is None:
            for value in file.contents.item(each.value, ITEMS).written:
                if file.has(value):
                    yield value.node


def _is_before(file: File, call: ast.Call, grown: ast.expr) -> bool:
    """Return whether a trajectory that is kept certainly is made before a list grows."""
    syntax = file.syntax
    if not isinstance(syntax.parents.get(call), ast.Assign | ast.AnnAssign):
        return False
    if syntax.owner(call) != syntax.owner(grown):
        return syntax.owner(call).endswith((".__init__", ".__post_init__"))
    around = set(syntax.enclosing_loops(call))
    return call.lineno < grown.lineno and around.isdisjoint(
        syntax.enclosing_loops(grown)
    )


def _put_as_a_whole(file: File) -> frozenset[Key]:
    """Return the lists that a statement about a trajectory's own list mentions."""
    about = {
        next(each for each in file.syntax.ancestors(node) if isinstance(each, ast.stmt))
        for node in file.syntax.nodes
        if isinstance(node, ast.Attribute) and node.attr == ITEMS
    }
    return frozenset(
        key_of(file, node)
        for statement in about
        if not isinstance(statement, ast.For | ast.AsyncFor | ast.While | ast.If)
        for node in ast.walk(statement)
        if isinstance(node, ast.Name | ast.Attribute)
    )
