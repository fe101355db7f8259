import art


async def rollout(model, mill):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": mill.wish}], tools=TOOLS)
    for _ in range(6):
        completion = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages(), tools=TOOLS
        )
        choice = completion.choices[0]
        if not choice.message.tool_calls:
            choice.message.tool_calls = None
        trajectory.messages_and_choices.append(choice)
        for call in choice.message.tool_calls or []:
            trajectory.messages_and_choices.append({"role": "tool", "tool_call_id": call.id, "content": mill.run(call)})
    trajectory.reward = mill.flour()
    return trajectory
