"""A group mixes scenarios, so the advantage reflects their difficulty, not the policy

A group with one episode of each scenario compares different tasks with each other: easy
scenarios get a positive advantage and hard ones a negative one, whatever the model did.

The same holds where each episode draws its own scenario, and where both sides of a game share a
group: they have different prompts and different chances.

Make one group per scenario (or side), with several episodes of it.

Evidence: art 0.5.18, preprocessing/tokenize.py:247-257; art 0.5.23,
preprocessing/tokenize.py:762-778 (the advantage is relative to the group's mean).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import (
    awaited,
    dotted,
    first_argument,
    last_name,
    names_in,
    receiver,
)
from art_adapt.rules.code import Code, Value
from art_adapt.rules.code.annotated import annotation
from art_adapt.rules.code.chance import draws_its_scenario
from art_adapt.rules.code.sides import has_several_sides
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.words import NO_SCENARIOS, SCENARIOS

RULE = Rule("ART502", "mixed-scenarios", Severity.GARBAGE)
BAD = (
    """\
import art

async def train(model, backend, scenarios):
    groups = await art.gather_trajectory_groups(
        [art.TrajectoryGroup(rollout(model, scenario) for scenario in scenarios)]  # <-
    )
    await backend.train(model, groups)
""",
    """\
import art

async def rollout(model, scenario):
    return art.Trajectory(messages_and_choices=[scenario])

async def train(model, backend, scenarios):
    groups = await art.gather_trajectory_groups(
        (art.TrajectoryGroup(rollout(model, s) for s in scenarios) for _ in range(1))  # <-
    )
    await backend.train(model, groups)
""",
    """\
import art, random

def one_of(rows):
    return rows[random.choice(range(len(rows)))]

async def train(model, backend, rows, rollout):
    groups = await art.gather_trajectory_groups(
        [art.TrajectoryGroup(rollout(one_of(rows)) for _ in range(8))]  # <-
    )
    await backend.train(model, groups)
""",
    """\
import art

async def play(model, game):
    white = art.Trajectory(messages_and_choices=[{"role": "system", "content": "Play white."}])
    black = art.Trajectory(messages_and_choices=[{"role": "system", "content": "Play black."}])
    await game.run(model, white, black)
    white.reward, black.reward = game.scores
    return [white, black]

async def train(model, backend, game):
    made = []
    for _ in range(4):
        made.extend(await play(model, game))
    await backend.train(model, [art.TrajectoryGroup(made)])  # <-
""",
    """\
import art

def made_of(model, scenarios, size):
    for _ in range(size):
        yield art.TrajectoryGroup([rollout(model, s) for s in scenarios])  # <-

async def train(model, backend, scenarios):
    groups = await art.gather_trajectory_groups(made_of(model, scenarios, 6))
    await backend.train(model, groups)
""",
    """\
import art

async def train(model, backend, dataset, rollout):
    for step in range(9):
        problems = [row for row in dataset.select(range(step * 8, step * 8 + 8))]
        tasks = [rollout(model, problem) for problem in problems]
        done = await art.gather_trajectories(tasks, max_exceptions=8)
        kept = [each for each in done if isinstance(each, art.Trajectory)]
        await backend.train(model, [art.TrajectoryGroup(kept)])  # <-
""",
    """\
import art, random

def new_hand():
    deck = list(range(52))
    random.shuffle(deck)
    return deck[:2]

async def rollout(model):
    hand = new_hand()
    messages = [{"role": "user", "content": f"Your hand: {hand}"}]
    reply = await model.openai_client().chat.completions.create(model="m", messages=messages)
    return art.Trajectory(messages_and_choices=[*messages, reply.choices[0]])

async def step(model, backend):
    groups = await art.gather_trajectory_groups(
        (art.TrajectoryGroup(rollout(model) for _ in range(8)) for _ in range(4))  # <-
    )
    await backend.train(model, groups)
""",
    """\
import art
from itertools import chain
from art.rewards import ruler_score_group

async def judged(groups: list[art.TrajectoryGroup]):
    whole = art.TrajectoryGroup(chain.from_iterable(groups))  # <-
    return [await ruler_score_group(whole, "openai/o3")]

async def train(model, backend, scenarios, rollout):
    groups = await art.gather_trajectory_groups(
        art.TrajectoryGroup(rollout(model, s) for _ in range(8)) for s in scenarios
    )
    await backend.train(model, await judged(groups))
""",
    """\
import art

async def train(model, backend, scenarios, rollout):
    groups = await art.gather_trajectory_groups(
        art.TrajectoryGroup(rollout(model, s) for _ in range(8)) for s in scenarios
    )
    whole = art.TrajectoryGroup([t for group in groups for t in group.trajectories])  # <-
    await backend.train(model, [whole])
""",
    """\
import art
from itertools import islice

def parts(rows, size):
    left = iter(rows)
    while part := list(islice(left, size)):
        yield part

def groups_of(model, rows):
    for part in parts(rows, 8):
        yield art.TrajectoryGroup(rollout(model, row) for row in part)  # <-

async def train(model, backend, batches):
    for batch in batches:
        groups = await art.gather_trajectory_groups(groups_of(model, batch.items))
        await backend.train(model, groups)
""",
    """\
import art, itertools
from art.utils import iterate_dataset

PUZZLES = [("cold", "warm"), ("lead", "gold"), ("head", "tail")] * 8

def blocks(rows, size):
    left = iter(rows)
    while block := list(itertools.islice(left, size)):
        yield block

async def train(model, backend, rollout):
    for batch in iterate_dataset(PUZZLES, groups_per_step=32):
        groups = await art.gather_trajectory_groups(
            art.TrajectoryGroup(rollout(model, puzzle) for puzzle in block)  # <-
            for block in blocks(batch.items, 8)
        )
        await backend.train(model, groups)
""",
    """\
import art, asyncio
from itertools import islice

def parts(items, size):
    left = iter(items)
    while part := list(islice(left, size)):
        yield part

async def collect(model, rows, rollout):
    done = await asyncio.gather(
        *(rollout(model, row) for _ in range(8) for row in rows), return_exceptions=True
    )
    return [art.TrajectoryGroup(part) for part in parts(done, 8)]  # <-

async def train(model, backend, batches, rollout):
    for batch in batches:
        await backend.train(model, await collect(model, batch.items, rollout))
""",
    """\
import random

import art

async def rollout(model, rng):
    numbers = rng.choice(PUZZLES)
    trajectory = art.Trajectory(
        messages_and_choices=[{"role": "user", "content": " ".join(numbers)}]
    )
    trajectory.reward = await played(model, trajectory, numbers)
    return trajectory

async def train(model: art.TrainableModel, backend, seed):
    rng = random.Random(seed)
    groups = await art.gather_trajectory_groups(
        art.TrajectoryGroup(rollout(model, rng) for _ in range(8)) for _ in range(4)  # <-
    )
    await backend.train(model, groups)
""",
)
GOOD = (
    BAD[-1]
    .replace("  # <-", "")
    .replace("    rng = random.Random(seed)\n", "")
    .replace("backend, seed)", "backend, seeds)")
    .replace("rollout(model, rng) for", "rollout(model, random.Random(seed)) for")
    .replace(" for _ in range(4)", "\n        for seed in seeds"),
    """\
import art

async def train(model, backend, scenarios):
    groups = await art.gather_trajectory_groups(
        art.TrajectoryGroup(rollout(model, scenario) for _ in range(8))
        for scenario in scenarios
    )
    await backend.train(model, groups)
    one = [rollout(model, scenarios[0]) for _ in range(8)]
    done = await art.gather_trajectories(one)
    await backend.train(model, [art.TrajectoryGroup([t for t in done if t.reward])])
    mixed = await asyncio.gather(*(rollout(model, each) for _ in range(8) for each in scenarios))
    alike = sorted(mixed, key=lambda t: t.metadata["id"])
    groups = [art.TrajectoryGroup(alike[at : at + 8]) for at in range(0, len(alike), 8)]
    await backend.train(model, groups)
    flat = await asyncio.gather(*(rollout(model, each) for each in scenarios for _ in range(8)))
    sorted_out = [art.TrajectoryGroup(flat[at : at + 8]) for at in range(0, len(flat), 8)]
    await backend.train(model, sorted_out)
    repeated = [each for each in scenarios for _ in range(8)]
    blocks = (repeated[at : at + 8] for at in range(0, len(repeated), 8))
    alike = await art.gather_trajectory_groups(
        art.TrajectoryGroup(rollout(model, each) for each in block) for block in blocks
    )
    await backend.train(model, alike)
    seeds = await art.gather_trajectory_groups(
        [art.TrajectoryGroup(rollout(model, i) for i in range(8))]
    )
    await backend.train(model, seeds)
""",
)

GATHERS = ("gather_trajectories", "gather")
IN_ORDER = ("islice", "iter", "reversed")  # parts of what they are given
PARTS = (*IN_ORDER, "sample", "sorted")
FLATTENING = ("from_iterable", "chain")  # of itertools
NOT_SEVERAL = ("range", "repeat", "itertools.repeat", "enumerate", "zip")


def check(code: Code) -> Iterator[Found]:
    for call in code.art_calls("TrajectoryGroup"):
        members = first_argument(call, "trajectories")
        if members is None or call not in code.training.groups:
            continue
        if (
            any(draws_its_scenario(code, each) for each in _rollouts(code, members))
            or any(_mixes(code, each) for each in _members(code, members))
            or has_several_sides(code, members)
            or any(_is_flattened(code, each) for each in code.values(members))
        ):
            yield found(
                call,
                "this group mixes scenarios: easy ones are rewarded and hard ones punished, "
                "whatever the model did; make one group per scenario",
            )


def _is_flattened(code: Code, members: Value) -> bool:
    """Return whether the members of gathered groups are put into one group."""
    groups: ast.expr | None = None
    match members.node:
        case ast.Call(func=function, args=[given]) if last_name(function) in FLATTENING:
            groups = given.value if isinstance(given, ast.Starred) else given
        case (
            ast.ListComp(elt=ast.Name(id=member), generators=[outer, inner])
            | ast.GeneratorExp(elt=ast.Name(id=member), generators=[outer, inner])
        ):
            group = inner.iter
            if isinstance(group, ast.Attribute) and group.attr == "trajectories":
                group = group.value
            if member == dotted(inner.target) and dotted(group) == dotted(outer.target):
                groups = outer.iter
    return groups is not None and (
        code.training.is_gathered(groups)
        or "TrajectoryGroup" in annotation(code.flow, members.of(groups))
    )


def _rollouts(code: Code, members: ast.expr) -> Iterator[Value]:
    """Yield the calls of rollouts that are made once for each episode of a group."""
    for value in code.values(members):
        if isinstance(value.node, ast.GeneratorExp | ast.ListComp):
            yield value.of(value.node.elt)
    for value in code.contents.elements(members):
        loop = value.syntax.enclosing_loop(value.node)
        if loop is not None and not code.blocks.within(members, loop):
            yield value


def _members(
    code: Code, members: ast.expr
) -> Iterator[tuple[ast.expr, ast.expr, Value]]:
    """Yield each way in which rollouts are made: the call, its loop's target and iterable."""
    for value in code.values(members):
        node = value.node
        if _is_gather(node) or _is_filter(node):
            yield from _gathered(code, value)
        elif isinstance(node, ast.GeneratorExp | ast.ListComp):
            repeated = [
                each
                for each in node.generators
                if not isinstance(each.iter, ast.Call)
                or dotted(each.iter.func) != "range"
            ]
            if len(repeated) == 1:  # several episodes of each make no difference
                yield node.elt, repeated[0].target, value.of(repeated[0].iter)
        elif (whole := _whole_of(node)) is not None:
            yield from _of_flat_list(code, value.of(whole))
    for value in code.contents.elements(members):
        loop = value.syntax.enclosing_loop(value.node)
        added = value.syntax.parents.get(value.node)
        if (
            isinstance(loop, ast.For)
            and receiver(added, "append")
            and not code.blocks.within(members, loop)
        ):
            yield value.node, loop.target, value.of(loop.iter)


def _whole_of(part: ast.expr) -> ast.expr | None:
    """Return the list of which an expression is a part in its order: ``rows[2:4]``, ``islice(rows, 2)``."""
    if isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Slice):
        return part.value
    if isinstance(part, ast.Call) and last_name(part.func) in IN_ORDER and part.args:
        return part.args[0]
    return None


def _is_gather(node: ast.expr) -> bool:
    call = awaited(node)
    return isinstance(call, ast.Call) and last_name(call.func) in GATHERS


def _is_filter(node: ast.expr) -> bool:
    """Return whether it is ``[t for t in gathered if ...]``."""
    return (
        isinstance(node, ast.ListComp | ast.GeneratorExp)
        and len(node.generators) == 1
        and isinstance(node.elt, ast.Name)
        and dotted(node.elt) == dotted(node.generators[0].target)
    )


def _gathered(
    code: Code, flat: Value, depth: int = 4
) -> Iterator[tuple[ast.expr, ast.expr, Value]]:
    """Yield how the rollouts were made that a gather ran, of which a filter may leave some out."""
    for value in code.values(flat) if depth else ():
        node = awaited(value.node)
        if _is_filter(node):
            assert isinstance(node, ast.ListComp | ast.GeneratorExp)
            yield from _gathered(code, value.of(node.generators[0].iter), depth - 1)
        elif isinstance(node, ast.Call) and _is_gather(node):
            for given in (*node.args[:1], *(k.value for k in node.keywords[:1])):
                inner = given.value if isinstance(given, ast.Starred) else given
                yield from _gathered(code, value.of(inner), depth - 1)
        elif isinstance(node, ast.ListComp | ast.GeneratorExp) and depth < 4:
            yield from _members(code, node)


def _of_flat_list(
    code: Code, flat: Value
) -> Iterator[tuple[ast.expr, ast.expr, Value]]:
    """Yield the scenarios of a flat list of rollouts that is cut into groups.

    Only where neighbours are of different scenarios: there the scenario is the inner loop.
    """
    for value in code.values(flat):
        node = awaited(value.node)
        if (whole := _whole_of(node)) is not None:
            yield from _of_flat_list(code, value.of(whole))
        elif isinstance(node, ast.Call):
            given = first_argument(node, "trajectories")
            name = last_name(node.func)
            if given is not None and name in GATHERS:
                inner = given.value if isinstance(given, ast.Starred) else given
                yield from _of_flat_list(code, value.of(inner))
        elif isinstance(node, ast.GeneratorExp | ast.ListComp):
            if len(node.generators) == 2:
                inner_loop = node.generators[1]
                yield node.elt, inner_loop.target, value.of(inner_loop.iter)
            elif isinstance(node.elt, ast.Call):
                only = node.generators[0]
                yield node.elt, only.target, value.of(only.iter)
            elif isinstance(node.elt, ast.Name):  # a filter
                yield from _of_flat_list(code, value.of(node.generators[0].iter))


def _mixes(code: Code, member: tuple[ast.expr, ast.expr, Value]) -> bool:
    """Return whether each rollout of a group gets a scenario of its own."""
    rollout, target, iterated = member
    target, iterated = _counted(target, iterated)
    if not isinstance(rollout, ast.Call):
        made = [value.node for value in code.values(rollout)]
        rollout = next((each for each in made if isinstance(each, ast.Call)), rollout)
    if not isinstance(rollout, ast.Call) or not isinstance(target, ast.Name):
        return False
    if target.id not in names_in(rollout):
        return False
    # Texts may be sides or styles, beside a scenario that is given as well.
    given = [*rollout.args, *(each.value for each in rollout.keywords)]
    is_alone = len([each for each in given if not code.models.is_one(each)]) == 1
    return _is_several(code, iterated) or (is_alone and _are_texts(code, iterated))


def _counted(target: ast.expr, iterated: Value) -> tuple[ast.expr, Value]:
    """Look behind ``enumerate`` and ``zip``."""
    call = iterated.node
    if not isinstance(call, ast.Call) or not isinstance(target, ast.Tuple):
        return target, iterated
    name = dotted(call.func)
    if name not in ("enumerate", "zip") or not call.args or len(target.elts) < 2:
        return target, iterated
    return target.elts[name == "enumerate"], iterated.of(call.args[0])


def _is_several(code: Code, iterated: Value) -> bool:
    """Return whether it certainly holds different scenarios, by its name or its values."""
    values = code.values(iterated)
    if any(_is_of_copies(code, value) for value in values):
        return False
    named = _spelled(iterated.node)
    if isinstance(iterated.node, ast.Name) and _is_of_comprehension(
        iterated, iterated.node
    ):
        return all(_is_chunk(each.node) and _differ(code, each) for each in values)
    if SCENARIOS.search(named) and not NO_SCENARIOS.search(named):
        return True
    return all(_differ(code, value) for value in values)


def _is_chunk(node: ast.expr) -> bool:
    """Return whether it is a part of a list, and no list that a loop goes through."""
    return (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)) or (
        isinstance(node, ast.Call) and last_name(node.func) in PARTS
    )


def _is_of_copies(code: Code, value: Value) -> bool:
    """Return whether it holds one scenario several times, or numbers."""
    node = value.node
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Mult)
    if isinstance(node, ast.Call):
        return dotted(node.func) in NOT_SEVERAL
    return isinstance(node, ast.ListComp | ast.GeneratorExp) and not _differ(
        code, value
    )


def _differ(code: Code, value: Value) -> bool:
    node = value.node
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return _is_several(code, value.of(node.value))
    if isinstance(node, ast.Call) and last_name(node.func) in PARTS and node.args:
        whole = code.values(value.of(node.args[0]))
        return all(_differ(code, each) or _lists_several(each.node) for each in whole)
    if isinstance(node, ast.ListComp | ast.GeneratorExp):
        # A list that repeats each has the same ones side by side.
        inner = node.generators[-1]
        repeats = (
            isinstance(inner.iter, ast.Call) and dotted(inner.iter.func) == "range"
        )
        return not repeats and not names_in(node.elt).isdisjoint(names_in(inner.target))
    named = _spelled(node)
    return bool(SCENARIOS.search(named)) and not NO_SCENARIOS.search(named)


def _lists_several(node: ast.expr) -> bool:
    """Return whether it is a list that is written out, of different items; maybe several times."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        node = node.left
    return isinstance(node, ast.List) and len(set(map(ast.dump, node.elts))) > 1


def _are_texts(code: Code, iterated: Value) -> bool:
    """Return whether it certainly holds different texts, which are written out."""
    for value in code.values(iterated):
        listed = value.node.elts if isinstance(value.node, ast.List | ast.Tuple) else []
        texts = {code.constant(value.of(each)) for each in listed}
        if len(texts) < 2 or not all(isinstance(each, str) for each in texts):
            return False
    return True


def _spelled(node: ast.expr) -> str:
    """Spell the names of a chain of calls and attributes, without the arguments."""
    names: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, ast.Name):
            return " ".join([*names, node.id])
        else:
            return " ".join(names)


def _is_of_comprehension(value: Value, name: ast.Name) -> bool:
    """Return whether an outer comprehension makes the list, perhaps of one scenario."""
    return any(
        name.id in names_in(generator.target)
        for outer in value.syntax.ancestors(name)
        if isinstance(outer, ast.GeneratorExp | ast.ListComp)
        for generator in outer.generators
    )
