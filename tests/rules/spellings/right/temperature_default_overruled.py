import art


async def rollout(model, scenario, temperature: float = 1.0):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": scenario}])
    answer = await client.chat.completions.create(
        model=model.get_inference_name(),
        messages=trajectory.messages(),
        temperature=temperature,
    )
    trajectory.messages_and_choices.append(answer.choices[0])
    trajectory.reward = len(answer.choices[0].message.content)
    return trajectory


async def one(model, scenario):
    return await rollout(model, scenario, temperature=1.0)
