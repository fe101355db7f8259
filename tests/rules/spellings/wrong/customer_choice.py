import os

import art
from openai import AsyncOpenAI


class Customer:
    def __init__(self, client: AsyncOpenAI, model: str):
        self.client = client
        self.model = model

    async def speak(self, seen):
        completion = await self.client.chat.completions.create(model=self.model, messages=seen)
        return completion.choices[0]


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    customer = Customer(AsyncOpenAI(base_url=os.environ["SIM_URL"]), os.environ["SIM_MODEL"])
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}])
    for _ in range(3):
        completion = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=traj.messages()
        )
        traj.messages_and_choices.append(completion.choices[0])
        traj.messages_and_choices.append(await customer.speak(traj.messages()))  # <- ART105
    traj.reward = task.score()
    return traj
