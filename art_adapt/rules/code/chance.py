"""Tell whether a rollout draws its own scenario, so that the members of a group differ."""

from __future__ import annotations

import ast

from art_adapt.code.dependence import made_from
from art_adapt.code.nodes import argument_of, dotted, given_to, last_name
from art_adapt.code.syntax import Syntax
from art_adapt.rules.code import Body, Code, Value

DRAWING = ("random.choice", "random.sample", "random.choices", "numpy.random.choice")
MOST = 60  # expressions that are looked through for a draw
CHANCE = ("random.", "numpy.random.")
NO_DRAW = (".seed", ".Random")  # with a seed, it draws the same each time
GENERATORS = (
    *("random.Random", "random.SystemRandom"),
    *("numpy.random.default_rng", "numpy.random.RandomState"),
)


def draws_its_scenario(code: Code, rollout: Value) -> bool:
    """Return whether a rollout gets or picks a scenario, or a part of it, by chance."""
    inside = list(ast.walk(rollout.node))
    if any(_is_draw(rollout.of(n)) for n in inside if isinstance(n, ast.expr)):
        return True
    if not isinstance(rollout.node, ast.Call):
        return False
    given = [*rollout.node.args, *(each.value for each in rollout.node.keywords)]
    trained = {dotted(each) for c in code.training.calls for each in given_to(c)}
    trained.discard(None)
    told = _told(code, rollout)
    given = [
        each
        for each in given
        if not (
            code.models.is_one(each)
            or dotted(each) in trained
            or (told is not None and each not in told)
            or _is_shared_generator(code, rollout.of(each), set(inside))
        )
    ]
    if not given:
        return _picks_a_row(code, rollout) or _prompts_by_chance(code, rollout)
    return len(given) == 1 and _is_drawn(code, rollout.of(given[0]), set(inside))


def _told(code: Code, rollout: Value) -> list[ast.expr] | None:
    """Return the arguments that a rollout makes its prompt from; None: it cannot be seen."""
    body, call = code.flow.functions.enter(rollout), rollout.node
    prompted = None if body is None else _prompted(code, body)
    if body is None or not prompted or not isinstance(call, ast.Call):
        return None
    names = {node.id for node in prompted if isinstance(node, ast.Name)}
    function = body.function
    told = (argument_of(call, n, function.positional) for n in function.given)
    return [
        each
        for name, each in zip(function.given, told, strict=True)
        if each is not None and name in names
    ]


def _is_shared_generator(code: Code, given: Value, anew: set[ast.AST]) -> bool:
    """Return whether random numbers are drawn from one generator by all episodes of a group."""
    makers = code.values(given)
    return bool(makers) and all(
        _makes_generator(each) and each.node not in anew for each in makers
    )


def _makes_generator(made: Value) -> bool:
    node = made.node
    return (
        isinstance(node, ast.Call)
        and (made.syntax.qualified(node.func) or "") in GENERATORS
    )


def _is_draw(value: Value) -> bool:
    node = value.node
    return (
        isinstance(node, ast.Call)
        and (value.syntax.qualified(node.func) or "") in DRAWING
    )


def _is_drawn(code: Code, scenario: Value, anew: set[ast.AST]) -> bool:
    """Return whether a value is drawn in an expression, or in a function that it calls.

    ``anew`` are the expressions that are evaluated for each episode.
    """
    seen: set[Value] = set()
    left = [scenario]
    while left and len(seen) < MOST:
        for each in code.values(left.pop()):
            if each in seen:
                continue
            seen.add(each)
            if each.node not in anew and not _is_of_its_call(each):
                continue  # evaluated once
            if _is_draw(each):
                return True
            children = ast.iter_child_nodes(each.node)
            left += [each.of(node) for node in children if isinstance(node, ast.expr)]
    return False


def _is_of_its_call(value: Value) -> bool:
    """Return whether an expression stands in the function that was entered to reach it."""
    frame = value.place.frame
    return (
        frame is not None
        and value.syntax.has(value.node)
        and value.syntax.owner(value.node) == frame.function.qualname
    )


def _picks_a_row(code: Code, rollout: Value) -> bool:
    """Return whether a rollout that is given no scenario draws a row, and prompts with it.

    A row is what the rollout reads several fields of.
    """
    body = code.flow.functions.enter(rollout)
    if body is None:
        return False
    syntax, nodes = body.place.syntax, list(body.nodes)
    rows = {
        node.targets[0].id
        for node in nodes
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and _is_draw(Value(node.value, body.place))
        and syntax.enclosing_loop(node) is None
    }
    prompted = _prompted(code, body)
    for row in rows:
        fields = {
            ast.unparse(node): node
            for node in nodes
            if isinstance(node, ast.Attribute | ast.Subscript)
            and dotted(node.value) == row
        }
        if len(fields) > 1 and not prompted.isdisjoint(fields.values()):
            return True
    return False


def _prompts_by_chance(code: Code, rollout: Value) -> bool:
    """Return whether a rollout that is given no scenario makes its prompt of what chance draws.

    A function that it calls may draw, too.
    """
    body = code.flow.functions.enter(rollout)
    if body is None:
        return False
    return any(
        _draws(code, Value(node, body.place))
        for node in _prompted(code, body)
        if isinstance(node, ast.Call) and not _asks_model(node)
    )


def _prompted(code: Code, body: Body) -> set[ast.AST]:
    """Return what the first messages of a rollout's trajectories are made from."""
    prompts = (
        code.contents.given(node, "messages_and_choices")
        for node in body.nodes
        if isinstance(node, ast.Call) and last_name(node.func) == "Trajectory"
    )
    made_of = filter(None, prompts)
    return set(made_from(body.place.syntax, body.function.qualname, made_of))


def _draws(code: Code, call: Value) -> bool:
    """Return whether a call draws by chance, itself or in the function that it enters."""
    if _is_of_chance(call.syntax, call.node) or _is_of_shared_generator(code, call):
        return True
    inner = code.flow.functions.enter(call)
    return inner is not None and any(
        _is_of_chance(inner.place.syntax, node) for node in inner.nodes
    )


def _is_of_shared_generator(code: Code, call: Value) -> bool:
    """Return whether it draws from a generator that the function was given: ``rng.choice(rows)``."""
    node = call.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    owner = call.syntax.owner(node)
    makers = code.values(call.of(node.func.value))
    return bool(makers) and all(
        _makes_generator(each) and each.syntax.owner(each.node) != owner
        for each in makers
    )


def _asks_model(call: ast.Call) -> bool:
    return last_name(call.func) in ("create", "acompletion", "completion")


def _is_of_chance(syntax: Syntax, node: ast.AST) -> bool:
    named = syntax.qualified(node.func) or "" if isinstance(node, ast.Call) else ""
    return named.startswith(CHANCE) and not named.endswith(NO_DRAW)
