import art


async def rollout(model, wharf):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": wharf.view()}])
    while not wharf.done:
        completion = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages()
        )
        trajectory.messages_and_choices.append(completion.choices[0])
        try:
            wharf.step(completion.choices[0].message.content)
        except Exception:  # what the policy said cannot be done
            break
    trajectory.reward = wharf.crates()
    return trajectory
