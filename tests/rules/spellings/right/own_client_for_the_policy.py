import os

import art
from openai import AsyncOpenAI

VLLM = AsyncOpenAI(base_url=os.environ["VLLM_URL"])


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}])
    for turn in range(3):
        client = model.openai_client() if turn else VLLM
        completion = await client.chat.completions.create(
            model=model.get_inference_name(), messages=traj.messages()
        )
        traj.messages_and_choices.append(completion.choices[0])
        traj.messages_and_choices.append({"role": "user", "content": task.step(completion)})
    traj.reward = task.score()
    return traj
