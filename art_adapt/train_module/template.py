# mypy: ignore-errors
# ruff: noqa: I001, F401
"""Trains run_agent of agent.py with ART: GRPO, scored by RULER."""  #: <docstring>

from __future__ import annotations

import asyncio
import importlib  #: <importlib_import>
from pathlib import Path  #: <path_import>
from typing import Any

import art
import weave  #: weave
from art import pipeline_trainer  #: pipeline
from art.utils import iterate_dataset  #: steps
from art_adapt import training  # first: it brings the recorder that the hooks look for
from langfuse import observe  #: langfuse
from openai import OpenAI  #: <client_import>

from agent import run_agent  #: <local_imports>
from rewards import score  #: only_here

PROJECT = "agent"
RUN_NAME = "agent-001"
BASE_MODEL = "OpenPipe/Qwen3-14B-Instruct"
BACKEND = "local"  # or "serverless"  #: steps
JUDGE_MODEL = "openai/gpt-5.4"  # RULER's: any that LiteLLM knows  #: ruler
RULER_WEIGHT = 0.5  # of RULER's score; the rest is the reward function's  #: combined
LEARNING_RATE = 1e-05
ROLLOUTS_PER_GROUP = 4  # of one scenario, rewarded relative to each other
GROUPS_PER_STEP = 2
EPOCHS = 3  # 0: until Ctrl-C
TEMPERATURE = 1.0  # ART trains on logprobs at 1; the agent's own sampling is not used
ENGINE: dict[str, Any] = {}  # vLLM's, for example {"gpu_memory_utilization": 0.8}
GPUS = {"trainer_gpu_ids": [0], "inference_gpu_ids": [1]}  # both work at once  #: pipeline
WORKERS = 16  # groups that are under way at once  #: pipeline
VALIDATE_EVERY = 5  # steps
VALIDATION_SCENARIOS = 20  # at most
SCENARIOS = "scenarios.jsonl"


class Scenario(training.Scenario):
    """What one episode starts from. Further keys of a row are kept, for rewards."""

    question: str  #: <fields>


def episode(scenario: Scenario) -> Any:  #: <episode>
    return run_agent(question=scenario.question)


@training.isolated  #: processes
@weave.op  #: weave
@observe()  #: langfuse
async def rollout(model: art.Model, scenario: Scenario) -> training.Trajectory:
    """Record one episode on the model in training."""
    return await training.record(model, scenario, episode, temperature=TEMPERATURE)  #: plain
    return await training.record(  #: agent_rewards
        model, scenario, episode, temperature=TEMPERATURE, agent_rewards=True
    )
    trajectory = await training.record(  #: reward
        model, scenario, episode, temperature=TEMPERATURE
    )
    trajectory.reward = await training.finite(score(trajectory, scenario))  #: reward
    return trajectory  #: reward


judge = training.ruler(JUDGE_MODEL)  #: only_ruler
judge = training.ruler(JUDGE_MODEL, RULER_WEIGHT)  #: combined


async def gather(
    model: art.TrainableModel,
    scenarios: list[Scenario],
    size: int,
    name: str | None,
) -> list[art.TrajectoryGroup]:
    """Run `size` rollouts of each scenario side by side."""
    rollouts: Any = (
        art.TrajectoryGroup(rollout(model, scenario) for _ in range(size))
        for scenario in scenarios
    )
    groups = await art.gather_trajectory_groups(
        rollouts,
        pbar_desc=name,
        max_exceptions=size * len(scenarios),  # a lost episode never ends the run
        after_each=judge,  #: ruler
    )
    return training.with_episodes(groups)  #: steps
    return training.say_lost(groups)  # PipelineTrainer counts those that failed  #: pipeline


async def train(run: training.Run[Scenario]) -> None:  #: steps
    """Train from the step that the model has reached, epoch after epoch."""
    model = training.make_model(RUN_NAME, PROJECT, BASE_MODEL, ENGINE)
    backend = training.make_backend(run.backend)
    try:
        await model.register(backend)
        stopping = training.stop_after_step()
        for batch in iterate_dataset(
            run.scenarios,
            groups_per_step=GROUPS_PER_STEP,
            num_epochs=EPOCHS or training.UNTIL_STOPPED,
            initial_step=await model.get_step(),
        ):
            step = batch.step
            if stopping.is_set():
                break
            if run.validation and step and step % VALIDATE_EVERY == 0:
                held_out = run.validation[:VALIDATION_SCENARIOS]
                groups = await gather(model, held_out, 1, "validation")
                await model.log(groups, split="val", step=step)
            groups = await gather(
                model, batch.items, ROLLOUTS_PER_GROUP, f"step {step}"
            )
            if not groups:
                raise SystemExit("every episode of this step was lost: see above")
            training.report(groups)
            training.show(groups, run.shown, RUN_NAME, step)
            exact = training.for_training(groups)  # as ART must get what was sampled
            result = await backend.train(model, exact, learning_rate=LEARNING_RATE)
            await model.log(
                groups, metrics=result.metrics, step=result.step, split="train"
            )
            metric = "val/reward" if run.validation else "train/reward"
            await model.delete_checkpoints(metric)
        training.print_usage(model)
    finally:
        await backend.close()


async def train_in_pipeline(run: training.Run[Scenario]) -> None:  #: pipeline
    """Sample, train and validate side by side, from where an earlier run stopped.

    What is trained may be some steps old: ART's loss accounts for it. Ctrl-C lets it
    finish what is under way, and keeps it.
    """

    async def roll_out(
        model: art.TrainableModel, scenario: Any, _: None
    ) -> art.TrajectoryGroup:
        groups = await gather(model, [scenario], ROLLOUTS_PER_GROUP, None)
        if not groups:
            raise RuntimeError("this group was left out: see above")
        return training.name_policies(training.for_training(groups)[0])

    async def validate(
        model: art.TrainableModel, step: int, _: None
    ) -> list[art.Trajectory | art.TrajectoryGroup]:
        held_out = run.validation[:VALIDATION_SCENARIOS]
        groups = await gather(model, held_out, 1, None)
        training.show(groups, run.shown, RUN_NAME, step)
        return [training.name_policies(group) for group in groups if group.trajectories]

    model = training.make_model(RUN_NAME, PROJECT, BASE_MODEL, ENGINE, **GPUS)
    backend = training.make_backend("local")
    try:
        await model.register(backend)
        begun = await model.get_step()
        trainer = pipeline_trainer.PipelineTrainer(
            model,
            backend,
            roll_out,
            training.scenario_stream(run.scenarios, EPOCHS),
            None,
            validate if run.validation else None,
            learning_rate=LEARNING_RATE,
            eval_every_n_steps=VALIDATE_EVERY,
            eval_at_start=False,
            checkpoint_retention_strategy=pipeline_trainer.keep_recent_and_top(
                metric="val/reward" if run.validation else "train/reward"
            ),
            **training.pipeline_sizes(workers=WORKERS, groups_per_step=GROUPS_PER_STEP),
        )
        await trainer.train()
        if await model.get_step() == begun:
            print("Nothing was trained: all was done, or no group had variance.")
        training.print_usage(model)
    finally:
        await backend.close()


def main() -> None:
    weave.init(PROJECT)  #: weave
    run = training.prepare(Scenario, SCENARIOS, backend=BACKEND)  #: unjudged_steps
    run = training.prepare(Scenario, SCENARIOS, backend=BACKEND, judge=JUDGE_MODEL)  #: judged_steps
    run = training.prepare(Scenario, SCENARIOS)  #: unjudged_pipeline
    run = training.prepare(Scenario, SCENARIOS, judge=JUDGE_MODEL)  #: judged_pipeline
    asyncio.run(train(run))  #: steps
    asyncio.run(train_in_pipeline(run))  #: pipeline


if __name__ == "__main__":
    main()
