import random

import art

ROWS = load("rows.json")


async def rollout(model: art.TrainableModel) -> art.Trajectory:
    row = random.choice(ROWS)
    trajectory = art.Trajectory(
        messages_and_choices=[{"role": "user", "content": row["question"]}]
    )
    response = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages(), max_tokens=64
    )
    trajectory.messages_and_choices.append(response.choices[0])
    trajectory.reward = grade(response.choices[0], row["answer"])
    return trajectory


async def train(model: art.TrainableModel, backend) -> None:
    for step in range(await model.get_step(), 40):
        groups = await art.gather_trajectory_groups(
            [art.TrajectoryGroup(rollout(model) for _ in range(8))],  # <- ART502
            max_exceptions=8,
        )
        await backend.train(model, groups)
