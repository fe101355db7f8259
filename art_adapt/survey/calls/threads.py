"""Finds the functions that executors and threads run.

Their threads start without the rollout's context.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator

from art_adapt.code.classes import FunctionKey
from art_adapt.code.hooks import unhooked
from art_adapt.code.nodes import dotted, keyword, last_name
from art_adapt.code.project import Project
from art_adapt.code.questions import DEEPEST
from art_adapt.code.resolution import referred, resolve
from art_adapt.code.syntax import Syntax
from art_adapt.code.values import Placed, steps
from art_adapt.survey.calls.asking import Asking
from art_adapt.survey.model import Span, ThreadStart
from art_adapt.words import THREAD_POOLS

POOL_METHODS = (
    "submit",
    "map",
    "imap",
    "imap_unordered",
    "starmap",
    "apply",
    "apply_async",
    "map_async",
    "starmap_async",
)
PROCESSES = (
    "futures.ProcessPoolExecutor",
    "multiprocessing.Pool",
    "multiprocessing.Process",
)
THREAD_CLASSES = ("Thread", "threading.Thread")
TIMER_CLASSES = ("Timer", "threading.Timer")


def find_thread_starts(
    project: Project,
    syntax: Syntax,
    reaching: set[FunctionKey],
    asking: Asking,
) -> Iterator[ThreadStart]:
    """Find the functions that run in a thread and may reach a policy call.

    ``reaching``: the functions that may reach one. A function that cannot be resolved (a
    parameter, a lookup) counts if it is started inside one of them: there it may be a sub-
    agent.
    """
    for node in syntax.nodes:
        if not isinstance(node, ast.Call):
            continue
        function = started_function(node, syntax)
        if function is None or resolve(project, syntax, node.func):
            continue  # a method of the project's own starts what it does in its body
        bare = unhooked(syntax, function, "carried")
        marked, function = bare is not function, bare
        if marked or _may_reach(project, syntax, function, node, reaching, asking):
            yield ThreadStart(
                syntax.place(function),
                Span.of(function),
                syntax.text(function),
                syntax.text(node.func),
                marked,
                Span.of(node),
            )


def started_function(
    call: ast.Call, syntax: Syntax, pools: re.Pattern[str] = THREAD_POOLS
) -> ast.expr | None:
    """Return what a call starts in another thread, if it starts something there."""
    name = syntax.qualified(call.func) or ""
    if name in THREAD_CLASSES:
        return keyword(call, "target") or (call.args[1] if len(call.args) > 1 else None)
    if name in TIMER_CLASSES:
        return keyword(call, "function") or (
            call.args[1] if len(call.args) > 1 else None
        )
    if (
        not isinstance(call.func, ast.Attribute)
        or not call.args
        or isinstance(call.args[0], ast.Starred)
    ):
        return None
    pool = syntax.values_of(call.func.value)
    own = f"{syntax.owner(call).rpartition('.')[0]}.{call.func.attr}"
    if any(starts_processes(syntax, made) for made in pool) or (
        dotted(call.func.value) == "self" and own in syntax.functions
    ):
        return None  # in another process, or a method that is no pool's
    if call.func.attr == "run_in_executor":
        return (
            call.args[1]
            if len(call.args) > 1 and not isinstance(call.args[1], ast.Starred)
            else None
        )
    if call.func.attr == "submit" or (
        call.func.attr in POOL_METHODS and _is_pool(call.func.value, syntax, pools)
    ):
        return call.args[0]
    return None


def starts_processes(syntax: Syntax, node: ast.AST) -> bool:
    """True if a call makes a process, or a pool of them."""
    called = syntax.qualified(node.func) if isinstance(node, ast.Call) else None
    return (called or "").endswith(PROCESSES)


def _is_pool(expression: ast.expr, syntax: Syntax, pools: re.Pattern[str]) -> bool:
    made = syntax.values_of(expression) or [expression]
    return any(pools.search(syntax.text(each)) for each in made)


def _may_reach(
    project: Project,
    syntax: Syntax,
    function: ast.expr,
    start: ast.Call,
    reaching: set[FunctionKey],
    asking: Asking,
) -> bool:
    """True if running ``function`` in a thread may lead to a policy call."""
    if isinstance(function, ast.Constant):
        return False
    if _leads(project, syntax, function, reaching, asking):
        return True
    if referred(project, syntax, function) or isinstance(function, ast.Lambda):
        return False
    name = dotted(function) or ""
    if hasattr(builtins, name) and name not in syntax.assignments:
        return False
    if name.partition(".")[0] in syntax.imports and not name.startswith(
        ("self.", "cls.")
    ):
        return False  # imported from outside the project
    return (syntax.source.path, syntax.owner(start)) in reaching


def _leads(
    project: Project,
    syntax: Syntax,
    function: ast.expr,
    reaching: set[FunctionKey],
    asking: Asking,
    seen: frozenset[ast.expr] = frozenset(),
) -> bool:
    """True if ``function``, or what is given, kept or returned for it, leads to a policy call.

    ``seen``: the values on the way from what the thread runs.
    """
    if asking.completes(function):
        return True
    if isinstance(function, ast.Lambda):
        return any(
            set(resolve(project, syntax, node)) & reaching
            for node in ast.walk(function.body)
            if isinstance(node, ast.Name | ast.Attribute)
        )
    if set(referred(project, syntax, function)) & reaching:
        return True
    if function in seen or len(seen) >= DEEPEST:
        return False
    further: Iterable[Placed] = steps(project, syntax, function)
    if isinstance(function, ast.Call) and last_name(function.func) == "partial":
        further = ((syntax, each) for each in function.args[:1])
    return any(
        _leads(project, place, each, reaching, asking, seen | {function})
        for place, each in further
    )
