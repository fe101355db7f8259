import art


async def rollout(model: art.TrainableModel, game) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": game.rules}])
    client = model.openai_client()
    while not game.over:
        request = {"model": model.get_inference_name(), "max_tokens": 200}
        request["messages"] = [*traj.messages(), {"role": "system", "content": game.tip()}]  # <- ART203
        completion = await client.chat.completions.create(**request)
        traj.messages_and_choices.append(completion.choices[0])
        traj.messages_and_choices.append({"role": "user", "content": game.play(completion)})
    traj.reward = game.score()
    return traj
