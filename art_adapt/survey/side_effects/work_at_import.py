"""Finds what importing a file does: it asks, serves, or reads the command line."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from art_adapt.code.nodes import last_name
from art_adapt.code.syntax import MODULE_LEVEL, Syntax
from art_adapt.definitions import called_name, definitions_of
from art_adapt.survey.side_effects.effects import harm_of
from art_adapt.survey.side_effects.harm import Effect, Harm
from art_adapt.survey.side_effects.library_calls import RUN_AT_ONCE, RUNS_ON


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
    return reads or _asks_by_itself(call, asks) or _runs_on(syntax, call)


def _asks_by_itself(call: ast.Call, asks: Callable[[ast.AST], bool]) -> bool:
    """True if a call asks a model, and none inside it does.

    Of a function that is only handed on, as in ``ChatInterface(fn=reply)`` or
    ``partial(create)``, few things make a call at once.
    """
    given = [*call.args, *(each.value for each in call.keywords)]
    if any(
        isinstance(inner, ast.Call) and asks(inner)
        for value in given
        for inner in ast.walk(value)
    ):
        return False  # that one is named instead
    handed = last_name(call.func) in RUN_AT_ONCE and any(map(asks, given))
    return asks(call.func) or handed


def _runs_on(syntax: Syntax, call: ast.Call) -> bool:
    """True if a call serves for good: ``app.run()``, ``bot.run_polling()``, ``uvicorn.run(app)``."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in RUNS_ON:
        return False
    holder = call.func.value
    made = any(isinstance(value, ast.Call) for value in syntax.values_of(holder))
    return syntax.qualified(call.func) == "uvicorn.run" or (
        made and isinstance(syntax.parents.get(call), ast.Expr)
    )
