import asyncio

import art
from art.local import LocalBackend


class Gateway:
    def __init__(self, model: art.TrainableModel):
        self.client = model.openai_client()
        self.name = model.get_inference_name()

    def refresh(self, model: art.TrainableModel) -> None:
        self.name = model.get_inference_name()

    async def ask(self, messages):
        return await self.client.chat.completions.create(model=self.name, messages=messages)


async def rollout(gateway: Gateway, task) -> art.Trajectory:
    prompt = [{"role": "user", "content": task.text}]
    completion = await gateway.ask(prompt)
    choice = completion.choices[0]
    return art.Trajectory(messages_and_choices=[*prompt, choice], reward=task.rate(choice.message.content))


async def main(tasks):
    model = art.TrainableModel(name="g-1", project="p", base_model="Qwen/Qwen2.5-3B-Instruct")
    async with LocalBackend() as backend:
        await model.register(backend)
        gateway = Gateway(model)
        for _ in range(await model.get_step(), 20):
            groups = await art.gather_trajectory_groups(
                (art.TrajectoryGroup(rollout(gateway, t) for _ in range(4)) for t in tasks),
                max_exceptions=4 * len(tasks),
            )
            await backend.train(model, groups)
            gateway.refresh(model)


if __name__ == "__main__":
    asyncio.run(main([]))
