import art


async def rollout(model: art.TrainableModel, question: str) -> art.Trajectory:
    messages: list = [{"role": "user", "content": question}]
    traj = art.Trajectory(messages_and_choices=messages)
    for _ in range(3):
        completion = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=messages
        )
        choice = completion.choices[0]
        traj.messages_and_choices.append(choice)
        messages.append(choice.message.model_dump())
        more = {"role": "user", "content": "Go on."}
        traj.messages_and_choices.append(more)
        messages.append(more)
    traj.reward = grade(choice.message.content)
    return traj
