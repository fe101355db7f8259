"""Shows a model what a better one does well, before it learns from its own episodes."""

from __future__ import annotations

import json
import random
import statistics
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import art
import pydantic

from art_adapt.training.endpoints import model_of
from art_adapt.training.groups import metadata_of, sampled
from art_adapt.training.histories import messages_of, named_histories
from art_adapt.training.judging import Judge
from art_adapt.training.runs import Run

S = TypeVar("S", bound=pydantic.BaseModel)
PASSES = 3  # over the conversations of a warm start
# ART masks the other roles by markers, and takes a tool's results for the model's words
# where the template gives them a role of their own (0.5.18, utils/model_config.py).
TOOLS_AS_USER = "qwen"


async def demonstrate(
    run: Run[S],
    rollout: Callable[[Any, S], Awaitable[art.Trajectory]],
    judge: Judge | None = None,
) -> None:
    """Run one model on the training scenarios, and keep the episodes that score well.

    The model is the production model, through the agent's own client, or one that an
    endpoint serves. The conversations are written to ``RUN-demonstrations.jsonl``, in
    the form that ART's supervised fine-tuning reads (0.5.18 and 0.5.23, utils/sft.py).

    Raises:
        SystemExit: the endpoint serves several models, and none was chosen.
    """
    model = await model_of(run, "demonstrate runs one model")
    count = len(run.scenarios) * run.rollouts
    print(
        f"{len(run.scenarios)} scenarios x {run.rollouts} rollouts on {model.name}: "
        f"{count} episodes"
    )
    named = [(str(metadata_of(s)["scenario_id"]), s) for s in run.scenarios]
    groups = await sampled("demonstrate", rollout, named, [model], run.rollouts, judge)
    episodes = [t for group in groups for t in group.trajectories]
    if not episodes:
        raise SystemExit("no episode was recorded: the lines above say why")
    rewards = [t.reward for t in episodes]
    least = statistics.fmean(rewards) if run.least_reward is None else run.least_reward
    kept = [t for t in episodes if t.reward >= least and _is_whole(t)]
    path = Path(f"{run.name}-demonstrations.jsonl")
    rows = [row for episode in kept for row in _rows(episode)]
    lines = (json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(
        f"{len(kept)} of {len(episodes)} episodes ended by themselves with a reward of at "
        f"least {least:.3f} (--least-reward): {len(rows)} conversations\n"
        f"Start a run with them: --warm-start {path}"
    )


def _is_whole(trajectory: art.Trajectory) -> bool:
    """Tell whether an episode ended as the agent means it to."""
    metrics = trajectory.metrics
    return not any(metrics.get(each) for each in ("failed", "timed_out", "truncated"))


def _rows(trajectory: art.Trajectory) -> Iterator[dict[str, Any]]:
    for name, history in named_histories(trajectory):
        messages = messages_of(history)
        if messages[-1:] and messages[-1]["role"] == "assistant":
            yield {
                "messages": messages,
                "tools": history.tools,
                "conversation": name,
                "reward": trajectory.reward,
            }


async def warm_start(model: art.TrainableModel[Any, Any], run: Run[Any]) -> bool:
    """Train the model on the conversations of ``--warm-start`` before its first step.

    It is ART's supervised fine-tuning, which ART counts as a step. A run that goes on from
    a checkpoint has had it. True if it was done now.
    """
    shown = run.demonstrations
    if not shown or await model.get_step():
        return False
    said = f"Warm start: {len(shown)} conversations, {PASSES} passes"
    uses_tools = any(
        message["role"] == "tool" for each in shown for message in messages_of(each)
    )
    if uses_tools and TOOLS_AS_USER not in model.base_model.lower():
        said += (
            f". {model.base_model} may also learn to write the replies of tools, because ART tells "
            "them apart only in Qwen's template"
        )
    print(said)
    # ART takes batches in their order: rollouts of a scenario would be learned, and
    # forgotten for the next.
    order = random.Random(0)
    await model.train_sft(
        [each for _ in range(PASSES) for each in order.sample(shown, len(shown))]
    )
    return True
