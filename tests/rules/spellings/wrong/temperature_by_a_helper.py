import art


def sampling(temperature=0.7):
    return {"temperature": temperature}


async def rollout(model, scenario):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": scenario}])
    answer = await client.chat.completions.create(
        model=model.get_inference_name(),
        messages=trajectory.messages(),
        temperature=sampling()["temperature"],  # <- ART402
    )
    trajectory.messages_and_choices.append(answer.choices[0])
    trajectory.reward = len(answer.choices[0].message.content)
    return trajectory
