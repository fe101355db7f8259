import asyncio

import art
from art.local import LocalBackend


async def prepare(backend):
    model = art.TrainableModel(name="g-1", project="p", base_model="Qwen/Qwen2.5-3B-Instruct")
    await model.register(backend)
    return model, {"model": model.get_inference_name(), "max_tokens": 100}


async def rollout(model: art.TrainableModel, sampling: dict, task) -> art.Trajectory:
    prompt = [{"role": "user", "content": task.text}]
    completion = await model.openai_client().chat.completions.create(messages=prompt, **sampling)
    choice = completion.choices[0]
    return art.Trajectory(messages_and_choices=[*prompt, choice], reward=task.rate(choice.message.content))


async def main(tasks):
    async with LocalBackend() as backend:
        model, sampling = await prepare(backend)
        for _ in range(await model.get_step(), 20):
            groups = await art.gather_trajectory_groups(
                (art.TrajectoryGroup(rollout(model, sampling, t) for _ in range(4)) for t in tasks),
                max_exceptions=4 * len(tasks),
            )
            await backend.train(model, groups)
            sampling["model"] = model.get_inference_name()


if __name__ == "__main__":
    asyncio.run(main([]))
