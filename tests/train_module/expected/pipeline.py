# Written by art-adapt 0.2.0 (1d92cf54ae9c). Yours to edit: art-adapt overwrites no edited file.
"""Trains run_agent of agent.py with ART: GRPO, scored by RULER.

Episodes can be run many times over: nothing they do outlives them.

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
LEARNING_RATE = 1e-05
ROLLOUTS_PER_GROUP = 4  # of one scenario, rewarded relative to each other
GROUPS_PER_STEP = 2
EPOCHS = 3  # 0: until Ctrl-C
TEMPERATURE = 1.0  # ART trains on logprobs at 1; the agent's own sampling is not used
ENGINE: dict[str, Any] = {}  # vLLM's, for example {"gpu_memory_utilization": 0.8}
GPUS = {"trainer_gpu_ids": [0], "inference_gpu_ids": [1]}  # both work at once
WORKERS = 16  # groups that are under way at once
VALIDATE_EVERY = 5  # steps
VALIDATION_SCENARIOS = 20  # at most
SCENARIOS = "scenarios.jsonl"


class Scenario(training.Scenario):
    """What one episode starts from. Further keys of a row are kept, for rewards."""

    question: str


def episode(scenario: Scenario) -> Any:
    """Run the agent once; without a final_answer(...), return the answer."""
    return run_agent(question=scenario.question)


async def rollout(model: art.Model, scenario: Scenario) -> training.Trajectory:
    """Record one episode on the model in training."""
    return await training.record(model, scenario, episode, temperature=TEMPERATURE)


judge = training.ruler(JUDGE_MODEL)


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
        after_each=judge,
    )
    return training.say_lost(groups)  # PipelineTrainer counts those that failed


async def train_in_pipeline(run: training.Run[Scenario]) -> None:
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
    run = training.prepare(Scenario, SCENARIOS, judge=JUDGE_MODEL)
    asyncio.run(train_in_pipeline(run))


if __name__ == "__main__":
    main()
