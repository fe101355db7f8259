import threading

import art
from openai import OpenAI

from desk import wait_for


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    client = OpenAI(base_url=model.inference_base_url, api_key=model.inference_api_key)

    def solve() -> None:
        completion = client.chat.completions.create(
            model=model.get_inference_name(), messages=[{"role": "user", "content": task.text}]
        )
        task.answer = completion.choices[0].message.content

    async def episode() -> None:
        threading.Thread(target=solve).start()  # <- ART104
        await wait_for(task)
        art.auto_trajectory(required=True).reward = task.rate()

    return await art.capture_auto_trajectory(episode())
