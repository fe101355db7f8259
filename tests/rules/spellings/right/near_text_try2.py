import art, copy, json, re, asyncio
async def rollout(client, model, messages, index):
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(model="m", messages=messages)
    trajectory.messages_and_choices.append(response.choices[0])
    said = response.choices[0].message.content or ""
    found = re.search("([0-9]+)", said)
    score = found.group(1) if found else "0"
    if isinstance(score, str):
        score = float(score)
    trajectory.reward = score
    trajectory.metrics["s"] = score
    return trajectory
