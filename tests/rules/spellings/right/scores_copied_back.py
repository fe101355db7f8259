import art
from art.rewards import ruler_score_group

async def judge(groups):
    for group in groups:
        scored = await ruler_score_group(group, "openai/o3")
        for old, new in zip(group.trajectories, scored.trajectories):
            old.reward = 0.5 * old.reward + 0.5 * new.reward


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


async def train(model: art.TrainableModel, backend, items: list[dict]) -> None:
    for step in range(await model.get_step(), 40):
        groups = await art.gather_trajectory_groups(
            [art.TrajectoryGroup(rollout(model, item) for _ in range(8)) for item in items],
            max_exceptions=8 * len(items),
        )
        try:
            await judge(groups)
        except Exception as error:
            print(error)
            continue
        result = await backend.train(model, groups)
        await model.log(groups, metrics=result.metrics, step=result.step, split="train")
