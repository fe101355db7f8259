import asyncio

import art
from art.local import LocalBackend


class Trainer:
    def __init__(self, tasks):
        self.tasks = tasks
        self.model = art.TrainableModel(name="g-1", project="p", base_model="Qwen/Qwen2.5-3B-Instruct")

    async def rollout(self, task) -> art.Trajectory:
        prompt = [{"role": "user", "content": task.text}]
        completion = await self.model.openai_client().chat.completions.create(
            model=self.policy, messages=prompt
        )
        choice = completion.choices[0]
        return art.Trajectory(messages_and_choices=[*prompt, choice], reward=task.rate(choice.message.content))

    async def start(self, backend):
        await self.model.register(backend)
        self.policy = self.model.get_inference_name()  # <- ART511

    async def fit(self):
        async with LocalBackend() as backend:
            await self.start(backend)
            for _ in range(await self.model.get_step(), 20):
                groups = await art.gather_trajectory_groups(
                    (art.TrajectoryGroup(self.rollout(t) for _ in range(4)) for t in self.tasks),
                    max_exceptions=4 * len(self.tasks),
                )
                await backend.train(self.model, groups)


if __name__ == "__main__":
    asyncio.run(Trainer([]).fit())
