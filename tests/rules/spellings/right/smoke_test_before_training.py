import asyncio

import art
from art.local import LocalBackend


async def rollout(model: art.TrainableModel, task, name: str | None = None) -> art.Trajectory:
    prompt = [{"role": "user", "content": task.text}]
    completion = await model.openai_client().chat.completions.create(
        model=name or model.get_inference_name(), messages=prompt
    )
    choice = completion.choices[0]
    return art.Trajectory(messages_and_choices=[*prompt, choice], reward=task.rate(choice.message.content))


async def smoke_test(model: art.TrainableModel) -> None:
    await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=[{"role": "user", "content": "Hi"}]
    )


async def main(tasks):
    model = art.TrainableModel(name="g-1", project="p", base_model="Qwen/Qwen2.5-3B-Instruct")
    async with LocalBackend() as backend:
        await model.register(backend)
        await smoke_test(model)
        for _ in range(await model.get_step(), 20):
            groups = await art.gather_trajectory_groups(
                (art.TrajectoryGroup(rollout(model, t) for _ in range(4)) for t in tasks),
                max_exceptions=4 * len(tasks),
            )
            await backend.train(model, groups)


if __name__ == "__main__":
    asyncio.run(main([]))
