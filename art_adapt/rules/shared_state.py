"""Rollouts change an object that they all have, and the model of each sees what others did

ART gathers the rollouts of a step at the same time. An object that is made once for a group, such
as a game that ``partial`` binds, is played by all of them at once. A list that is a parameter's
default is one object for the whole run: what one rollout adds to it is in the prompts of all later
ones.

A table of the module has one history for all rollouts of a scenario, if the scenario is its key.

Make the object in the rollout, and let such a parameter be None by default.

Evidence: art 0.5.18, gather.py:47; art 0.5.23, gather.py (asyncio gathers all groups); Python,
"Default parameter values are evaluated from left to right when the function definition is executed".
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from art_adapt.code.nodes import (
    argument_of,
    defaults_of,
    dotted,
    first_argument,
    last_name,
    names_in,
)
from art_adapt.code.syntax import Syntax
from art_adapt.rules.code import Body, Code, Value
from art_adapt.rules.rule import LOOP, Found, Rule, Severity, found
from art_adapt.words import CHANGES_CONTAINER, MUTABLE

RULE = Rule("ART221", "shared-state", Severity.GARBAGE)
NOTES = """\
import art

async def rollout(model, scenario, notes: list[str] = []):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": scenario.task}])
    for page in scenario.pages:
        told = {"role": "user", "content": f"Notes: {notes}. Page: {page}"}
        trajectory.messages_and_choices.append(told)
        response = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages()
        )
        trajectory.messages_and_choices.append(response.choices[0])
        notes.append(response.choices[0].message.content)  # <-
    trajectory.reward = scenario.grade(response.choices[0].message.content)
    return trajectory
"""
GAME = """\
import art, functools

class Nim:
    def __init__(self, seed):
        self.seed, self.heaps, self.asked = seed, [3, 4, 5], 0

    def show(self):
        return f"Heaps: {self.heaps}"

    def take(self, move):
        self.heaps[move[0]] -= move[1]

    def note(self):
        self.asked += 1

async def rollout(model, game):
    trajectory = art.Trajectory(messages_and_choices=[])
    while any(game.heaps):
        trajectory.messages_and_choices.append({"role": "user", "content": game.show()})
        response = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages()
        )
        trajectory.messages_and_choices.append(response.choices[0])
        game.take(read(response.choices[0].message.content))
    trajectory.reward = 1.0 - game.seed
    return trajectory

def group_of(model, seed):
    play = functools.partial(rollout, model, Nim(seed))
    return art.TrajectoryGroup(play() for _ in range(8))  # <-
"""
TABLE = """\
import art
from collections import defaultdict

HISTORY = defaultdict(list)

def say(key, turn):
    HISTORY[key].append(turn)

async def rollout(model, s):
    HISTORY[s.id].clear()
    say(s.id, {"role": "user", "content": s.task})
    response = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=HISTORY[s.id]
    )
    say(s.id, response.choices[0])
    return art.Trajectory(
        messages_and_choices=HISTORY[s.id],  # <-
        reward=s.grade(response.choices[0].message.content),
    )
"""
BAD = (
    NOTES + LOOP,
    TABLE + LOOP,
    GAME,
    GAME.replace(
        "    play = functools.partial(rollout, model, Nim(seed))\n",
        "    game = Nim(seed)\n",
    ).replace("play()", "rollout(model, game)"),
    GAME.replace(
        "    play = functools.partial(rollout, model, Nim(seed))\n",
        "    game = Nim(seed=seed)\n    play = lambda: rollout(model, game)\n",
    ),
)
GOOD = (
    NOTES.replace("  # <-", "").replace(
        "notes: list[str] = []):", "notes=None):\n    notes = [*(notes or ())]"
    )
    + LOOP,
    NOTES.replace("  # <-", "")
    + LOOP.replace("rollout(model, s)", "rollout(model, s, [])"),
    TABLE.replace("  # <-", "")
    .replace("s.id", "key")
    .replace("    HISTORY[key].clear", "    key = new_key()\n    HISTORY[key].clear")
    + LOOP,
    # A cache is for all.
    """\
import art

async def rollout(model, scenario, known={}):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": scenario.task}])
    known[scenario.id] = trajectory
    return trajectory
"""
    + LOOP,
    GAME.replace("  # <-", "").replace("play() for", "rollout(model, Nim(seed)) for"),
    GAME.replace("  # <-", "").replace(
        "        game.take(read(response.choices[0].message.content))\n",
        "        game.note()\n",
    ),
    GAME.replace("  # <-", "").replace(
        "    trajectory = art", "    game = Nim(game.seed)\n    trajectory = art", 1
    ),
)


def check(code: Code) -> Iterator[Found]:
    yield from _of_defaults(code)
    yield from _of_tables(code)
    for call in code.art_calls("TrajectoryGroup"):
        members = first_argument(call, "trajectories")
        for value in code.values(members) if members is not None else ():
            node = value.node
            if isinstance(node, ast.GeneratorExp | ast.ListComp):
                name = next(_played_by_all(code, value.of(node.elt), node), None)
                if name is not None:
                    yield found(
                        call,
                        f"all rollouts of this group change one {name} at the same time, and show it "
                        f"to the model: make a {name} in the rollout",
                    )


def _of_defaults(code: Code) -> Iterator[Found]:
    """Yield where a rollout adds to a default that it shows to the model."""
    for name in sorted(code.trajectories.in_episodes):
        function = code.syntax.functions.get(name)
        if function is None:
            continue
        calls = code.flow.functions.calls_of(code.syntax, function)
        nodes = list(code.syntax.owned_by(name))
        shown = {
            each
            for put in code.trajectories.written
            if code.syntax.owner(put.by) == name
            for value in code.values(put.value)
            for each in names_in(value.node)
        }
        for parameter, default in defaults_of(function.node):
            given = [argument_of(c, parameter, function.positional) for c in calls]
            changing = next(_changing(nodes, parameter), None)
            if (
                changing is not None
                and parameter in shown
                and _can_change(code.syntax, default)
                and (not given or None in given)
                and not _is_replaced(nodes, parameter)
            ):
                yield found(
                    changing,
                    f"{parameter} is one object for all rollouts, because it is a default "
                    "argument: the model sees what other episodes have put there; make it in the "
                    "function",
                )


def _of_tables(code: Code) -> Iterator[Found]:
    """Yield the histories that a table of the module has for all rollouts of a scenario."""
    alike = all(
        names_in(each.elt).isdisjoint(
            name for made in each.generators for name in names_in(made.target)
        )
        for group in code.art_calls("TrajectoryGroup")
        for each in ast.walk(group)
        if isinstance(each, ast.GeneratorExp | ast.ListComp)
    )
    for call in code.trajectories.new:
        given = code.contents.given(call, "messages_and_choices")
        if (
            alike
            and isinstance(given, ast.Subscript)
            and isinstance(given.value, ast.Name)
            and _is_table(code.syntax, given.value)
            and not any(isinstance(e.node, ast.Call) for e in code.values(given.slice))
        ):
            yield found(
                given,
                f"the rollouts of a group have the same key, so they all write to one list of "
                f"{given.value.id}, and train on each other's turns: make it in the rollout",
            )


def _is_table(syntax: Syntax, name: ast.Name) -> bool:
    """Return whether a name is a mapping of the module."""
    made = syntax.values_at_top(name.id)
    return (
        bool(made)
        and not syntax.is_local(name.id, syntax.owner(name))
        and all(
            isinstance(each, ast.Dict)
            or (isinstance(each, ast.Call) and last_name(each.func) in MUTABLE)
            for each in made
        )
    )


def _can_change(syntax: Syntax, default: ast.expr) -> bool:
    if isinstance(default, ast.Call):
        return last_name(default.func) in MUTABLE
    return isinstance(default, ast.List | ast.Dict | ast.Set)


def _is_replaced(nodes: Iterable[ast.AST], name: str) -> bool:
    return any(
        isinstance(node, ast.Name)
        and node.id == name
        and isinstance(node.ctx, ast.Store)
        for node in nodes
    )


def _changing(nodes: Iterable[ast.AST], name: str) -> Iterator[ast.expr]:
    """Yield what changes an object: a method of a container, or an entry that is set."""
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            changes = node.func.attr in CHANGES_CONTAINER
            if changes and dotted(node.func.value) == name:
                yield node
        elif (
            isinstance(node, ast.Subscript)
            and dotted(node.value) == name
            and not isinstance(node.ctx, ast.Load)
        ):
            yield node


def _played_by_all(
    code: Code, rollout: Value, group: ast.GeneratorExp | ast.ListComp
) -> Iterator[str]:
    """Yield the classes of the objects that all rollouts of a group are given and change."""
    called = _bound(code, rollout)
    body = None if called is None else code.entered(called)
    if called is None or body is None:
        return
    assert isinstance(called.node, ast.Call)
    nodes = list(body.nodes)
    for name in body.function.given:
        given = argument_of(called.node, name, body.function.positional)
        if given is None or _is_replaced(nodes, name):
            continue
        made = code.values(called.of(given))
        owners = {
            last_name(each.node.func)
            for each in made
            if isinstance(each.node, ast.Call)
            and each.node not in set(ast.walk(group))
            and code.flow.functions.class_made(each.syntax, each.node.func)
        }
        if (
            len(owners) == 1
            and len(made) == 1
            and _is_played(code, body, name, made[0])
        ):
            yield owners.pop()


def _bound(code: Code, rollout: Value) -> Value | None:
    """Return the call that runs a rollout, with what a partial or a lambda has bound before."""
    call = rollout.node
    if not isinstance(call, ast.Call):
        return None
    for made in code.values(rollout.of(call.func)):
        match made.node:
            case ast.Call(args=[function, *bound], keywords=named) as partial:
                if last_name(partial.func) == "partial":
                    whole = ast.Call(
                        function, [*bound, *call.args], [*named, *call.keywords]
                    )
                    made.syntax.adopt(ast.copy_location(whole, partial), partial)
                    return made.of(whole)
            case ast.Lambda(args=ast.arguments(args=[]), body=ast.Call() as inner):
                return made.of(inner)
    return rollout


def _is_played(code: Code, body: Body, name: str, made: Value) -> bool:
    """Return whether a rollout changes an object, and shows the model what it has changed."""
    assert isinstance(made.node, ast.Call)
    found = code.flow.functions.class_made(made.syntax, made.node.func)
    assert found is not None
    syntax, owner = found
    changed: set[str] = set()
    shown: set[str] = set()
    put = {
        node
        for each in code.trajectories.puts
        for value in code.values(each.value)
        for node in ast.walk(value.node)
    }
    for node in body.nodes:
        if not isinstance(node, ast.Attribute) or dotted(node.value) != name:
            continue
        within = list(syntax.owned_by(f"{owner}.{node.attr}"))
        changed |= {*_set_in(within)}
        if node in put:
            shown |= {
                node.attr,
                *(e.attr for e in within if isinstance(e, ast.Attribute)),
            }
    return not changed.isdisjoint(shown)


def _set_in(method: list[ast.AST]) -> Iterator[str]:
    """Yield the attributes of ``self`` that a method sets or changes."""
    for node in method:
        if isinstance(node, ast.Attribute) and dotted(node.value) == "self":
            is_set = isinstance(node.ctx, ast.Store)
            if is_set or any(_changing(method, f"self.{node.attr}")):
                yield node.attr
