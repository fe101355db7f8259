"""A failed training step is caught and the loop goes on, so a run pays for rollouts that train nothing

``backend.train`` raises when the trainer or its engine has failed: out of GPU memory, a dead
process, a full disk. The next step fails the same way. A loop that prints the error and goes on
gathers rollouts until the end, on a GPU that is paid for, and the model stays as it was.

Let it raise, or leave the loop. The same command resumes at the last checkpoint.

Evidence: art 0.5.18, local/backend.py (train raises what its service raised, and leaves the step
as it was); art 0.5.23, local/backend.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from art_adapt.code.nodes import last_name
from art_adapt.rules.code import Code, below
from art_adapt.rules.code.handlers import BROAD, Handler, handlers
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART535", "swallowed-training", Severity.WASTE)
BAD = (
    """\
import art

async def train(model, backend, scenarios, rollout):
    for batch in scenarios:
        groups = await art.gather_trajectory_groups(rollout(model, each) for each in batch)
        try:
            await backend.train(model, groups)
        except Exception as error:  # <-
            print(f"training failed: {error}")
            continue
        await model.log(groups)
""",
    """\
import art

class Trainer:
    async def step(self, batch):
        groups = await art.gather_trajectory_groups(self.rollout(each) for each in batch)
        try:
            await self.backend.train(self.model, groups)
            return True
        except Exception as error:  # <-
            print(error)
            return False

    async def run(self, batches):
        for batch in batches:
            if not await self.step(batch):
                continue
            await self.evaluate()
""",
    """\
import art, asyncio

async def train(model, backend, batches, rollout):
    for batch in batches:
        groups = await art.gather_trajectory_groups(rollout(model, each) for each in batch)
        for attempt in range(3):
            try:
                await backend.train(model, groups)
                break
            except Exception:  # <-
                await asyncio.sleep(10)
""",
)
GOOD = (
    BAD[0].replace("continue", "raise").replace("  # <-", ""),
    BAD[0].replace("continue", "break").replace("  # <-", ""),
    BAD[1].replace("continue", "break").replace("  # <-", ""),
    BAD[2].replace(
        "            except Exception:  # <-\n",
        "            except Exception:\n                if attempt == 2:\n                    raise\n",
    ),
    """\
import art, torch

async def train(model, backend, batches, rollout):
    for batch in batches:
        groups = await art.gather_trajectory_groups(rollout(model, each) for each in batch)
        try:
            await backend.train(model, groups)
        except torch.cuda.OutOfMemoryError:
            torch.cuda.empty_cache()
            await backend.train(model, groups[:1])
""",
)
ENDS = ("exit", "_exit", "abort", "kill")


def check(code: Code) -> Iterator[Found]:
    for handler in handlers(code.syntax):
        tried = set(below(handler.tried)) if handler.names & BROAD else set()
        trained = [call for call in code.training.calls if call in tried]
        if trained and _goes_on(code, handler, trained[0]):
            yield found(
                handler.node,
                "a training step that fails is skipped, and the next one fails as well: the run "
                "pays for rollouts that train nothing; let it raise, or leave the loop",
            )


def _goes_on(code: Code, handler: Handler, trained: ast.Call) -> bool:
    """Return whether the loop around a training call goes on after a failure."""
    loops = code.training.loops(trained)
    if not loops or _leaves(handler.body):
        return False
    inside = code.blocks.within(trained, loops[0])
    if inside:
        within = (ast.Return,) if _tries_again(handler) else (ast.Return, ast.Break)
        if any(isinstance(each, within) for each in below(handler.body)):
            return False
        outer = loops[-1]
        return not _tries_again(handler) or (
            len(loops) > 1 and not _leaves(outer.body, beside=handler.tried)
        )
    return not any(
        isinstance(each, ast.Break | ast.Return) for each in below(loops[0].body)
    ) and not _leaves(loops[0].body)


def _tries_again(handler: Handler) -> bool:
    """Return whether a success leaves the loop around: it tries the same step again."""
    return any(isinstance(each, ast.Break) for each in below(handler.tried))


def _leaves(body: Sequence[ast.stmt], beside: Sequence[ast.stmt] = ()) -> bool:
    """Return whether an error leaves some statements, or the program ends in them."""
    apart = set(below(beside))
    return any(
        isinstance(each, ast.Raise)
        or (isinstance(each, ast.Call) and last_name(each.func) in ENDS)
        for each in below(body)
        if each not in apart
    )
