import art

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


async def settle(group, item):
    return group


async def train(model: art.TrainableModel, backend, items: list[dict]) -> None:
    for step in range(await model.get_step(), 40):
        for item in items:
            groups = await art.gather_trajectory_groups(
                [art.TrajectoryGroup(rollout(model, item) for _ in range(8))],
                after_each=lambda group: settle(group, item),
                max_exceptions=32,
            )
            await backend.train(model, groups)
