import art

HINT = {"role": "system", "content": "Answer in JSON."}


async def rollout(model: art.TrainableModel, game) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": game.rules}])
    while not game.over:
        shown = traj.messages()
        shown += [HINT]
        completion = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=shown  # <- ART203
        )
        traj.messages_and_choices.append(completion.choices[0])
        traj.messages_and_choices.append({"role": "user", "content": game.play(completion)})
    traj.reward = game.score()
    return traj
