import contextlib

import art
from art.local import LocalBackend

async def rollout(model: art.TrainableModel, item: dict) -> art.Trajectory:
    trajectory = art.Trajectory(
        messages_and_choices=[{"role": "user", "content": item["question"]}]
    )
    response = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages(), max_tokens=64
    )
    trajectory.messages_and_choices.append(response.choices[0])
    trajectory.reward = grade(response.choices[0], item)
    return trajectory


async def setup(stack):
    model = art.TrainableModel(name="a", project="b", base_model="c", run_name="a")
    backend = await stack.enter_async_context(LocalBackend())
    await model.register(backend)
    return model, backend


async def main(items) -> None:
    async with contextlib.AsyncExitStack() as stack:
        model, backend = await setup(stack)
        groups = await art.gather_trajectory_groups(
            [art.TrajectoryGroup(rollout(model, item) for _ in range(8)) for item in items], max_exceptions=8 * len(items)
        )
        await backend.train(model, groups)
