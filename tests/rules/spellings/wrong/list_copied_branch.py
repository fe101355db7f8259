import art


async def rollout(model: art.TrainableModel, item) -> art.Trajectory:
    if item.system:
        history = [{"role": "system", "content": item.system}]
    else:
        history = []
    history.append({"role": "user", "content": item.text})
    traj = art.Trajectory(messages_and_choices=history, reward=0.0)
    completion = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=history
    )
    history += [completion.choices[0]]  # <- ART211
    traj.reward = item.rate(completion.choices[0].message.content)
    return traj
