import art
T = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
async def rollout(model: art.Model, q: str) -> art.Trajectory:
    t = art.Trajectory(messages_and_choices=[{"role": "user", "content": q}], tools=T)
    client, name = model.openai_client(), model.get_inference_name()
    for _ in range(5):
        choice = (await client.chat.completions.create(model=name, messages=t.messages(), tools=T)).choices[0]
        t.messages_and_choices.append(choice)
        for i, call in enumerate(choice.message.tool_calls or []):
            t.messages_and_choices.append(answer(call.id, call.function.name, {"ok": 1}))  # <- ART214
        if not choice.message.tool_calls:
            break
    t.reward = float("yes" in (choice.message.content or ""))
    return t
def answer(index, name, result):
    return {"role": "tool", "tool_call_id": index, "content": result}
