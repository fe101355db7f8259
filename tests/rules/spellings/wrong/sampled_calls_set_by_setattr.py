import art


async def rollout(model, pier):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": pier.wish}], tools=TOOLS)
    for _ in range(6):
        completion = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages(), tools=TOOLS
        )
        choice = completion.choices[0]
        calls = choice.message.tool_calls or []
        setattr(choice.message, "tool_calls", None)  # <- ART206
        trajectory.messages_and_choices.append(choice)
        if not calls:
            break
        trajectory.messages_and_choices += [
            {"role": "tool", "tool_call_id": call.id, "content": pier.run(call)} for call in calls
        ]
    trajectory.reward = pier.boats()
    return trajectory
