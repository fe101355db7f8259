"""A retried function writes to an outer trajectory, so failed attempts are trained on

A retry runs the whole function again. A trajectory that was made outside keeps the messages
and choices of the attempts that failed, and they are trained with the reward of the one that
succeeded.

Make the trajectory inside the function that is retried. So it is with a game that the function is
given and plays in: the next attempt begins where the failed one stopped.

Evidence: art 0.5.18 and 0.5.23, utils/retry.py:53-54.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import FunctionNode, dotted, receiver
from art_adapt.code.syntax import LOOPS
from art_adapt.rules.code import Code
from art_adapt.rules.code.retries import tries_again
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.side_effects.entries import changed_container

RULE = Rule("ART207", "trajectory-outside-retry", Severity.GARBAGE)
BAD = (
    """\
import art

@art.retry(max_attempts=3)
async def play(client, trajectory):
    response = await client.chat.completions.create(model="m", messages=trajectory.messages())
    trajectory.messages_and_choices.append(response.choices[0])  # <-
""",
    """\
import art, asyncio

class Debate:
    def __init__(self, client, opponent):
        self.client, self.opponent = client, opponent
        self.trajectory = art.Trajectory(messages_and_choices=[])

    async def turn(self):
        response = await self.client.chat.completions.create(
            model="m", messages=self.trajectory.messages()
        )
        self.trajectory.messages_and_choices.append(response.choices[0])
        return await self.opponent.reply(response.choices[0].message.content)

    async def patient_turn(self):
        for attempt in range(3):
            try:
                return await self.turn()  # <-
            except ConnectionError:
                await asyncio.sleep(attempt)
""",
    """\
import art, json

async def rollout(client):
    trajectory = art.Trajectory(messages_and_choices=[])
    for attempt in range(3):
        response = await client.chat.completions.create(model="m", messages=trajectory.messages())
        choice = response.choices[0]
        trajectory.messages_and_choices.append(choice)  # <-
        try:
            answer = json.loads(choice.message.content)
            break
        except ValueError:
            continue
    return trajectory
""",
    """\
import art

class Game:
    def __init__(self, size: int):
        self.size, self.opened = size, set()

    def click(self, row: int) -> None:
        self.opened.add(row)

@art.retry(max_attempts=3)
async def play(model: art.TrainableModel, game: Game):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": "Play."}])
    while len(game.opened) < game.size:
        reply = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages()
        )
        trajectory.messages_and_choices.append(reply.choices[0])
        game.click(int(reply.choices[0].message.content))  # <-
    return trajectory
""",
)
GOOD = (
    """\
import art

class Game:
    def __init__(self, size: int):
        self.size, self.opened = size, set()

    def click(self, row: int) -> None:
        self.opened.add(row)

    def asked(self) -> str:
        return f"Choose one of {self.size}."

@art.retry(max_attempts=3)
async def play(model: art.TrainableModel, size: int, rules: Game):
    game = Game(size)
    asked = [{"role": "user", "content": rules.asked()}]
    trajectory = art.Trajectory(messages_and_choices=asked)
    while len(game.opened) < game.size:
        reply = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages()
        )
        trajectory.messages_and_choices.append(reply.choices[0])
        game.click(int(reply.choices[0].message.content))
    return trajectory
""",
    """\
import art, json

async def told(client):
    trajectory = art.Trajectory(messages_and_choices=[])
    for _ in range(3):
        response = await client.chat.completions.create(model="m", messages=trajectory.messages())
        trajectory.messages_and_choices.append(response.choices[0])
        try:
            json.loads(response.choices[0].message.content)
            break
        except ValueError:
            trajectory.messages_and_choices.append({"role": "user", "content": "No JSON."})
    return trajectory

async def anew(client):
    for _ in range(3):
        trajectory = art.Trajectory(messages_and_choices=[])
        response = await client.chat.completions.create(model="m", messages=trajectory.messages())
        trajectory.messages_and_choices.append(response.choices[0])
        try:
            json.loads(response.choices[0].message.content)
            break
        except ValueError:
            continue
    return trajectory
""",
    """\
import art

class Episode:
    def __init__(self, client):
        self.client = client

    async def run(self):
        self.trajectory = art.Trajectory(messages_and_choices=[])
        response = await self.client.chat.completions.create(
            model="m", messages=self.trajectory.messages()
        )
        self.trajectory.messages_and_choices.append(response.choices[0])
        return self.trajectory

    async def patient(self):
        for attempt in range(3):
            try:
                return await self.run()
            except ConnectionError:
                continue

    async def all(self):
        for attempt in range(3):
            await self.run()
""",
    """\
import art

@art.retry(max_attempts=3)
async def rollout(client):
    trajectory = art.Trajectory()

    @art.retry()
    async def ask():
        return await client.chat.completions.create(model="m", messages=trajectory.messages())

    response = await ask()
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory
""",
)


def check(code: Code) -> Iterator[Found]:
    said = set()
    for put in code.trajectories.written:
        function = code.function_of(put.by)
        target = _root(put.by)
        if (
            function is None
            or put.by in code.trajectories.new
            or target is None
            or (function.qualname, target.id) in said
            or _made_inside(code, target, function.node)
            or next(code.retries.of(function), None) is None
        ):
            continue
        said.add((function.qualname, target.id))
        yield found(
            put.by if isinstance(put.by, ast.expr | ast.stmt) else put.at,
            f"{function.qualname} is retried, but {target.id} is made outside it and keeps "
            "the failed attempts; make it inside",
        )

    for call in _tried_again(code):
        yield found(
            call,
            "it is tried again, and the trajectory that it adds to keeps the failed attempts; make "
            "the trajectory anew for each",
        )
    yield from _asked_again(code)
    yield from _played_again(code)


def _played_again(code: Code) -> Iterator[Found]:
    """Yield where a rollout that is retried changes an object that it was given."""
    for name in code.trajectories.makers & code.syntax.functions.keys():
        function = code.syntax.functions[name]
        if next(code.retries.of(function), None) is None:
            continue
        for call in code.syntax.owned_by(name):
            if not isinstance(call, ast.Call) or not isinstance(
                call.func, ast.Attribute
            ):
                continue
            given = dotted(call.func.value)
            if (
                given in function.given
                and not _is_made_anew(code, given, name)
                and _changes_itself(code, call)
            ):
                yield found(
                    call,
                    f"{name} is retried, and the next attempt goes on with what this one has done "
                    f"to {given}: make it inside, or reset it",
                )
                break


def _is_made_anew(code: Code, name: str, function: str) -> bool:
    """Return whether a function gives a parameter another value, or resets the object."""
    return any(
        (
            isinstance(node, ast.Name)
            and node.id == name
            and isinstance(node.ctx, ast.Store)
        )
        or (isinstance(node, ast.Call) and dotted(node.func) == f"{name}.reset")
        for node in code.syntax.owned_by(function)
    )


def _changes_itself(code: Code, call: ast.Call) -> bool:
    """Return whether a method of the file changes what its object keeps."""
    body = code.entered(call)
    if body is None or body.function.class_name is None:
        return False
    for node in body.nodes:
        changed = changed_container(node)[0] if isinstance(node, ast.expr) else None
        is_set = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        name = dotted(node) if is_set else changed
        if (name or "").startswith("self."):
            return True
    return False


def _asked_again(code: Code) -> Iterator[Found]:
    """Yield choices that cannot be read, after which a loop asks again and says nothing."""
    for put in code.trajectories.puts:
        loop = code.syntax.enclosing_loop(put.by)
        if loop is None or not code.sampled.is_choice(put.value):
            continue
        after = code.blocks.after(code.blocks.statement(put.by))
        inside = set(ast.walk(loop))
        others = (
            each
            for each in code.trajectories.puts
            if each.by in inside and each.by is not put.by
        )
        if (
            inside.isdisjoint(code.trajectories.new)
            and not any(others)
            and any(map(_reads_or_goes_on, after))
            and any(
                call.callee in inside
                and (sent := receiver(call.messages, "messages")) is not None
                and code.trajectories.is_one(sent)
                for call in code.completions.of_policy
            )
            and not code.trajectories.extends_items
        ):
            yield found(
                put.at,
                "what cannot be read stays on the trajectory, and the model is asked again without a "
                "word: say what is wrong with it, or make the trajectory anew",
            )


def _reads_or_goes_on(statement: ast.stmt) -> bool:
    """Return whether a statement leaves the loop, unless it raises: then the loop goes on."""
    return (
        isinstance(statement, ast.Try)
        and isinstance(statement.body[-1], ast.Break | ast.Return)
        and bool(statement.handlers)
        and all(
            all(isinstance(each, ast.Continue | ast.Pass) for each in handler.body)
            for handler in statement.handlers
        )
    )


def _tried_again(code: Code) -> Iterator[ast.Call]:
    """Yield calls of methods, tried again after an error, that add to an older trajectory."""
    adding = {
        code.syntax.owner(put.by)
        for put in code.trajectories.written
        if put.by not in code.trajectories.new
        and (root := _root(put.by)) is not None
        and root.id == "self"
        and code.sampled.is_choice(put.value)
    }
    made = {code.syntax.owner(new) for new in code.trajectories.new}
    for loop in code.syntax.nodes:
        if not isinstance(loop, LOOPS):
            continue
        tried = [
            call
            for call in ast.walk(loop)
            if isinstance(call, ast.Call)
            and (body := code.entered(call)) is not None
            and body.place.syntax is code.syntax
            and body.function.qualname in adding - made
            and code.syntax.enclosing_loop(call) is loop
        ]
        if tries_again(loop, tried.__contains__):
            yield from tried


def _root(by: ast.AST) -> ast.Name | None:
    """Return the name that what is added to begins with."""
    target = by.func if isinstance(by, ast.Call) else getattr(by, "target", None)
    while isinstance(target, ast.Attribute):
        target = target.value
    return target if isinstance(target, ast.Name) else None


def _made_inside(code: Code, name: ast.Name, function: FunctionNode) -> bool:
    owner = code.syntax.owner(name)
    return any(
        where == owner for where, _ in code.syntax.assignments.get(name.id, [])
    ) or not (
        name.id in {argument.arg for argument in function.args.args}
        or any(
            owner.startswith(f"{where}.")
            for where, _ in code.syntax.assignments.get(name.id, [])
        )
    )
