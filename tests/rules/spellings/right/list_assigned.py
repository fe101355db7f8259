import art


async def rollout(model: art.TrainableModel, question: str) -> art.Trajectory:
    messages: list = [{"role": "user", "content": question}]
    traj = art.Trajectory()
    traj.messages_and_choices = messages
    completion = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=messages
    )
    messages.append(completion.choices[0])
    traj.reward = grade(completion.choices[0].message.content)
    return traj
