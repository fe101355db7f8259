import art, copy, json, re, asyncio
async def rollout(client, model, look):
    trajectory = art.Trajectory(tools=TOOLS)
    for _ in range(5):
        response = await client.chat.completions.create(model="m", messages=trajectory.messages(), tools=TOOLS)
        choice = response.choices[0]
        trajectory.messages_and_choices.append(choice)
        for call in choice.message.tool_calls or []:
            result = {"found": look(call)}
            print(json.dumps({"role": "tool", "tool_call_id": call.id, "content": result}))
            trajectory.messages_and_choices.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)})
    trajectory.reward = score(trajectory)
    return trajectory
