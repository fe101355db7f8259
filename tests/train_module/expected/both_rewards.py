# Written by art-adapt 0.2.0 (a8ec4b9489fa). Yours to edit: art-adapt overwrites no edited file.
"""Trains research of agent.py with ART: GRPO, rewarded by rewards:score.

Episodes can be run many times over: nothing they do outlives them.

Run: python agent_train.py --help
"""

from __future__ import annotations

import asyncio
from typing import Any

import art
from art.utils import iterate_dataset
from art_adapt import training  # first: it brings the recorder that the hooks look for
from langfuse import observe

from agent import research
from rewards import score

PROJECT = "agent"
RUN_NAME = "agent-001"
BASE_MODEL = "OpenPipe/Qwen3-14B-Instruct"
BACKEND = "local"  # or "serverless"
JUDGE_MODEL = "openai/gpt-5.4"  # RULER's: any that LiteLLM knows
RULER_WEIGHT = 0.3  # of RULER's score; the rest is the reward function's
LEARNING_RATE = 1e-05
ROLLOUTS_PER_GROUP = 4  # of one scenario, rewarded relative to each other
GROUPS_PER_STEP = 2
EPOCHS = 3  # 0: until Ctrl-C
TEMPERATURE = 1.0  # ART trains on logprobs at 1; the agent's own sampling is not used
ENGINE: dict[str, Any] = {}  # vLLM's, for example {"gpu_memory_utilization": 0.8}
VALIDATE_EVERY = 5  # steps
VALIDATION_SCENARIOS = 20  # at most
SCENARIOS = "scenarios.jsonl"


class Scenario(training.Scenario):
    """What one episode starts from. Further keys of a row are kept, for rewards."""

    topic: str


async def episode(scenario: Scenario) -> Any:
    """Run the agent once; without a final_answer(...), return the answer."""
    return await research(topic=scenario.topic)


@observe()
async def rollout(model: art.Model, scenario: Scenario) -> training.Trajectory:
    """Record one episode on the model in training."""
    trajectory = await training.record(
        model, scenario, episode, temperature=TEMPERATURE
    )
    trajectory.reward = await training.finite(score(trajectory, scenario))
    return trajectory


judge = training.ruler(JUDGE_MODEL, RULER_WEIGHT)


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
    return training.with_episodes(groups)


async def train(run: training.Run[Scenario]) -> None:
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


def main() -> None:
    run = training.prepare(Scenario, SCENARIOS, backend=BACKEND, judge=JUDGE_MODEL)
    asyncio.run(train(run))


if __name__ == "__main__":
    main()
