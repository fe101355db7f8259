import art, copy, json, re, asyncio
async def rollout(client, model, look):
    trajectory = art.Trajectory(tools=TOOLS)
    for _ in range(5):
        response = await client.chat.completions.create(model="m", messages=trajectory.messages(), tools=TOOLS)
        choice = response.choices[0]
        trajectory.messages_and_choices.append(choice)
        for call in choice.message.tool_calls or []:
            result = {"found": look(call)}
            message = {"role": "tool", "tool_call_id": call.id, "content": result}
            message["content"] = json.dumps(message["content"])
            trajectory.messages_and_choices.append(message)
    trajectory.reward = score(trajectory)
    return trajectory
