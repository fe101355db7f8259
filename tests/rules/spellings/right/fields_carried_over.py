import art
from art.rewards import ruler_score_group


class Answer(art.Trajectory):
    sources: list[str] = []
    turns: int = 0


async def rank(group):
    fresh = await ruler_score_group(group, "openai/o3")
    for old, new in zip(group.trajectories, fresh.trajectories):
        new.sources = old.sources
    for new in fresh.trajectories:
        new.reward += 0.1 * len(new.sources)
    return fresh


async def rollout(model: art.TrainableModel, item: dict) -> Answer:
    trajectory = Answer(
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
            after_each=rank,
            max_exceptions=8 * len(items),
        )
        await backend.train(model, groups)
