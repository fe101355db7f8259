# Written by art-adapt 0.3.0 (6ea07c732916). Yours to edit: art-adapt keeps your edits.
# Decided: --scenarios rows:ROWS --isolate process
"""Trains write_tagline of agent.py with ART: GRPO, scored by RULER.

No state was found that outlives an episode: it can run many times.

Run: python agent_train.py --help
"""

from __future__ import annotations

import asyncio
from typing import Any

import art
from art.utils import iterate_dataset
from art_adapt import training  # first: it brings the recorder that the hooks look for
from openai import OpenAI

from agent import write_tagline

PROJECT = "agent"
RUN_NAME = "agent-001"
BASE_MODEL = "OpenPipe/Qwen3-14B-Instruct"
BACKEND = "local"  # "local", "serverless" or "tinker"
JUDGE_MODEL = "openai/gpt-5.4"  # RULER's: any that LiteLLM knows
# A small start, as in ART's guide; its examples use groups of 6 to 48.
ROLLOUTS_PER_GROUP = 4  # of one scenario, rewarded relative to each other
GROUPS_PER_STEP = 2
EPOCHS = 3  # 0: no limit
MAX_STEPS = 50  # in total, for a first look; a later run continues from its checkpoint
MAX_HOURS = 12.0  # of one run
TEMPERATURE = 1.0  # ART trains on logprobs at 1; the agent's own sampling is not used
MAX_COMPLETION_TOKENS = 2048  # longer ones are cut off, and scored as they are
EPISODE_TIMEOUT = 600.0  # seconds; then an episode ends, and is scored as it is
CONCURRENCY = 16  # episodes at once
AUXILIARY: tuple[str, ...] = ()  # functions and models that are not trained
MODEL: dict[str, Any] = {}  # ART's options: LoRA, vLLM, GPUs
TRAIN: dict[str, Any] = {"learning_rate": 1e-05}  # options of each training step
VALIDATION_ROLLOUTS = 2  # of each
SCENARIOS = "rows:ROWS"


class Scenario(training.Scenario):
    """What one episode starts from. Further keys of a row are kept, for rewards."""

    product: str
    audience: str


def episode(scenario: Scenario) -> Any:
    """Run the agent once; without final_answer(...), it returns the answer."""
    client = OpenAI(**training.policy_endpoint())
    return write_tagline(
        client=client, product=scenario.product, audience=scenario.audience
    )


@training.isolated(at_once=CONCURRENCY, timeout=EPISODE_TIMEOUT)
async def rollout(model: art.Model, scenario: Scenario) -> training.Trajectory:
    """Record one episode on the model in training."""
    trajectory = await training.record(
        model,
        scenario,
        episode,
        temperature=TEMPERATURE,
        max_tokens=MAX_COMPLETION_TOKENS,
        timeout=EPISODE_TIMEOUT,
        auxiliary=AUXILIARY,
    )
    return trajectory


judge = training.ruler(JUDGE_MODEL)


async def gather(
    model: art.TrainableModel, scenarios: list[Scenario], size: int, split: str
) -> list[art.TrajectoryGroup]:
    """Run `size` rollouts of each scenario side by side."""
    rollouts: Any = (
        art.TrajectoryGroup(
            (rollout(model, scenario) for _ in range(size)),
            metadata=training.metadata_of(scenario),
        )
        for scenario in scenarios
    )
    with training.costs_of(model, split):
        return await art.gather_trajectory_groups(
            rollouts,
            pbar_desc=split,
            max_exceptions=size * len(scenarios),  # a lost episode never ends the run
            after_each=judge,
        )


async def train(run: training.Run[Scenario]) -> None:
    """Train from the step that the model has reached, epoch after epoch."""
    model = training.make_model(run.name, PROJECT, BASE_MODEL, MODEL)
    backend = training.make_backend(run.backend, run.plan.price)
    try:
        await model.register(backend, training.server_settings(BASE_MODEL, MODEL))
        progress = await training.begin(model, run)
        for batch in iterate_dataset(
            run.scenarios,
            groups_per_step=GROUPS_PER_STEP,
            num_epochs=EPOCHS or training.UNTIL_STOPPED,
            initial_step=progress.batches,
        ):
            step = await model.get_step()
            if progress.is_over(step):
                break
            if progress.validates_at(step):
                await validate(model, run)
            sampled = await gather(model, batch.items, ROLLOUTS_PER_GROUP, "train")
            groups = progress.usable(sampled)
            if not (learnable := progress.learnable(groups)):
                continue
            exact = training.for_training(learnable)  # as ART must get what was sampled
            result = await backend.train(model, exact, **TRAIN)
            metrics = progress.note(result)
            await model.log(groups, metrics=metrics, step=result.step, split="train")
            training.keep(model, groups, "train", result.step, run.shown)
            await progress.prune(model)
        await validate(model, run)
        training.print_usage(model, MODEL)
    finally:
        await backend.close()


async def validate(model: art.TrainableModel, run: training.Run[Scenario]) -> None:
    """Score held-out scenarios at the step that the model has reached, once."""
    step = await model.get_step()
    if not run.validation or training.is_validated(model, step):
        return
    sampled = await gather(model, run.validation, VALIDATION_ROLLOUTS, "val")
    groups = training.usable(sampled)
    training.report_validation(groups, step)
    if groups:
        await model.log(groups, split="val", step=step)
        training.keep(model, groups, "val", step, run.shown)


def main() -> None:
    run = training.prepare(Scenario, globals())
    if run.task is training.Task.TRAIN:
        with training.gpu_advice():
            asyncio.run(train(run))
    else:  # evaluate models, probe scenarios, demonstrate
        asyncio.run(training.measure(run, rollout, judge))


if __name__ == "__main__":
    main()
