import art


async def ask(model, client, messages):
    try:
        completion = await client.chat.completions.create(model=model.get_inference_name(), messages=messages)
    except Exception:  # <- ART305
        return None
    return completion.choices[0]


async def rollout(model, harbor):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": harbor.view()}])
    for _ in range(20):
        choice = await ask(model, client, trajectory.messages())
        if choice is None:
            break
        trajectory.messages_and_choices.append(choice)
        trajectory.messages_and_choices.append({"role": "user", "content": harbor.act(choice.message.content)})
    trajectory.reward = harbor.cargo()
    return trajectory
