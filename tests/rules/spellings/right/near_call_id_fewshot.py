import art, copy, json, re, asyncio
def examples(pairs):
    messages = []
    for n, (question, answer) in enumerate(pairs):
        messages.append({"role": "assistant", "content": None, "tool_calls": [{"id": f"call_{n}", "type": "function", "function": {"name": "look", "arguments": question}}]})
        messages.append({"role": "tool", "tool_call_id": f"call_{n}", "content": answer})
    return messages
async def rollout(client, model, pairs):
    trajectory = art.Trajectory(messages_and_choices=examples(pairs), tools=TOOLS)
    response = await client.chat.completions.create(model="m", messages=trajectory.messages(), tools=TOOLS)
    trajectory.messages_and_choices.append(response.choices[0])
    trajectory.reward = score(response)
    return trajectory
