"""Finds the loop that makes a completion call turn after turn.

Its body extends the conversation. A loop that only tries again until a call succeeds, one
over chunks or test cases, and one that asks a person, are none.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator

from art_adapt.code.call_graph import CallGraph
from art_adapt.code.classes import FunctionKey
from art_adapt.code.nodes import block_of, dotted, last_name, statements_after
from art_adapt.code.project import Project
from art_adapt.code.reaching import goes_on
from art_adapt.code.syntax import Syntax
from art_adapt.survey.calls.completion_calls import FoundCall
from art_adapt.survey.calls.growth import (
    Growing,
    extends,
    grown_in,
    names_in,
    only_tries_again,
    sends_answers,
)
from art_adapt.survey.model import ToolLoop
from art_adapt.survey.side_effects.effects import asks_a_person
from art_adapt.words import ATTEMPTS, CONVERSATIONS

OUTWARD = 3  # calls from the completion call to the loop
LEAVING = (ast.Break, ast.Return, ast.Raise)
TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
    ast.Eq: ast.Eq,
}

NEGATED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
}

_Loop = ast.For | ast.AsyncFor | ast.While
_Around = tuple[Syntax, _Loop, ast.expr]  # with the call that leads to the completion


MESSAGES = " messages in "  # of a limit that counts those, and not the turns


def find_tool_loop(
    project: Project,
    graph: CallGraph,
    growing: Growing,
    changing: frozenset[ast.AST],
    call: FoundCall,
) -> ToolLoop | None:
    """Find the turn loop around ``call``, in its own function or in its callers."""
    around = list(_around(project, graph, call.syntax, call.callee, OUTWARD))
    sent = dotted(call.messages) if call.messages is not None else None

    def grows(syntax: Syntax, loop: _Loop, site: ast.expr) -> bool:
        if only_tries_again(loop, growing) or _is_left_after(syntax, loop, site):
            return False
        around = {site, *syntax.ancestors(site)}
        outer = syntax.parents.get(site)
        names = names_in(outer) if isinstance(outer, ast.Call) else set()
        names |= {sent} if sent is not None else set()
        return (
            bool(extends(syntax, loop, names, growing))
            or any(
                name[:5] == "self." and name[5:].lstrip("_") in CONVERSATIONS
                for name in grown_in(loop, growing)
            )
            or sends_answers(loop, around.__contains__, changing)
        )

    def grows_by_turns(syntax: Syntax, loop: _Loop, site: ast.expr) -> bool:
        return not _is_named_retry(loop) and grows(syntax, loop, site)

    def repeats(syntax: Syntax, loop: _Loop, site: ast.expr) -> bool:
        if (
            not counts_or_waits(loop)
            or _is_retry(loop)
            or _is_left_after(syntax, loop, site)
        ):
            return False
        return not asks_a_person(syntax, loop)

    return (
        _first(around, grows_by_turns)
        or _first(around, grows)
        or _first(around, repeats)
    )


def _is_left_after(syntax: Syntax, loop: _Loop, site: ast.expr) -> bool:
    """True if a loop is left in any case after what ``site`` is part of."""
    inner: ast.AST = site
    left = False
    for outer in syntax.ancestors(site):
        if isinstance(outer, ast.Try) and outer.handlers and inner in outer.body:
            return False  # it goes on after a failure
        left = left or isinstance(inner, ast.Return)
        if outer is loop:
            return left
        if isinstance(outer, ast.If):
            last = (outer.body if inner in outer.body else outer.orelse or [outer])[-1]
            own = next(syntax.enclosing_loops(outer), None) is loop
            left |= isinstance(last, ast.Return | ast.Raise)
            left |= own and isinstance(last, ast.Break)
        inner = outer
    return left


def _first(
    around: list[_Around], is_turns: Callable[[Syntax, _Loop, ast.expr], bool]
) -> ToolLoop | None:
    for syntax, loop, site in around:
        if is_turns(syntax, loop, site):
            header, limit = _header(syntax, loop), _turn_limit(syntax, loop)
            return ToolLoop(syntax.place(loop), header, limit, syntax.owner(loop))
    return None


def _around(
    project: Project, graph: CallGraph, syntax: Syntax, call: ast.expr, depth: int
) -> Iterator[_Around]:
    """Yield the loops around a call, from the inside, then those around its function's uses."""
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


def counts_or_waits(loop: _Loop) -> bool:
    """True if the loop counts or waits, and does not go through data."""
    if isinstance(loop, ast.While):
        return True
    called = _iterated(loop)
    name = last_name(called.func) if isinstance(called, ast.Call) else ""
    over_rows = any(
        isinstance(node, ast.Call) and dotted(node.func) == "len"
        for node in ast.walk(called)
    )
    return name in ("range", "trange", "count") and not over_rows


def _iterated(loop: ast.For | ast.AsyncFor) -> ast.expr:
    """Return what a loop goes through, without a bar that shows how far it is."""
    shown = loop.iter
    while isinstance(shown, ast.Call) and shown.args:
        if last_name(shown.func) not in ("tqdm", "track", "enumerate"):
            break
        shown = shown.args[0]
    return shown


def _is_retry(loop: _Loop) -> bool:
    """True if the loop is left on success, and goes on after a failure."""
    return _is_named_retry(loop) or any(
        isinstance(each, ast.Try) and _tries_again(each) and not grown_in(loop, {})
        for each in loop.body
    )


def _tries_again(attempt: ast.Try) -> bool:
    """True if an attempt ends a loop, certainly or at times, and a failure in it does less so."""
    tried, failed = [*attempt.body, *attempt.orelse], attempt.handlers
    if not goes_on(tried):
        return any(goes_on(handler.body) for handler in failed)
    return any(map(_leaves, tried)) and not all(map(_leaves, failed))


def _is_named_retry(loop: _Loop) -> bool:
    """True if a loop counts attempts, by the names in its header."""
    head = (
        loop.test
        if isinstance(loop, ast.While)
        else ast.Tuple([loop.target, loop.iter])
    )
    return any(ATTEMPTS.search(dotted(node) or "") for node in ast.walk(head))


def _leaves(node: ast.AST) -> bool:
    return any(isinstance(each, LEAVING) for each in ast.walk(node))


def _header(syntax: Syntax, loop: ast.For | ast.AsyncFor | ast.While) -> str:
    if isinstance(loop, ast.While):
        return f"while {syntax.text(loop.test)}"
    return f"for {syntax.text(loop.target)} in {syntax.text(loop.iter)}"


def _turn_limit(syntax: Syntax, loop: ast.For | ast.AsyncFor | ast.While) -> str | None:
    """Return the expression that bounds the turns; None where only the model ends the loop."""
    if isinstance(loop, ast.While):
        negated = {
            inner
            for node in ast.walk(loop.test)
            if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
            for inner in ast.walk(node.operand)
        }
        uncertain = _added_to(loop) - _counted(syntax, loop)
        for node in ast.walk(loop.test):
            if not isinstance(node, ast.Compare):
                continue
            asked = type(node.ops[0])
            less, more = node.left, node.comparators[0]
            operator = (NEGATED.get(asked, asked) if node in negated else asked)()
            if isinstance(operator, ast.Gt | ast.GtE):
                less, more = more, less
            elif not isinstance(operator, ast.Lt | ast.LtE):
                continue
            if isinstance(getattr(more, "value", None), float):
                continue  # a share or a score, and no number of turns
            if dotted(less) not in uncertain:  # a turn may not count
                return _between(syntax, less, more, operator)
        return _countdown(syntax, loop) or _guard(syntax, loop)
    through = _iterated(loop)
    if (
        isinstance(through, ast.Call)
        and last_name(through.func) in ("range", "trange")
        and through.args
    ):
        return _count(syntax, through.args)
    return f"the length of {syntax.text(through)}"


def _countdown(syntax: Syntax, loop: ast.While) -> str | None:
    """Return the number that a loop counts down to 0: ``while left := left - 1``, ``while left``."""
    match loop.test:
        case ast.NamedExpr(
            target=ast.Name(id=name),
            value=ast.BinOp(
                left=ast.Name() as left, op=ast.Sub(), right=ast.Constant(value=1)
            ) as less,
        ) if left.id == name:
            begins = [value for value in syntax.values_of(left) if value is not less]
            return f"{syntax.text(begins[0] if len(begins) == 1 else left)} - 1"
        case ast.Name() as left if any(_takes_one(each, left.id) for each in loop.body):
            begins = [
                value
                for value in syntax.values_of(left)
                if not isinstance(value, ast.BinOp)
            ]
            return syntax.text(begins[0] if len(begins) == 1 else left)
    return None


def _takes_one(statement: ast.stmt, name: str) -> bool:
    match statement:
        case ast.AugAssign(
            target=ast.Name(id=less), op=ast.Sub(), value=ast.Constant(value=1)
        ):
            return less == name
    return False


def _between(
    syntax: Syntax, less: ast.expr, more: ast.expr, operator: ast.cmpop
) -> str:
    """Return how often a loop turns: ``n + 1`` for ``turn <= n``, where ``turn`` begins at 0."""
    counted = less.args[0] if isinstance(less, ast.Call) and less.args else None
    if (
        counted is not None
        and isinstance(less, ast.Call)
        and last_name(less.func) == "len"
        and last_name(counted) in CONVERSATIONS
    ):  # to which a turn with tool calls adds several
        return f"{syntax.text(more)}{MESSAGES}{syntax.text(counted)}"
    begins = [less, *syntax.values_of(less)] if isinstance(less, ast.Name) else [less]
    starts = {
        value.value
        for value in begins
        if isinstance(value, ast.Constant) and isinstance(value.value, int)
    }
    start = starts.pop() if len(starts) == 1 else 0
    further = isinstance(operator, ast.LtE | ast.GtE) - start
    if isinstance(more, ast.Constant) and isinstance(more.value, int):
        return str(max(0, more.value + further))
    sign = "+" if further > 0 else "-"
    return syntax.text(more) + f" {sign} {abs(further)}" * bool(further)


def _count(syntax: Syntax, given: list[ast.expr]) -> str:
    """Return how often ``range(*given)`` counts: ``n`` for ``range(1, n + 1)``."""
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
    """Return the bound at which the loop leaves, where it counts its turns.

    That is ``most`` in ``if turns >= most: break``, and in ``if turns < most: continue``
    before a ``break``.
    """
    counted = _counted(syntax, loop)
    for node in ast.walk(loop):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Compare):
            count, bound, operator = _sides(node.test, counted)
            reached = node.body
            if isinstance(operator, ast.Lt | ast.LtE):
                reached = node.orelse
                if not reached and isinstance(node.body[-1], ast.Continue):
                    reached = statements_after(node, syntax.parents[node])
            elif not isinstance(operator, ast.Gt | ast.GtE | ast.Eq):
                continue
            if dotted(count) in counted and any(
                isinstance(e, LEAVING) for e in reached
            ):
                return syntax.text(bound)
    return None


def _counted(syntax: Syntax, loop: ast.While) -> set[str | None]:
    """Return the names that each turn of a loop adds a number to."""
    return {
        dotted(node.target)
        for node in ast.walk(loop)
        if isinstance(node, ast.AugAssign)
        and isinstance(node.op, ast.Add)
        and isinstance(node.value, ast.Constant)
        and dotted(node.target) is not None
        and _is_of_each_turn(syntax, loop, node)
        and not _is_skipped(syntax, loop, node)
    }


def _is_skipped(syntax: Syntax, loop: ast.While, counting: ast.AugAssign) -> bool:
    """True if a turn goes on to the next one before it counts: ``if invalid: continue``."""
    counted = ast.dump(counting.target)
    for node in ast.walk(loop):
        if not isinstance(node, ast.Continue) or node.lineno > counting.lineno:
            continue
        inside = next(iter(syntax.enclosing_loops(node)), None)
        block = block_of(node, syntax.parents[node])
        counts = (
            each
            for statement in block
            for each in ast.walk(statement)
            if isinstance(each, ast.AugAssign) and ast.dump(each.target) == counted
        )
        if inside is loop and next(counts, None) is None:
            return True
    return False


def _added_to(loop: ast.While) -> set[str | None]:
    """Return the names that a loop adds something to, now and then."""
    return {
        dotted(node.target)
        for node in ast.walk(loop)
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add)
    }


def _is_of_each_turn(syntax: Syntax, loop: ast.While, counting: ast.AST) -> bool:
    """True if a statement runs in each turn that another one follows.

    ``retries += 1`` where a reply was cut off counts something else.
    """
    inner = counting
    for outer in syntax.ancestors(counting):
        if outer is loop:
            return True
        if isinstance(outer, ast.If):
            other = outer.orelse if inner in outer.body else outer.body
            if not other and isinstance(outer.body[-1], ast.Continue):
                other = statements_after(outer, syntax.parents[outer])
            if not other or not isinstance(other[-1], LEAVING):
                return False
        elif not isinstance(outer, ast.Try | ast.With | ast.AsyncWith):
            return False
        inner = outer
    return False


def _sides(
    test: ast.Compare, counted: Collection[str | None]
) -> tuple[ast.expr, ast.expr, ast.cmpop]:
    """Return the count, the bound and how they are compared, from the count's side."""
    left, right, operator = test.left, test.comparators[0], test.ops[0]
    if dotted(right) in counted and type(operator) in TURNED:
        return right, left, TURNED[type(operator)]()
    return left, right, operator
