import art


def with_hint(traj: art.Trajectory, left: int) -> list:
    messages = traj.messages()
    if left < 2:
        messages.append({"role": "user", "content": f"{left} moves left."})
    return messages


async def rollout(model: art.TrainableModel, game) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": game.rules}])
    for left in range(6, 0, -1):
        completion = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=with_hint(traj, left)  # <- ART203
        )
        traj.messages_and_choices.append(completion.choices[0])
        traj.messages_and_choices.append({"role": "user", "content": game.play(completion)})
    traj.reward = game.score()
    return traj
