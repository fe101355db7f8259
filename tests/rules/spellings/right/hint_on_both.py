import art


async def rollout(model: art.TrainableModel, game) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": game.rules}])
    for turn in range(6):
        if turn == 5:
            traj.messages_and_choices.append({"role": "system", "content": "Last move."})
        request = traj.messages()
        completion = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=request
        )
        request.append({"role": "user", "content": "Shown to the log only."})
        print(request)
        traj.messages_and_choices.append(completion.choices[0])
        traj.messages_and_choices.append({"role": "user", "content": game.play(completion)})
    traj.reward = game.score()
    return traj
