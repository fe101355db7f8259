# mypy: ignore-errors
# ruff: noqa: F401, F811, I001
"""Trains run_agent of agent.py with ART: GRPO, scored by RULER."""  #: <docstring>

from __future__ import annotations

import asyncio
import importlib  #: only_here
from pathlib import Path  #: only_here
from typing import Any

import art
import weave  #: weave
from art import pipeline_trainer  #: pipeline
from art.utils import iterate_dataset  #: steps
from art_adapt import training  # first: it brings the recorder that the hooks look for
from langfuse import observe  #: langfuse
from openai import OpenAI  #: only_here

from agent import run_agent  #: <local_imports>
from rewards import score  #: only_here

PROJECT = "agent"
RUN_NAME = "agent-001"
BASE_MODEL = "OpenPipe/Qwen3-14B-Instruct"
BACKEND = "local"  # "local", "serverless" or "tinker"  #: steps
JUDGE_MODEL = "openai/gpt-5.4"  # RULER's: any that LiteLLM knows  #: ruler
RULER_WEIGHT = 0.5  # of RULER's score; the rest is the reward function's  #: weighed
RUBRIC = "What a good episode does."  # the judge reads it  #: rubric
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
AUXILIARY: tuple[str, ...] = ()  #: <auxiliary>
KEYS = ("OPENAI_API_KEY",)  # of side jobs; looked for before a run starts  #: side_jobs
MODEL: dict[str, Any] = {}  # ART's options: LoRA, vLLM, GPUs  #: steps
MODEL: dict[str, Any] = {"trainer_gpu_ids": [0], "inference_gpu_ids": [1]}  #: pipeline
TRAIN: dict[str, Any] = {"learning_rate": 1e-05}  # options of each training step
WORKERS = 16  # groups that are under way at once  #: pipeline
VALIDATION_SCENARIOS = 20  # at most  #: validation_scenarios
VALIDATION_ROLLOUTS = 2  # of each
SCENARIOS = "scenarios.jsonl"
FOLDER = Path(__file__).parent  # each episode works in a copy of it  #: copies


class Scenario(training.RecordedRequest):  #: single_turn
    """A request that the agent made. Further keys of a row are kept, for rewards."""


class Scenario(training.Scenario):  #: replayed
    """What one episode starts from. Further keys of a row are kept, for rewards."""

    question: str  #: <fields>


def episode(scenario: Scenario) -> Any:  #: <episode>
    return run_agent(question=scenario.question)


@training.isolated(at_once=CONCURRENCY, timeout=EPISODE_TIMEOUT)  #: processes
@training.isolated(at_once=CONCURRENCY, timeout=EPISODE_TIMEOUT, copy_of=FOLDER)  #: copies
@training.at_once(CONCURRENCY)  #: threads
@weave.op  #: weave
@observe()  #: langfuse
async def rollout(model: art.Model, scenario: Scenario) -> training.Trajectory:
    """Record one episode on the model in training."""
    trajectory = await training.record(
        model,
        scenario,
        episode,
        temperature=TEMPERATURE,
        max_tokens=MAX_COMPLETION_TOKENS,
        timeout=EPISODE_TIMEOUT,
        agent_rewards=True,  #: agent_rewards
        every_client=True,  # the framework makes its own  #: every_client
        auxiliary=AUXILIARY,  #: replayed
    )
    return trajectory  #: unrewarded
    return await training.scored(score, trajectory, scenario)  #: reward


judge = training.ruler(JUDGE_MODEL)  #: only_ruler
judge = training.ruler(JUDGE_MODEL, RULER_WEIGHT)  #: combined
judge = training.ruler(JUDGE_MODEL, rubric=RUBRIC)  #: only_ruler_with_rubric
judge = training.ruler(JUDGE_MODEL, RULER_WEIGHT, rubric=RUBRIC)  #: combined_with_rubric


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
            after_each=judge,  #: ruler
        )


async def train(run: training.Run[Scenario]) -> None:  #: steps
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


async def validate(model: art.TrainableModel, run: training.Run[Scenario]) -> None:  #: steps
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


async def train_in_pipeline(run: training.Run[Scenario]) -> None:  #: pipeline
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
    weave.init(PROJECT)  #: weave
    run = training.prepare(Scenario, globals())
    if run.task is training.Task.TRAIN:
        with training.gpu_advice():
            asyncio.run(train(run))  #: steps
            asyncio.run(train_in_pipeline(run))  #: pipeline
    else:  # evaluate models, probe scenarios, demonstrate
        asyncio.run(training.measure(run, rollout, judge))  #: ruler
        asyncio.run(training.measure(run, rollout))  #: unjudged


if __name__ == "__main__":
    main()
