import art


async def rollout(model: art.TrainableModel, question: str) -> art.Trajectory:
    messages: list = [{"role": "user", "content": question}]
    traj = art.Trajectory(messages_and_choices=messages)
    for _ in range(4):
        completion = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=messages
        )
        messages.append(completion.choices[0])  # <- ART211
        messages.append({"role": "user", "content": "Go on."})
    traj.reward = grade(completion.choices[0].message.content)
    return traj
