import asyncio

import art
from puzzles import board, reward, rows

model = art.TrainableModel(name="m", project="p", base_model="b")


async def rollout(row) -> art.Trajectory:
    trajectory = art.Trajectory(messages_and_choices=board(row), reward=0.0)
    reply = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    trajectory.messages_and_choices.append(reply.choices[0])
    trajectory.reward = reward(reply)
    return trajectory


async def accuracy():
    async def one(row):
        reply = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=board(row), temperature=0.0
        )
        return reward(reply) > 0.5

    return sum(await asyncio.gather(*(one(row) for row in rows))) / len(rows)


async def train(backend):
    await model.register(backend)
    for _ in range(await model.get_step(), 10):
        groups = await art.gather_trajectory_groups(
            (art.TrajectoryGroup(rollout(row) for _ in range(8)) for row in rows),
            max_exceptions=8,
        )
        result = await backend.train(model, groups)
        await model.log(groups, split="train", step=result.step)
        print(await accuracy())
    await backend.close()
