import art


def started(task, turns):
    return art.Trajectory(messages_and_choices=turns, metadata={"task": task.id})


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    turns: list = [{"role": "user", "content": task.text}]
    traj = started(task, turns)
    while not task.done:
        completion = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=as_dicts(turns)
        )
        choice = completion.choices[0]
        turns.append(choice)  # <- ART211
        turns.append({"role": "user", "content": task.step(choice.message.content)})
    traj.reward = task.score()
    return traj
