import random

import art


async def label(model: art.TrainableModel, comment: dict, rules: str) -> art.Trajectory:
    messages = [
        {"role": "system", "content": rules},
        {"role": "user", "content": comment["text"]},
    ]
    response = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=messages
    )
    choice = response.choices[0]
    return art.Trajectory(
        messages_and_choices=[*messages, choice],
        reward=float((choice.message.content or "").strip() == comment["label"]),
    )


def drawn(by_label: dict[str, list[dict]], step: int) -> list[dict]:
    chance = random.Random(step)
    return [each for some in by_label.values() for each in chance.choices(some, k=8)]


async def main(model: art.TrainableModel, backend: art.Backend, by_label: dict, rules: str) -> None:
    for step in range(await model.get_step(), 50):
        groups = await art.gather_trajectory_groups(
            (
                art.TrajectoryGroup(label(model, c, rules) for _ in range(8))
                for c in drawn(by_label, step)
            )
           , max_exceptions=8)
        await backend.train(model, groups, learning_rate=5e-6)
