import asyncio
from concurrent.futures import ThreadPoolExecutor

import art
from openai import OpenAI


class Team:
    def __init__(self, client: OpenAI, name: str):
        self.client = client
        self.name = name

    def ask(self, text: str) -> str:
        completion = self.client.chat.completions.create(
            model=self.name, messages=[{"role": "user", "content": text}]
        )
        return completion.choices[0].message.content

    def work(self, task) -> list:
        with ThreadPoolExecutor() as workers:
            return list(workers.map(self.ask, task.parts))  # <- ART104


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    team = Team(OpenAI(base_url=model.inference_base_url), model.get_inference_name())

    async def episode() -> None:
        answers = await asyncio.to_thread(team.work, task)
        art.auto_trajectory(required=True).reward = task.rate(answers)

    return await art.capture_auto_trajectory(episode())
