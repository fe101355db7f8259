import art

LOOK = {"type": "function", "function": {"name": "look"}}


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}])
    request = {"model": model.get_inference_name(), "tools": [LOOK]}
    traj.tools = request["tools"]
    completion = await model.openai_client().chat.completions.create(messages=traj.messages(), **request)
    traj.messages_and_choices.append(completion.choices[0])
    traj.reward = task.rate(completion.choices[0])
    return traj
