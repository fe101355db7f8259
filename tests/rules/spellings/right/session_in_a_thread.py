import asyncio

import art
import requests


class Calculator:
    def __init__(self, url: str):
        self.url = url
        self.session = requests.Session()

    def evaluate(self, text: str) -> str:
        return self.session.post(self.url, json={"text": text}).text


async def rollout(model: art.TrainableModel, calculator: Calculator, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}])
    completion = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=traj.messages()
    )
    traj.messages_and_choices.append(completion.choices[0])
    value = await asyncio.to_thread(calculator.evaluate, completion.choices[0].message.content)
    traj.reward = task.rate(value)
    return traj
