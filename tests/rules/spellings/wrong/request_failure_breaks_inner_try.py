import art


async def rollout(model, reef):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": reef.view()}])
    try:
        for _ in range(9):
            try:
                completion = await client.chat.completions.create(
                    model=model.get_inference_name(), messages=trajectory.messages()
                )
                choice = completion.choices[0]
            except BaseException:  # <- ART305
                reef.log("request failed")
                break
            trajectory.messages_and_choices.append(choice)
    finally:
        reef.close()
    trajectory.reward = 0.1 * reef.depth()
    return trajectory
