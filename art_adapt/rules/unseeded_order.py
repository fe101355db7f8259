"""Scenarios are shuffled without a seed, so a resumed run goes through another order

A run that resumes at step 40 skips the first 40 batches. If the rows were shuffled anew, these
are other batches: some scenarios are trained on twice, others never. If the same shuffle parts
training from validation, the run now trains on rows that it validated with before.

Give the order a seed: ``random.Random(0).shuffle(rows)``. ``iterate_dataset`` shuffles each epoch
itself, with the epoch as its seed.

Evidence: art 0.5.18 and 0.5.23, utils/iterate_dataset.py (initial_step skips batches of the given
order; each epoch has its own seed).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from art_adapt.code.dependence import made_from
from art_adapt.code.nodes import (
    dotted,
    given_to,
    last_name,
    names_in,
    names_set_in,
)
from art_adapt.code.syntax import return_values
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART538", "unseeded-order", Severity.WASTE)
BAD = (
    """\
import art, random
from art.utils import iterate_dataset

async def main(model, backend, rows, rollout):
    random.shuffle(rows)  # <-
    validation, training = rows[:20], rows[20:]
    start = await model.get_step()
    for batch in iterate_dataset(training, groups_per_step=4, initial_step=start):
        groups = await art.gather_trajectory_groups(rollout(each) for each in batch.items)
        await backend.train(model, groups)
""",
    """\
import art, random

def load(path):
    rows = read(path)
    return random.sample(rows, len(rows))  # <-

async def main(model, backend, rollout):
    rows = load("rows.jsonl")
    for step in range(await model.get_step(), 50):
        batch = rows[step * 4 : step * 4 + 4]
        groups = await art.gather_trajectory_groups(rollout(each) for each in batch)
        await backend.train(model, groups)
""",
    """\
import art, random

class Corpus:
    def __init__(self, rows):
        self.rows, self.order = rows, list(range(len(rows)))
        random.shuffle(self.order)  # <-

    def at(self, step):
        return [self.rows[i] for i in self.order[step * 4 : step * 4 + 4]]

async def main(model, backend, rows, rollout):
    corpus = Corpus(rows)
    step = await model.get_step()
    while step < 50:
        batch = [rollout(each) for each in corpus.at(step)]
        groups = await art.gather_trajectory_groups(batch)
        step = (await backend.train(model, groups)).step
""",
)
GOOD = (
    BAD[0].replace("random.shuffle(rows)  # <-", "random.Random(0).shuffle(rows)"),
    BAD[0].replace(
        "random.shuffle(rows)  # <-", "random.seed(0)\n    random.shuffle(rows)"
    ),
    # Each step draws its own batch: no order to resume in.
    """\
import art, random

async def main(model, backend, rows, rollout):
    for step in range(await model.get_step(), 50):
        batch = random.sample(rows, 4)
        groups = await art.gather_trajectory_groups(rollout(each) for each in batch)
        await backend.train(model, groups)
""",
    BAD[1]
    .replace("random.sample(rows, len(rows))  # <-", "rows")
    .replace(
        "    for step",
        "    shown = random.sample(rows, 3)\n    print(shown)\n    for step",
    ),
)
IN_PLACE = ("random.shuffle", "numpy.random.shuffle")
GIVING = ("random.sample", "numpy.random.permutation")
SEEDS = ("seed", "set_seed", "seed_everything", "seed_all", "set_random_seed")
DRAWS = ("sample", "choice", "choices")  # a batch from anywhere: in no order
SORTS = ("sort", "sorted")
RESUMES = ("get_step", "read_state")


def check(code: Code) -> Iterator[Found]:
    shuffles = [
        call
        for call in code.calls
        if (named := code.syntax.qualified(call.func)) in GIVING
        # In a loop it is a part of each row that is shuffled: its options.
        or (named in IN_PLACE and code.syntax.enclosing_loop(call) is None)
    ]
    if not shuffles or any(last_name(call.func) in SEEDS for call in code.calls):
        return
    loops = {
        loop
        for trained in code.training.calls
        for loop in code.training.loops(trained)[-1:]
    }
    resumed = [loop for loop in loops if _is_resumed(code, loop)]
    for call in shuffles:
        outside = (loop for loop in resumed if not code.blocks.within(call, loop))
        if any(_is_ordered_by(code, call, loop) for loop in outside):
            yield found(
                call,
                "a resumed run gets another order: it repeats some scenarios, skips others, "
                "and may train on held-out ones; shuffle with a seed, as "
                "random.Random(0).shuffle does",
            )


def _is_resumed(code: Code, loop: ast.AST) -> bool:
    """Return whether a loop begins at the step that was reached, and goes on in an order."""
    assert isinstance(loop, ast.For | ast.AsyncFor | ast.While)
    counted = loop.test if isinstance(loop, ast.While) else loop.iter
    begins = made_from(code.syntax, code.syntax.owner(loop), [counted])
    return _calls(begins, RESUMES) and not _calls(code.blocks.inside(loop), DRAWS)


def _calls(nodes: Iterable[ast.AST], names: Sequence[str]) -> bool:
    return any(
        isinstance(node, ast.Call) and last_name(node.func) in names for node in nodes
    )


def _ordered(code: Code, loop: ast.AST) -> set[ast.AST]:
    """Return what the order of a loop's steps is made from: what it iterates, or cuts pieces of.

    That is also what gives it the rows of a step: ``corpus.at(step)``.
    """
    inside = list(code.blocks.inside(loop))
    cut = [
        node.value
        for node in inside
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
    ]
    counting = names_set_in(loop)
    cut += [
        node.iter
        for node in inside
        if isinstance(node, ast.comprehension | ast.For)
        and isinstance(node.iter, ast.Call)
        and any(not counting.isdisjoint(names_in(e)) for e in given_to(node.iter))
    ]
    over = [loop.iter] if isinstance(loop, ast.For | ast.AsyncFor) else []
    return made_from(code.syntax, code.syntax.owner(loop), [*over, *cut])


def _is_ordered_by(code: Code, shuffle: ast.Call, loop: ast.AST) -> bool:
    """Return whether a loop goes through what was shuffled, here or in a function that gives it."""
    ordered = _ordered(code, loop)
    owner, of_loop = code.syntax.owner(shuffle), code.syntax.owner(loop)
    name = dotted(shuffle.args[0]) if shuffle.args else None
    is_kept = name is not None and name.startswith("self.")

    def knows(function: str) -> bool:
        of_class = function.rpartition(".")[0] == owner.rpartition(".")[0]
        return function == owner or (is_kept and of_class)

    if not knows(of_loop):
        called = (
            code.flow.functions.called(code.syntax, node.func)
            for node in ordered
            if isinstance(node, ast.Call)
        )
        givers = [
            each[1].qualname for each in called if each and knows(each[1].qualname)
        ]
        ordered = {
            node
            for giver in givers
            for node in made_from(code.syntax, giver, return_values(code.syntax, giver))
        }
    if _calls(ordered, SORTS) or _calls(code.syntax.owned_by(owner), SORTS[:1]):
        return False
    if code.syntax.qualified(shuffle.func) in GIVING:
        return shuffle in ordered
    return name is not None and any(
        isinstance(each, ast.Name | ast.Attribute) and dotted(each) == name
        for each in ordered
    )
