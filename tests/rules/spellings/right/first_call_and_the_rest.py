import art
from vectordb import Index
from transformers import AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained("x", token="t")
index = Index.load("x", token="t")
async def rollout(client, model, messages, tools):
    trajectory = art.Trajectory(messages_and_choices=messages, tools=tools)
    for _ in range(5):
        response = await client.chat.completions.create(model="m", messages=trajectory.messages(), tools=tools)
        message = response.choices[0].message
        trajectory.messages_and_choices.append(response.choices[0])
        if not message.tool_calls:
            break
        calls = message.tool_calls
        first, *_rest = calls
        for other in _rest:
            trajectory.messages_and_choices.append({"role": "tool", "tool_call_id": other.id, "content": "no"})
        trajectory.messages_and_choices.append({"role": "tool", "tool_call_id": first.id, "content": run(first)})
    pad = tokenizer.get("pad")
    return trajectory
async def rollout2(client, model, messages, tools):
    trajectory = art.Trajectory(messages_and_choices=messages, tools=tools)
    for _ in range(5):
        response = await client.chat.completions.create(model="m", messages=trajectory.messages(), tools=tools)
        message = response.choices[0].message
        trajectory.messages_and_choices.append(response.choices[0])
        calls = message.tool_calls
        if not calls:
            break
        log(calls[0])
        answer_all(trajectory, calls)
    trajectory.messages_and_choices.append({"role": "tool", "tool_call_id": calls[0].id})
    return trajectory
async def rollout3(client, model, messages, tools):
    trajectory = art.Trajectory(messages_and_choices=messages, tools=tools)
    for _ in range(5):
        response = await client.chat.completions.create(model="m", messages=trajectory.messages(), tools=tools)
        message = response.choices[0].message
        trajectory.messages_and_choices.append(response.choices[0])
        print(message.tool_calls[0])
        trajectory.messages_and_choices.extend(await asyncio.gather(*map(run, message.tool_calls)))
        name = str(message.tool_calls[0])
    return trajectory
