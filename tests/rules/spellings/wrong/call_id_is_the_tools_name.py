import art

NO_CALL = "invalid"


async def rollout(model, workshop):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": workshop.task}], tools=TOOLS)
    for _ in range(5):
        completion = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages(), tools=TOOLS
        )
        choice = completion.choices[0]
        trajectory.messages_and_choices.append(choice)
        calls = choice.message.tool_calls or []
        for call in calls:
            trajectory.messages_and_choices.append(
                {"role": "tool", "tool_call_id": call.id, "content": workshop.run(call)}
            )
        if not calls:
            complaint = {"role": "tool", "content": "No call."}
            complaint.update({"tool_call_id": NO_CALL})  # <- ART213
            trajectory.messages_and_choices.append(complaint)
    trajectory.reward = workshop.done()
    return trajectory
