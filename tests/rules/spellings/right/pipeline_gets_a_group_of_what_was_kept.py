import asyncio

import art
from art.local import LocalBackend
from art.pipeline_trainer import PipelineTrainer


async def solve(model: art.TrainableModel, task: dict, config: dict) -> art.Trajectory:
    messages = [{"role": "user", "content": task["question"]}]
    response = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=messages
    )
    choice = response.choices[0]
    return art.Trajectory(
        messages_and_choices=[*messages, choice],
        reward=float(task["answer"] in (choice.message.content or "")),
    )


async def rollouts(model: art.TrainableModel, task: dict, config: dict):
    done = await asyncio.gather(
        *(solve(model, task, config) for _ in range(config["samples"])), return_exceptions=True
    )
    kept = [each for each in done if isinstance(each, art.Trajectory)]
    return art.TrajectoryGroup(kept)


async def main(model: art.TrainableModel, tasks: list[dict]) -> None:
    backend = LocalBackend()
    await model.register(backend)
    try:
        trainer = PipelineTrainer(model, backend, rollouts, tasks, {"samples": 8})
        await trainer.train()
    finally:
        await backend.close()
