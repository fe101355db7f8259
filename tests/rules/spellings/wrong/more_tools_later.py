import art

LOOK = {"type": "function", "function": {"name": "look"}}
FINISH = {"type": "function", "function": {"name": "finish"}}


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}], tools=[LOOK])
    for step in range(8):
        tools = [LOOK]
        if step > 2:
            tools = tools + [FINISH]
        completion = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=traj.messages(), tools=tools  # <- ART210
        )
        traj.messages_and_choices.append(completion.choices[0])
        traj.messages_and_choices.append({"role": "user", "content": task.step(completion)})
    traj.reward = task.score()
    return traj
