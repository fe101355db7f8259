import asyncio
from concurrent.futures import ThreadPoolExecutor

import art
from openai import OpenAI

pool = ThreadPoolExecutor(8)


class Desk:
    def __init__(self, url: str, key: str, name: str):
        self.client = OpenAI(base_url=url, api_key=key)
        self.name = name

    def run(self, task) -> str:
        completion = self.client.chat.completions.create(
            model=self.name, messages=[{"role": "user", "content": task.text}]
        )
        return completion.choices[0].message.content


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    desk = Desk(model.inference_base_url, model.inference_api_key, model.get_inference_name())

    async def episode() -> None:
        loop = asyncio.get_running_loop()
        answer = await loop.run_in_executor(pool, desk.run, task)  # <- ART104
        art.auto_trajectory(required=True).reward = task.rate(answer)

    return await art.capture_auto_trajectory(episode())
