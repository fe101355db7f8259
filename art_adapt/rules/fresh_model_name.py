"""The model gets a new name at each start, so a run that asks for its step never resumes

ART keeps checkpoints by project and name. A name with the time or with chance in it has none
yet: ``get_step()`` is 0 after every start, and a run that was interrupted begins anew.

Give the model a fixed name, and change it by hand where a run is to begin anew.

Evidence: art 0.5.18 and 0.5.23, utils/output_dirs.py (the folder of a model is
``{project}/models/{name}``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.rules.code import Code, Value
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.side_effects.harm import Harm
from art_adapt.survey.side_effects.library_calls import BY_NAME
from art_adapt.words import OF_CHANCE

RULE = Rule("ART557", "fresh-model-name", Severity.UNTIDY)
BAD = (
    """\
import art
from datetime import datetime

async def main(backend, rollout, rows):
    model = art.TrainableModel(
        name=f"mail-{datetime.now():%m%d-%H%M}", project="mail", base_model="b"  # <-
    )
    await model.register(backend)
    for step in range(await model.get_step(), 50):
        groups = await art.gather_trajectory_groups(rollout(model, row) for row in rows)
        await backend.train(model, groups)
""",
    """\
import art, uuid
from art.utils import iterate_dataset

RUN = "run-" + uuid.uuid4().hex[:8]  # <-

async def main(backend, rollout, rows):
    model = art.TrainableModel(name=RUN, project="mail", base_model="b")
    await model.register(backend)
    for batch in iterate_dataset(rows, groups_per_step=4, initial_step=await model.get_step()):
        groups = await art.gather_trajectory_groups(rollout(model, each) for each in batch.items)
        await backend.train(model, groups)
""",
    """\
import art, time

def run_name(task):
    stamp = int(time.time())  # <-
    return "-".join([task, str(stamp)])

async def main(backend, rollout, rows):
    model = art.TrainableModel(
        name="mail", run_name=run_name("mail"), project="mail", base_model="b"
    )
    await model.register(backend)
    step = await model.get_step()
    while step < 50:
        groups = await art.gather_trajectory_groups(rollout(model, row) for row in rows)
        step = (await backend.train(model, groups)).step
""",
    """\
import art, random
from dataclasses import dataclass, field

@dataclass
class Settings:
    name: str = field(default_factory=lambda: f"mail-{random.randint(0, 9999)}")  # <-
    project: str = "mail"

async def main(backend, rollout, rows):
    settings = Settings()
    model = art.TrainableModel(name=settings.name, project=settings.project, base_model="b")
    await model.register(backend)
    for step in range(await model.get_step(), 50):
        groups = await art.gather_trajectory_groups(rollout(model, row) for row in rows)
        await backend.train(model, groups)
""",
)
GOOD = (
    BAD[0]
    .replace('f"mail-{datetime.now():%m%d-%H%M}"', '"mail-1"')
    .replace("  # <-", ""),
    # A run that never asks for its step begins anew on purpose.
    BAD[0]
    .replace("range(await model.get_step(), 50)", "range(50)")
    .replace("  # <-", ""),
    # Only another model is new: the one that is trained has a name of its own.
    """\
import art, time

async def main(backend, rollout, rows):
    judge = art.Model(name=f"judge-{time.time()}", project="mail")
    model = art.TrainableModel(name="mail", project="mail", base_model="b")
    await model.register(backend)
    for step in range(await model.get_step(), 50):
        groups = await art.gather_trajectory_groups(rollout(model, row, judge) for row in rows)
        await backend.train(model, groups)
""",
    # Whoever starts it may name the run that goes on.
    """\
import art, os, time

NAME = os.environ.get("RUN") or f"mail-{int(time.time())}"

async def main(backend, rollout, rows):
    model = art.TrainableModel(name=NAME, project="mail", base_model="b")
    await model.register(backend)
    for step in range(await model.get_step(), 50):
        groups = await art.gather_trajectory_groups(rollout(model, row) for row in rows)
        await backend.train(model, groups)
""",
)
MOST = 60  # expressions that are looked through for the clock or chance


def check(code: Code) -> Iterator[Found]:
    if not any(code.method_calls("get_step")):
        return
    for call in code.art_calls("TrainableModel"):
        for name in (code.models.kept_by(call), "project"):
            given = code.contents.given(call, name)
            if given is not None and (drawn := _drawn(code, given)) is not None:
                yield found(
                    drawn if code.syntax.has(drawn) else call,
                    f"{ast.unparse(drawn)} gives another {name} at each start, so get_step() is 0 "
                    "and an interrupted run begins anew; use a fixed name",
                )
                break


def _drawn(code: Code, name: ast.expr) -> ast.expr | None:
    """Return the call of the clock or of chance that a name is made from, whatever is chosen."""
    drawn = [_within(code, each) for each in code.values(name)]
    return drawn[0] if drawn and all(drawn) else None


def _within(code: Code, value: Value) -> ast.expr | None:
    seen: set[Value] = set()
    left = [value]
    while left and len(seen) < MOST:
        each = left.pop()
        if each in seen:
            continue
        seen.add(each)
        node = each.node
        if isinstance(node, ast.Call) and _differs(
            each.syntax.qualified(node.func) or ""
        ):
            return node
        parts = [getattr(part, "value", part) for part in ast.iter_child_nodes(node)]
        inner = [part for part in parts if isinstance(part, ast.expr)]
        left += [found for n in inner for found in code.values(each.of(n))]
    return None


def _differs(named: str) -> bool:
    """True for a function whose result is another one at each start."""
    is_chance = named.partition(".")[0] in OF_CHANCE
    return is_chance or BY_NAME.get(named) is Harm.CLOCK or named == "os.getpid"
