# Written by art-adapt 0.3.0 (50c9f43f7c11). Yours to edit: art-adapt keeps your edits.
# Decided: --pipeline
"""Trains run_agent of agent.py with ART: GRPO, scored by RULER.

No state was found that outlives an episode: it can run many times.

Run: python agent_train.py --help
"""

from __future__ import annotations

import asyncio
from typing import Any

import art
from art import pipeline_trainer
from art_adapt import training  # first: it brings the recorder that the hooks look for

from agent import run_agent

PROJECT = "agent"
RUN_NAME = "agent-001"
BASE_MODEL = "OpenPipe/Qwen3-14B-Instruct"
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
CONCURRENCY = 64  # episodes at once
AUXILIARY: tuple[str, ...] = ()  # functions and models that are not trained
MODEL: dict[str, Any] = {"trainer_gpu_ids": [0], "inference_gpu_ids": [1]}
TRAIN: dict[str, Any] = {"learning_rate": 1e-05}  # options of each training step
WORKERS = 16  # groups that are under way at once
VALIDATION_ROLLOUTS = 2  # of each
SCENARIOS = "scenarios.jsonl"


class Scenario(training.Scenario):
    """What one episode starts from. Further keys of a row are kept, for rewards."""

    question: str


def episode(scenario: Scenario) -> Any:
    """Run the agent once; without final_answer(...), it returns the answer."""
    return run_agent(question=scenario.question)


@training.at_once(CONCURRENCY)
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


async def train_in_pipeline(run: training.Run[Scenario]) -> None:
    """Sample, train and validate side by side, from where an earlier run stopped.

    What is trained may be some steps old: ART's loss accounts for it. Ctrl-C lets it
    finish what is under way, and keeps it.
    """

    async def roll_out(
        model: art.TrainableModel, scenario: Any, _: None
    ) -> art.TrajectoryGroup:
        sampled = await gather(model, [scenario], ROLLOUTS_PER_GROUP, "train")
        groups = patience.usable(sampled)
        if not groups:
            raise RuntimeError("this group was left out: see above")
        return training.name_policies(training.for_training(groups)[0])

    async def validate(
        model: art.TrainableModel, step: int, _: None
    ) -> list[art.Trajectory | art.TrajectoryGroup]:
        sampled = await gather(model, run.validation, VALIDATION_ROLLOUTS, "val")
        groups = training.usable(sampled)
        training.report_validation(groups, step)
        training.keep(model, groups, "val", step, run.shown)
        return [training.name_policies(group) for group in groups]

    patience = training.Patience("groups", WORKERS)
    model = training.make_model(run.name, PROJECT, BASE_MODEL, MODEL)
    backend = training.make_backend("local", run.plan.price)
    try:
        await model.register(backend, training.server_settings(BASE_MODEL, MODEL))
        begun = await model.get_step()
        training.note_settings(model, run.plan, begun)
        trainer = pipeline_trainer.PipelineTrainer(
            model,
            backend,
            roll_out,
            training.scenario_stream(run, EPOCHS),
            None,
            validate if run.validation else None,
            max_steps=max(0, run.plan.steps - begun),
            eval_every_n_steps=run.plan.validate_every or 0,
            eval_at_start=not begun and run.plan.validates_first,
            checkpoint_retention_strategy=pipeline_trainer.keep_recent_and_top(
                metric="val/reward" if run.validation else "train/reward"
            ),
            **training.pipeline_sizes(workers=WORKERS, groups_per_step=GROUPS_PER_STEP),
            **TRAIN,
        )
        await trainer.train()
        step = await model.get_step()
        if run.validation and not training.is_validated(model, step):
            held_out: Any = await validate(model, step, None)
            await model.log(held_out, split="val", step=step)
        if step == begun:
            print("Nothing was trained: all was done, or no group had variance.")
        training.print_usage(model, MODEL)
    finally:
        await backend.close()


def main() -> None:
    run = training.prepare(Scenario, globals())
    if run.task is training.Task.TRAIN:
        with training.gpu_advice():
            asyncio.run(train_in_pipeline(run))
    else:  # evaluate models, probe scenarios, demonstrate
        asyncio.run(training.measure(run, rollout, judge))


if __name__ == "__main__":
    main()
