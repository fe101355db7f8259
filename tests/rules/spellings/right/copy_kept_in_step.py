import art


async def rollout(model: art.TrainableModel, game) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": game.rules}])
    messages = traj.messages()
    for _ in range(6):
        completion = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=messages
        )
        traj.messages_and_choices.append(completion.choices[0])
        messages.append({"role": "assistant", "content": completion.choices[0].message.content})
        answer = {"role": "user", "content": game.play(completion)}
        traj.messages_and_choices.append(answer)
        messages.append(answer)
    traj.reward = game.score()
    return traj
