import random

import art


class Pool:
    def __init__(self, rows: list[dict]) -> None:
        self.rows = rows

    def draw(self) -> dict:
        return random.choice(self.rows)


async def rollout(model: art.TrainableModel, item: dict) -> art.Trajectory:
    trajectory = art.Trajectory(
        messages_and_choices=[{"role": "user", "content": item["question"]}]
    )
    response = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages(), max_tokens=64
    )
    trajectory.messages_and_choices.append(response.choices[0])
    trajectory.reward = grade(response.choices[0], item)
    return trajectory


def group(model, pool: Pool):
    return art.TrajectoryGroup(rollout(model, pool.draw()) for _ in range(8))  # <- ART502


async def train(model: art.TrainableModel, backend, pool: Pool) -> None:
    for step in range(await model.get_step(), 40):
        groups = await art.gather_trajectory_groups(
            [group(model, pool) for _ in range(4)], max_exceptions=32
        )
        await backend.train(model, groups)
