import art


async def rollout(model, maze):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": maze.view()}])
    while not maze.done:
        try:
            completion = await client.chat.completions.create(
                model=model.get_inference_name(), messages=trajectory.messages()
            )
        except Exception as error:  # <- ART305
            print(error)
            break
        trajectory.messages_and_choices.append(completion.choices[0])
        maze.walk(completion.choices[0].message.content)
        trajectory.messages_and_choices.append({"role": "user", "content": maze.view()})
    trajectory.reward = maze.progress()
    return trajectory
