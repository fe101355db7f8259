"""Find what runs a method together with the one that sets its object up before."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

from art_adapt.code.nodes import dotted, targets_of
from art_adapt.code.syntax import Syntax
from art_adapt.seen.episodes import Enclosing, SeenFunction
from art_adapt.survey.model import Survey


def around_set_up(
    method: SeenFunction, functions: Sequence[SeenFunction], survey: Survey
) -> SeenFunction | None:
    """Return what called a method and, before it, another that set what it reads.

    A new object has not been through that: ``game.setup()`` makes the agent that
    ``game.turn(text)`` talks to. It asked the model as well, or a method of the object itself
    calls both. None where nothing has to come before, or no function did both.
    """
    path, name = method.key
    owner = name.rpartition(".")[0]
    syntax = survey.syntax_of(path)
    if not owner or syntax is None:
        return None
    own = [each for each in functions if _owner(each) == (path, owner)]
    around = _around_asking(method, functions, own, syntax)
    if not around:
        setters = _setters(syntax, owner, name)
        around = [
            each
            for each in own
            if not setters.isdisjoint(_called(syntax, each.key[1]))
            and all(_has_all(each, [call]) for call in method.calls)
        ]
    return max(around, key=lambda each: each.depth, default=None)


def _owner(function: SeenFunction) -> tuple[Path, str]:
    """Return the file and the class of a method; "" for a function."""
    return function.key[0], function.key[1].rpartition(".")[0]


def _around_asking(
    method: SeenFunction,
    functions: Sequence[SeenFunction],
    own: Sequence[SeenFunction],
    syntax: Syntax,
) -> list[SeenFunction]:
    """Return the functions that made each call of a method, and before it one that asked.

    ``own``: the methods of its class. That one set what the method reads.
    """
    read = _attributes(syntax, method.key[1], ast.Load)
    for before in own:
        stored = _attributes(syntax, before.key[1], ast.Store)
        if before.key == method.key or read.isdisjoint(stored):
            continue
        pairs = [
            [[one, each] for one in before.calls if _precedes(one, each)]
            for each in method.calls
        ]
        if all(pairs):
            return [
                each
                for each in functions
                if all(any(_has_all(each, pair) for pair in found) for found in pairs)
            ]
    return []


def _setters(syntax: Syntax, owner: str, method: str) -> set[str]:
    """Return the methods that a method needs to have run: it reads what they alone set.

    One that it calls itself, as one that connects at first use, is none. Of a class that extends
    another, or whose constructor is written for it, nothing is known.
    """
    made = f"{owner}.__init__"
    definition = syntax.classes.get(owner)
    if definition is None or definition.bases or made not in syntax.functions:
        return set()
    usable = {
        name.removeprefix("self.")
        for name, values in syntax.assignments.items()
        for at, value in values
        if at == made and not (isinstance(value, ast.Constant) and value.value is None)
    }
    usable |= {
        target.id
        for each in definition.body
        if isinstance(each, ast.Assign | ast.AnnAssign) and each.value is not None
        for target in targets_of(each)
        if isinstance(target, ast.Name)
    }
    for name in _called(syntax, made):
        usable |= _attributes(syntax, f"{owner}.{name}", ast.Store)
    needed = _attributes(syntax, method, ast.Load) - usable
    return {
        each.node.name
        for each in syntax.functions.values()
        if each.class_name == owner
        and each.qualname not in (method, made)
        and not needed.isdisjoint(_attributes(syntax, each.qualname, ast.Store))
    } - _called(syntax, method)


def _called(syntax: Syntax, function: str) -> set[str]:
    """Return the names of the methods that a function calls."""
    return {
        node.func.attr
        for node in syntax.owned_by(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }


def _precedes(before: Enclosing, call: Enclosing) -> bool:
    """True if a call of another method of the same object had asked, and ended, by then."""
    return (
        before.run is call.run
        and before.call.owner is not None
        and before.call.owner == call.call.owner
        and before.requests[-1].number < call.call.number
    )


def _has_all(function: SeenFunction, calls: Sequence[Enclosing]) -> bool:
    """True if one call of a function was around all of some calls."""
    around = [{c.number for c in e.run.outward(e.call.around)} for e in calls]
    return any(
        outer.run is calls[0].run and outer.call.number in set.intersection(*around)
        for outer in function.calls
    )


def _attributes(syntax: Syntax, function: str, how: type[ast.expr_context]) -> set[str]:
    """Return the attributes of its object that a method reads, or sets."""
    return {
        node.attr
        for node in syntax.owned_by(function)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, how)
        and dotted(node) == f"self.{node.attr}"
    }
