import asyncio

import art
from openai import OpenAI


def solve(client: OpenAI, name: str, messages: list):
    return client.chat.completions.create(model=name, messages=messages)


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    client = OpenAI(base_url=model.inference_base_url, api_key=model.inference_api_key)
    prompt = [{"role": "user", "content": task.text}]
    loop = asyncio.get_running_loop()
    completion = await loop.run_in_executor(None, solve, client, model.get_inference_name(), prompt)
    choice = completion.choices[0]
    return art.Trajectory(messages_and_choices=[*prompt, choice], reward=task.rate(choice.message.content))
