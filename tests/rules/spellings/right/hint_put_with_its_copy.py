import art


async def rollout(model: art.TrainableModel, game) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": game.rules}])
    for turn in range(6):
        request = traj.messages()
        if turn == 5:
            request.append({"role": "system", "content": "Last move."})
        completion = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=request
        )
        traj.messages_and_choices = [*request, completion.choices[0]]
        traj.messages_and_choices.append({"role": "user", "content": game.play(completion)})
    traj.reward = game.score()
    return traj
