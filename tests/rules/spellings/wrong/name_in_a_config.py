import asyncio
from dataclasses import dataclass

import art
from art.local import LocalBackend


@dataclass
class Policy:
    client: object
    name: str


async def rollout(policy: Policy, task) -> art.Trajectory:
    prompt = [{"role": "user", "content": task.text}]
    completion = await policy.client.chat.completions.create(model=policy.name, messages=prompt)
    choice = completion.choices[0]
    return art.Trajectory(messages_and_choices=[*prompt, choice], reward=task.rate(choice.message.content))


async def main(tasks):
    model = art.TrainableModel(name="g-1", project="p", base_model="Qwen/Qwen2.5-3B-Instruct")
    async with LocalBackend() as backend:
        await model.register(backend)
        policy = Policy(client=model.openai_client(), name=model.get_inference_name())  # <- ART511
        for _ in range(await model.get_step(), 20):
            groups = await art.gather_trajectory_groups(
                (art.TrajectoryGroup(rollout(policy, t) for _ in range(4)) for t in tasks),
                max_exceptions=4 * len(tasks),
            )
            await backend.train(model, groups)


if __name__ == "__main__":
    asyncio.run(main([]))
