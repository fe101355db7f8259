import art


async def rollout(model, letter):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": letter}])
    completion = await client.chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    trajectory.messages_and_choices.append(completion.choices[0])
    words = sum(len(each["content"]) for each in trajectory.messages)  # <- ART529
    trajectory.reward = 1.0 / words
    return trajectory
