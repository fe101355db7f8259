import art


async def episode(model: art.TrainableModel, env) -> art.Trajectory:
    items = [env.system()]
    client = model.openai_client()
    reward = 0.0
    for turn in range(8):
        response = await client.chat.completions.create(
            model=model.get_inference_name(), messages=[m for m in items if isinstance(m, dict)]
        )
        [choice] = response.choices
        action = env.parse(choice.message.content)
        if action is not None:
            reward = env.play(action)
        else:
            return art.Trajectory(messages_and_choices=items, reward=-1.0)  # <- ART218
        items.append(choice)
    return art.Trajectory(messages_and_choices=items, reward=reward)
