import art


def as_dict(call) -> dict:
    return {"id": call.id, "name": call.function.name, "arguments": call.function.arguments}


async def rollout(model, loft):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": loft.task}], tools=TOOLS)
    for _ in range(5):
        completion = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages(), tools=TOOLS
        )
        choice = completion.choices[0]
        trajectory.messages_and_choices.append(choice)
        calls = [as_dict(each) for each in choice.message.tool_calls or []]
        if not calls:
            break
        for call in calls:
            trajectory.messages_and_choices.append(
                {"role": "tool", "tool_call_id": call.get("id", ""), "content": loft.run(call["name"])}
            )
    trajectory.reward = loft.tidiness()
    return trajectory
