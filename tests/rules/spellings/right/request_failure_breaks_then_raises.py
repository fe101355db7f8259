import art


async def rollout(model, dune):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": dune.view()}])
    failure = None
    while not dune.done:
        try:
            completion = await client.chat.completions.create(
                model=model.get_inference_name(), messages=trajectory.messages()
            )
        except Exception as error:
            failure = error
            break
        trajectory.messages_and_choices.append(completion.choices[0])
        dune.step(completion.choices[0].message.content)
    if failure is not None:
        raise failure
    trajectory.reward = dune.height()
    return trajectory
