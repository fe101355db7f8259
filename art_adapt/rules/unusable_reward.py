"""The reward is None, text, a coroutine or not finite, so it corrupts its group or ends the step

One NaN makes every advantage of its group NaN, on ART 0.5.18 those of the whole step, and then
the weights. ``None`` and text end the step with a TypeError (0.5.18) or the rollout with a
ValidationError (0.5.23).

Raise an exception if an episode cannot be scored: its group goes on without it.

Evidence: art 0.5.18, preprocessing/tokenize.py:247-257 and pack.py:156-159; art 0.5.23,
trajectories/__init__.py:606 and preprocessing/tokenize.py:762-778.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import dotted, given_to, last_name, receiver
from art_adapt.rules.code import Code, Value
from art_adapt.rules.code.rewards import computed
from art_adapt.rules.code.texts import is_asked_for_its_class, is_text, spells_text
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART304", "unusable-reward", Severity.GARBAGE)
JUDGED = """\
import art

async def is_good(client, text):
    reply = await client.chat.completions.create(model="gpt-4.1", messages=[{"role": "user", "content": text}])
    return "yes" in reply.choices[0].message.content

async def rollout(client, scenario, said):
    trajectory = art.Trajectory(messages_and_choices=[scenario])
    SCORE
    return trajectory
"""
BAD = (
    """\
import art

async def rollout(model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[])
    trajectory.reward = float("nan")  # <-
    if scenario.late:
        trajectory.reward = None  # <-
    return trajectory
""",
    """\
import art, re

SCORE = re.compile("score: ([0-9]+)")

async def rollout(model, said):
    trajectory = art.Trajectory(messages_and_choices=[])
    found = SCORE.search(said)
    if found is None:
        trajectory.reward = 0.0
    else:
        trajectory.reward = found[1]  # <-
    return trajectory
""",
    """\
import art

class Grader:
    async def __call__(self, task, said) -> float:
        return float(task in said)

    async def strictly(self, task, said) -> float:
        return float(task == said)

grader = Grader()

async def rollout(model, task, said):
    trajectory = art.Trajectory(messages_and_choices=[])
    trajectory.reward = grader(task, said)  # <-
    score = grader.strictly(task, said)
    return art.Trajectory(messages_and_choices=[], reward=score)  # <-
""",
    JUDGED.replace(
        "SCORE", "trajectory.reward = 1.0 if is_good(client, said) else 0.0  # <-"
    ),
    JUDGED.replace(
        "SCORE",
        "score = 1.0 if said and is_good(client, said) else 0.0\n    trajectory.reward = score  # <-",
    ),
    JUDGED.replace(
        "SCORE",
        "if not is_good(client, said):\n        trajectory.reward = -1.0  # <-",
    ),
    """\
import art, math, re

def last_number(text):
    found = re.findall(r"[0-9.]+", text)
    return float(found[-1]) if found else math.nan

class Guess:
    def __init__(self, truth):
        self.truth = truth

    def error(self, guess):
        if guess <= 0:
            return 6.0
        return abs(math.log10(guess) - math.log10(self.truth))

    def reward(self, text):
        return 1.0 - self.error(last_number(text)) / 3

async def rollout(model, guess: Guess, text):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": text}])
    response = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    trajectory.messages_and_choices.append(response.choices[0])
    trajectory.reward = guess.reward(response.choices[0].message.content)  # <-
    return trajectory
""",
    """\
import art

class Board:
    def __init__(self, lamps):
        self.lamps = lamps

    def solved(self):
        return not any(self.lamps)

async def rollout(model, lamps):
    board = Board(lamps)
    response = await ask(model, lamps)
    board.lamps = read(response)
    return art.Trajectory(
        messages_and_choices=[response],
        reward=1.0 if board.solved else 0.0,  # <-
    )
""",
)
GOOD = (
    """\
import art

async def rollout(model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[], reward=0)
    trajectory.reward = float(scenario.score)
    trajectory.reward = True
    return trajectory
""",
    """\
import art, asyncio

async def grade(task, said) -> float:
    return float(task in said)

async def rollout(model, task, said):
    trajectory = art.Trajectory(messages_and_choices=[])
    running = grade(task, said)
    trajectory.reward = await running
    trajectory.reward = asyncio.run(grade(task, said))
    return art.Trajectory(messages_and_choices=[], reward=await grade(task, said))
""",
    JUDGED.replace(
        "SCORE", "trajectory.reward = 1.0 if await is_good(client, said) else 0.0"
    ),
    """\
import art, math, re

def last_number(text):
    found = re.findall(r"[0-9.]+", text)
    return float(found[-1]) if found else math.nan

async def rollout(model, truth, text):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": text}])
    response = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    trajectory.messages_and_choices.append(response.choices[0])
    guess = last_number(response.choices[0].message.content)
    trajectory.reward = -1.0 if math.isnan(guess) else 1.0 - abs(guess - truth)
    return trajectory
""",
    """\
import art

class Board:
    def __init__(self, lamps):
        self.lamps = lamps

    @property
    def solved(self):
        return not any(self.lamps)

async def rollout(model, lamps):
    board = Board(lamps)
    response = await ask(model, lamps)
    return art.Trajectory(
        messages_and_choices=[response], reward=1.0 if board.solved else 0.0
    )
""",
)


INFINITE = "infinite"
GUARDS = ("isnan", "isfinite", "nan_to_num")  # somebody thinks of NaN


def check(code: Code) -> Iterator[Found]:
    for write in code.rewards.writes:
        values = code.values(write.value)
        what = next(filter(None, map(_unusable, values)), "")
        if not what and values and all(is_text(code, each) for each in values):
            what = "text"
        if what == "text" and is_asked_for_its_class(code, write.value):
            continue
        if what == INFINITE and len(values) > 1:
            what = ""  # where a search for the best begins
        if not what and not any(last_name(call.func) in GUARDS for call in code.calls):
            what = "NaN" if any(_is_nan(code, each) for each in values) else ""
        if not what and not code.is_tested(write.value):
            none = _is_defined_once(code, write.value) and any(
                _may_be_none(code, value, alone=len(values) == 1) for value in values
            )
            what = "None" if none else ""
        if not what and _is_unawaited(code, write.value):
            what = "a coroutine, because await is missing"
        if not what and any(_is_unawaited(code, e) for e in _asked(code, write.value)):
            yield found(
                write.value,
                "a condition of the reward is not awaited, and a coroutine is always true: each "
                "episode gets the same; await it",
            )
        if not what and any(
            _is_method(code, each) for each in _asked(code, write.value)
        ):
            yield found(
                write.value,
                "a condition of the reward is a method that is not called, which is always true: "
                "each episode gets the same; call it",
            )
        if what:
            is_written = any(map(_unusable, values)) or what != "NaN"
            sometimes = "may be" if len(values) > 1 or not is_written else "is"
            yield found(
                write.value,
                f"the reward {sometimes} {what}, which corrupts its group or ends the step; "
                "raise instead, and the group goes on without this episode",
            )


def _asked(code: Code, reward: ast.expr) -> Iterator[ast.expr]:
    """Yield what the conditions ask that decide a reward: ``1.0 if judge(text) else 0.0``."""
    values = [reward]
    if isinstance(reward, ast.Name):
        values += code.syntax.values_of(reward)
    tests = [
        node.test
        for value in values
        for node in ast.walk(value)
        if isinstance(node, ast.IfExp)
    ]
    for value in values:
        tests += [o.test for o in code.syntax.ancestors(value) if isinstance(o, ast.If)]
    while tests:
        test = tests.pop()
        if isinstance(test, ast.BoolOp):
            tests += test.values
        elif isinstance(test, ast.UnaryOp):
            tests.append(test.operand)
        else:
            yield test


def _is_method(code: Code, asked: ast.expr) -> bool:
    """Return whether it names a method of the project, and no property."""
    if not isinstance(asked, ast.Attribute) or code.flow.functions.read(
        code.flow.here(asked)
    ):
        return False
    named = code.flow.functions.called(code.syntax, asked)
    return named is not None and named[1].qualname.endswith(f".{asked.attr}")


def _is_unawaited(code: Code, reward: ast.expr) -> bool:
    """Return whether it is what an async function of the project returns, before it runs."""
    made = [reward]
    if isinstance(reward, ast.Name):
        made = code.syntax.values_of(reward)
    bodies = [
        code.entered(each) if isinstance(each, ast.Call) else None for each in made
    ]
    return bool(bodies) and all(
        body is not None
        and isinstance(body.function.node, ast.AsyncFunctionDef)
        and not body.function.node.decorator_list
        for body in bodies
    )


def _is_defined_once(code: Code, reward: ast.expr) -> bool:
    """Return whether a name has one definition: an initial None may be replaced."""
    return len(code.flow.definitions(code.flow.here(reward))) <= 1


def _may_be_none(code: Code, value: Value, *, alone: bool) -> bool:
    """Return whether it is None, or looked up in a table that may not have it."""
    node = value.node
    if isinstance(node, ast.Call) and (table := receiver(node, "get")) is not None:
        tables = code.values(value.of(table))
        found = any(isinstance(each.node, ast.Dict) for each in tables)
        return alone and found and len(given_to(node)) == len(node.args) == 1
    return isinstance(node, ast.Constant) and node.value is None


def _is_nan(code: Code, value: Value) -> bool:
    """Return whether it may be NaN because it is computed from one."""
    return any(_unusable(each) == "NaN" for each in computed(code, value))


def _unusable(value: Value) -> str:
    node = value.node
    if spells_text(node):
        return "text"
    name = (value.syntax.qualified(node) or "").rpartition(".")[2]
    if (
        isinstance(node, ast.Call)
        and dotted(node.func) == "float"
        and node.args
        and isinstance(node.args[0], ast.Constant)
    ):
        name = str(node.args[0].value).lower().lstrip("+-")
    if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
        return _unusable(value.of(node.operand))
    return {"nan": "NaN", "inf": INFINITE, "infinity": INFINITE}.get(name, "")
