"""The learning rate is 0 or thousands of times too high, so a step trains nothing or destroys

ART trains with Adam, whose first steps change each weight by about the learning rate itself.
ART's default is 5e-6, and its examples use up to 1e-4. At 0.01 the model answers with noise
after one step, and every later group is tied. What ``//`` gives is a whole number: 0.0 trains
nothing.

Use 1e-5, or leave it out; divide by ``/``.

Evidence: art 0.5.18, local/backend.py:638 and types.py (learning_rate is 5e-6); art 0.5.23,
local/backend.py:1283.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import given_to
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART544", "destructive-learning-rate", Severity.GARBAGE)
BAD = (
    """\
import art

async def train(model, backend, rollouts):
    groups = await art.gather_trajectory_groups(rollouts)
    await backend.train(model, groups, learning_rate=0.5)  # <-
""",
    """\
import art

RATE = 1e-2

async def train(model, backend, rollouts):
    groups = await art.gather_trajectory_groups(rollouts)
    await backend.train(model, groups, learning_rate=RATE)  # <-
    await model.train(groups, config=art.TrainConfig(learning_rate=0.02))  # <-
""",
    """\
import art

class Schedule:
    peak: float = 1e-5
    warmup: int = 10

    def at(self, step):
        if step < self.warmup:
            return self.peak * (step + 1) // self.warmup  # <-
        return self.peak

async def train(model, backend, rollouts):
    schedule = Schedule()
    for step in range(await model.get_step(), 50):
        groups = await art.gather_trajectory_groups(rollouts(step))
        await backend.train(model, groups, learning_rate=schedule.at(step))
""",
)
GOOD = (
    """\
import art

async def train(model, backend, groups, rate):
    await backend.train(model, groups, learning_rate=5e-6)
    await backend.train(model, groups, learning_rate=rate)
    await backend.train(model, groups)
    return art.TrainConfig(learning_rate=1e-4)

def fit(model, rows, labels):
    model.train(rows, labels, learning_rate=0.05)  # a classifier's
""",
)
HIGHEST = 0.01  # 2,000 times the default


def check(code: Code) -> Iterator[Found]:
    trained = [call for call in code.training.calls if _is_arts(code, call)]
    for call in (*trained, *code.art_calls("TrainConfig")):
        given = code.contents.given(call, "learning_rate")
        rate = code.constant(given)
        if given is not None and isinstance(rate, int | float) and rate >= HIGHEST:
            yield found(
                given,
                f"a learning rate of {rate} destroys the model in its first step; ART's default "
                "is 5e-6",
            )
        if given is None:
            continue
        for value in code.values(given):
            if isinstance(value.node, ast.BinOp) and isinstance(
                value.node.op, ast.FloorDiv
            ):
                yield found(
                    value.node if value.syntax is code.syntax else given,
                    "// gives a whole number, and a learning rate of 0 trains nothing; divide by /",
                )


def _is_arts(code: Code, call: ast.Call) -> bool:
    """Return whether it certainly trains with ART: of its backend, or what it has gathered."""
    trainer = call.func.value if isinstance(call.func, ast.Attribute) else None
    is_backend = trainer is not None and code.models.is_backend(trainer)
    return is_backend or any(map(code.training.is_gathered, given_to(call)))
