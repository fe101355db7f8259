import art


def nudge(number: int) -> dict:
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": "Use a tool."}  # <- ART213


async def rollout(model, cellar):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": cellar.order}], tools=TOOLS)
    for turn in range(5):
        completion = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages(), tools=TOOLS
        )
        choice = completion.choices[0]
        trajectory.messages_and_choices.append(choice)
        if not choice.message.tool_calls:
            trajectory.messages_and_choices.append(nudge(len(trajectory.messages_and_choices)))
            continue
        for call in choice.message.tool_calls:
            trajectory.messages_and_choices.append({"role": "tool", "tool_call_id": call.id, "content": cellar.run(call)})
    trajectory.reward = cellar.taste()
    return trajectory
