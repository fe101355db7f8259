import art

SPECS = [{"type": "function", "function": {"name": "look"}}]


async def ask(model: art.TrainableModel, messages, tools=None):
    completion = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=messages, tools=tools  # <- ART204
    )
    return completion.choices[0]


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}])
    choice = await ask(model, traj.messages(), SPECS)
    traj.messages_and_choices.append(choice)
    traj.reward = task.rate(choice)
    return traj
