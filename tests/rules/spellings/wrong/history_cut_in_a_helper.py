import art
T = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
async def rollout(model: art.Model, q: str) -> art.Trajectory:
    t = art.Trajectory(messages_and_choices=[{"role": "user", "content": q}], tools=T)
    client, name = model.openai_client(), model.get_inference_name()
    for _ in range(9):
        compact(t.messages_and_choices)
        choice = (await client.chat.completions.create(model=name, messages=t.messages(), tools=T)).choices[0]
        t.messages_and_choices.append(choice)
        if not choice.message.tool_calls:
            break
        for call in choice.message.tool_calls:
            t.messages_and_choices.append({"role": "tool", "tool_call_id": call.id, "content": "ok"})
    t.reward = float("yes" in (choice.message.content or ""))
    return t
def compact(items):
    if len(items) > 8:
        items[2:-6] = [{"role": "user", "content": "(removed)"}]  # <- ART206
