import art


async def rollout(model, inn):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": inn.wish}], tools=TOOLS)
    for _ in range(6):
        completion = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages(), tools=TOOLS
        )
        message = completion.choices[0].message
        if message.tool_calls:
            message.tool_calls = message.tool_calls[:1]  # <- ART206
        trajectory.messages_and_choices.append(completion.choices[0])
        for call in message.tool_calls or []:
            trajectory.messages_and_choices.append({"role": "tool", "tool_call_id": call.id, "content": inn.run(call)})
    trajectory.reward = inn.stars()
    return trajectory
