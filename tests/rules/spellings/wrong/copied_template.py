import art

TEMPLATE = art.Trajectory(messages_and_choices=[{"role": "system", "content": "Be brief."}])


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    traj = TEMPLATE.model_copy()
    traj.messages_and_choices.append({"role": "user", "content": task.text})  # <- ART205
    completion = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=traj.messages()
    )
    traj.messages_and_choices.append(completion.choices[0])
    traj.reward = task.rate(completion.choices[0].message.content)
    return traj
