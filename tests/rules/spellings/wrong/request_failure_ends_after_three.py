import art


async def rollout(model, forge):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": forge.view()}])
    failures = 0
    while not forge.done:
        try:
            completion = await client.chat.completions.create(
                model=model.get_inference_name(), messages=trajectory.messages()
            )
        except Exception:  # <- ART305
            failures += 1
            if failures < 3:
                continue
            break
        trajectory.messages_and_choices.append(completion.choices[0])
        forge.strike(completion.choices[0].message.content)
    trajectory.reward = forge.sharpness()
    return trajectory
