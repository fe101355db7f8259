import art

LOOK = {"type": "function", "function": {"name": "look"}}
FINISH = {"type": "function", "function": {"name": "finish"}}


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    tools = [LOOK]
    if task.may_finish:
        tools = tools + [FINISH]
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}], tools=tools)
    for _ in range(8):
        completion = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=traj.messages(), tools=tools
        )
        traj.messages_and_choices.append(completion.choices[0])
        traj.messages_and_choices.append({"role": "user", "content": task.step(completion)})
    traj.reward = task.score()
    return traj
