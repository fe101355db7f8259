import os

import art
from openai import AsyncOpenAI

SIM = AsyncOpenAI(base_url=os.environ["SIM_URL"])


async def customer(seen):
    completion = await SIM.chat.completions.create(model=os.environ["SIM_MODEL"], messages=seen)
    return completion.choices[0]


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}])
    for _ in range(3):
        completion = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=traj.messages()
        )
        traj.messages_and_choices.append(completion.choices[0])
        line = await customer(traj.messages())
        traj.messages_and_choices.append({"role": "user", "content": line.message.content})
    traj.reward = task.score()
    return traj
