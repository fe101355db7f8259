"""Finds what importing a file does: it asks, serves, or reads the command line."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from art_adapt.code.nodes import given_to, last_name
from art_adapt.code.syntax import MODULE_LEVEL, Syntax
from art_adapt.definitions import called_name, definitions_of
from art_adapt.survey.side_effects.effects import harm_of
from art_adapt.survey.side_effects.harm import Effect, Harm
from art_adapt.survey.side_effects.library_calls import (
    RUN_AT_ONCE,
    RUNNERS,
    RUNS_ON,
    STARTED,
)


def find_work_at_import(
    syntax: Syntax, asks: Callable[[ast.AST], bool]
) -> Iterator[Effect]:
    """Find what importing the file does: it asks a model or a person, reads argv, or serves.

    One effect stands for all of it.
    """
    calls = [
        node
        for node in syntax.owned_by(MODULE_LEVEL)
        if isinstance(node, ast.Call)
        and syntax.runs_in(node) == MODULE_LEVEL
        and _works_at_import(syntax, node, asks)
    ]
    # Of asyncio.run(ask("...")), the inner one is named.
    outer = {up for call in calls for up in syntax.ancestors(call)}
    calls = [call for call in calls if call not in outer]
    if not calls:
        return
    names = tuple(dict.fromkeys(map(called_name, calls)))
    if definitions_of(syntax.source.tree, names) is None:
        names = ()
    first = min(calls, key=lambda call: call.lineno)
    called = first.func
    if isinstance(called, ast.Call) and called.args:  # behind its hook
        called = called.args[0]
    what = f"{syntax.text(called)}()"
    yield Effect(syntax.place(first), Harm.IMPORT, what, names)


def _works_at_import(
    syntax: Syntax, call: ast.Call, asks: Callable[[ast.AST], bool]
) -> bool:
    if syntax.is_guarded(call):
        return False
    if call in getattr(syntax.parents[call], "decorator_list", ()):
        return False  # what it decorates is not run yet
    name = syntax.qualified(call.func) or ""
    reads = name.endswith(".parse_args") or harm_of(call, syntax) is Harm.ASKS
    return (
        reads
        or _asks_by_itself(call, asks)
        or _runs_on(syntax, call)
        or _is_repeated_for_good(syntax, call)
    )


def _is_repeated_for_good(syntax: Syntax, call: ast.Call) -> bool:
    """True if a call stands in a loop without an end: ``while True: schedule.run_pending()``."""
    return any(
        isinstance(outer, ast.While)
        and isinstance(outer.test, ast.Constant)
        and outer.test.value
        and not any(isinstance(node, ast.Break) for node in ast.walk(outer))
        for outer in syntax.ancestors(call)
    )


def _asks_by_itself(call: ast.Call, asks: Callable[[ast.AST], bool]) -> bool:
    """True if a call asks a model, and none inside it does.

    Of a function that is only handed on, as in ``ChatInterface(fn=reply)`` or
    ``partial(create)``, few things make a call at once.
    """
    given = given_to(call)
    if any(
        isinstance(inner, ast.Call) and asks(inner)
        for value in given
        for inner in ast.walk(value)
    ):
        return False  # that one is named instead
    handed = last_name(call.func) in RUN_AT_ONCE and any(map(asks, given))
    return asks(call.func) or handed


def _runs_on(syntax: Syntax, call: ast.Call) -> bool:
    """True if a call runs a program: ``app.run()``, ``uvicorn.run(app)``, ``asyncio.run(main())``.

    Or it calls a function of the file that does.
    """
    qualified = syntax.qualified(call.func)
    if qualified in RUNNERS:
        return True
    if isinstance(call.func, ast.Name) and call.func.id in syntax.functions:
        inner = (n for n in syntax.owned_by(call.func.id) if isinstance(n, ast.Call))
        return any(_serves(syntax, each) for each in inner)
    return _serves(syntax, call)


def _serves(syntax: Syntax, call: ast.Call) -> bool:
    """True if a call runs on for good, of a module's object or a runner's."""
    if syntax.qualified(call.func) in RUNNERS:
        return True
    if not isinstance(call.func, ast.Attribute):
        return False
    receiver, method = call.func.value, call.func.attr
    made = [
        v for v in (receiver, *syntax.values_of(receiver)) if isinstance(v, ast.Call)
    ]
    if not made or not isinstance(syntax.parents.get(call), ast.Expr):
        return False
    started = method == "start" and any(last_name(v.func) in STARTED for v in made)
    return started or method in RUNS_ON
