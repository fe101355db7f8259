import asyncio
import contextvars

import art
from openai import OpenAI


def solve(client: OpenAI, name: str, task) -> str:
    completion = client.chat.completions.create(
        model=name, messages=[{"role": "user", "content": task.text}]
    )
    return completion.choices[0].message.content


async def episode(client: OpenAI, name: str, task) -> None:
    context = contextvars.copy_context()
    loop = asyncio.get_running_loop()
    answer = await loop.run_in_executor(None, context.run, solve, client, name, task)
    art.auto_trajectory(required=True).reward = task.rate(answer)


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    client = OpenAI(base_url=model.inference_base_url, api_key=model.inference_api_key)
    return await art.capture_auto_trajectory(episode(client, model.get_inference_name(), task))
