import art, copy, json, re, asyncio
def call_of(identifier, question):
    return {"role": "assistant", "content": None, "tool_calls": [{"id": identifier, "type": "function", "function": {"name": "look", "arguments": question}}]}
async def rollout(client, model, pairs):
    trajectory = art.Trajectory(messages_and_choices=[], tools=TOOLS)
    for n, (question, answer) in enumerate(pairs):
        trajectory.messages_and_choices.append(call_of(f"call_{n}", question))
        trajectory.messages_and_choices.append({"role": "tool", "tool_call_id": f"call_{n}", "content": answer})
    response = await client.chat.completions.create(model="m", messages=trajectory.messages(), tools=TOOLS)
    trajectory.messages_and_choices.append(response.choices[0])
    trajectory.reward = score(response)
    return trajectory
