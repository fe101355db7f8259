"""Finds the loop that makes a completion call turn after turn.

Its body extends the conversation. A loop that only tries again until a call succeeds, one
over chunks or test cases, and one that asks a person, are none.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from art_adapt.survey.call_graph import CallGraph
from art_adapt.survey.classes import FunctionKey
from art_adapt.survey.completion_calls import FoundCall
from art_adapt.survey.effects import asks_a_person
from art_adapt.survey.growth import (
    CONVERSATION_NAMES,
    Growing,
    grown_in,
    names_in,
    only_tries_again,
    sends_answers,
)
from art_adapt.survey.model import ToolLoop
from art_adapt.survey.nodes import dotted
from art_adapt.survey.project import Project
from art_adapt.survey.syntax import Syntax

OUTWARD = 3  # calls from the completion call to the loop
RETRIES = re.compile(r"retr(y|ies)|attempt|tries|trial|backoff", re.IGNORECASE)

_Loop = ast.For | ast.AsyncFor | ast.While
_Around = tuple[Syntax, _Loop, ast.expr]  # with the call that leads to the completion


def find_tool_loop(
    project: Project, graph: CallGraph, growing: Growing, call: FoundCall
) -> ToolLoop | None:
    """Find the turn loop around ``call``, in its own function or in its callers."""
    around = list(_around(project, graph, call.syntax, call.callee, OUTWARD))
    sent = dotted(call.messages) if call.messages is not None else None

    def extends(syntax: Syntax, loop: _Loop, site: ast.expr) -> bool:
        if only_tries_again(loop, growing):
            return False
        around = {site, *syntax.ancestors(site)}
        outer = syntax.parents.get(site)
        names = names_in(outer) if isinstance(outer, ast.Call) else set()
        return any(
            name in names
            or name == sent
            or (name[:5] == "self." and name[5:].lstrip("_") in CONVERSATION_NAMES)
            for name in grown_in(loop, growing)
        ) or sends_answers(loop, around.__contains__)

    def repeats(syntax: Syntax, loop: _Loop, site: ast.expr) -> bool:
        if not _is_open(loop) or _is_retry(loop):
            return False
        return not asks_a_person(syntax, loop)

    return _first(around, extends) or _first(around, repeats)


def _first(
    around: list[_Around], is_turns: Callable[[Syntax, _Loop, ast.expr], bool]
) -> ToolLoop | None:
    for syntax, loop, site in around:
        if is_turns(syntax, loop, site):
            header, limit = _header(syntax, loop), _turn_limit(syntax, loop)
            return ToolLoop(syntax.place(loop), header, limit)
    return None


def _around(
    project: Project, graph: CallGraph, syntax: Syntax, call: ast.expr, depth: int
) -> Iterator[_Around]:
    """The loops around a call, from the inside, then those around its function's uses."""
    for loop in syntax.enclosing_loops(call):
        yield syntax, loop, call
    if depth == 0:
        return
    key: FunctionKey = (syntax.source.path, syntax.owner(call))
    for caller in graph.callers(key):
        if caller != key:
            for site in graph.sites[caller, key]:
                place = project.files[caller[0]]
                yield from _around(project, graph, place, site, depth - 1)


def _is_open(loop: _Loop) -> bool:
    """Whether the loop counts or waits, and does not go through data."""
    if isinstance(loop, ast.While):
        return True
    called = loop.iter.func if isinstance(loop.iter, ast.Call) else None
    name = (dotted(called) or "").split(".")[-1] if called is not None else ""
    return name in ("range", "trange", "count", "tqdm")


def _is_retry(loop: _Loop) -> bool:
    """Whether the loop is left on success, and goes on after a failure."""
    head = (
        loop.test
        if isinstance(loop, ast.While)
        else ast.Tuple([loop.target, loop.iter])
    )
    names = [dotted(node) or "" for node in ast.walk(head)]
    if any(RETRIES.search(name) for name in names):
        return True
    return any(
        isinstance(statement, ast.Try)
        and statement.handlers
        and any(_leaves(each) for each in (*statement.body, *statement.orelse))
        and not all(_leaves(handler) for handler in statement.handlers)
        and not grown_in(loop, {})
        for statement in loop.body
    )


def _leaves(node: ast.AST) -> bool:
    return any(
        isinstance(each, ast.Return | ast.Break | ast.Raise) for each in ast.walk(node)
    )


def _header(syntax: Syntax, loop: ast.For | ast.AsyncFor | ast.While) -> str:
    if isinstance(loop, ast.While):
        return f"while {syntax.text(loop.test)}"
    return f"for {syntax.text(loop.target)} in {syntax.text(loop.iter)}"


def _turn_limit(syntax: Syntax, loop: ast.For | ast.AsyncFor | ast.While) -> str | None:
    """The expression that bounds the turns; None where only the model ends the loop."""
    if isinstance(loop, ast.While):
        for node in ast.walk(loop.test):
            if isinstance(node, ast.Compare) and isinstance(
                node.ops[0], ast.Lt | ast.LtE
            ):
                return syntax.text(node.comparators[0])
            if isinstance(node, ast.Compare) and isinstance(
                node.ops[0], ast.Gt | ast.GtE
            ):
                return syntax.text(node.left)
        return _guard(syntax, loop)
    if (
        isinstance(loop.iter, ast.Call)
        and dotted(loop.iter.func) in ("range", "trange")
        and loop.iter.args
    ):
        return _count(syntax, loop.iter.args)
    return f"the length of {syntax.text(loop.iter)}"


def _count(syntax: Syntax, given: list[ast.expr]) -> str:
    """How often ``range(*given)`` counts: ``n`` for ``range(1, n + 1)``."""
    if len(given) == 1:
        return syntax.text(given[0])
    first, last = given[0], given[1]
    if len(given) > 2:  # it has a step
        return f"the length of range({', '.join(map(syntax.text, given))})"
    numbers = [n.value for n in (first, last) if isinstance(n, ast.Constant)]
    if len(numbers) == 2 and all(isinstance(number, int) for number in numbers):
        return str(max(0, int(str(numbers[1])) - int(str(numbers[0]))))
    if isinstance(first, ast.Constant) and first.value == 0:
        return syntax.text(last)
    if (
        isinstance(last, ast.BinOp)
        and isinstance(last.op, ast.Add)
        and ast.dump(last.right) == ast.dump(first)
    ):
        return syntax.text(last.left)
    return f"{syntax.text(last)} - {syntax.text(first)}"


def _guard(syntax: Syntax, loop: ast.While) -> str | None:
    """The bound in ``if turns >= most: break``, where the loop counts ``turns``."""
    counted = {
        dotted(node.target)
        for node in ast.walk(loop)
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add)
    }
    for node in ast.walk(loop):
        if not isinstance(node, ast.If) or not isinstance(node.test, ast.Compare):
            continue
        test = node.test
        if (
            dotted(test.left) in counted
            and isinstance(test.ops[0], ast.Gt | ast.GtE | ast.Eq)
            and node.body
            and isinstance(node.body[-1], ast.Break | ast.Return | ast.Raise)
        ):
            return syntax.text(test.comparators[0])
    return None
