import art


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    turns: list = [{"role": "user", "content": task.text}]
    traj = art.Trajectory(messages_and_choices=turns)
    first = len(turns)
    for _ in range(3):
        completion = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=as_dicts(turns)
        )
        turns.append(completion.choices[0])
        turns.append({"role": "user", "content": task.step(completion)})
    traj.messages_and_choices.extend(turns[first:])
    traj.reward = task.score()
    return traj
