import art

LOOK = {"type": "function", "function": {"name": "look"}}


def started(task) -> art.Trajectory:
    return art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}], tools=[LOOK])


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    traj = started(task)
    turns = list(traj.messages_and_choices)
    completion = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(),
        messages=art.Trajectory(messages_and_choices=turns).messages(),
        tools=[LOOK],
    )
    traj.messages_and_choices.append(completion.choices[0])
    traj.reward = task.rate(completion.choices[0])
    return traj
