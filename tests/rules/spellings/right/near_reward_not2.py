import art, copy, json, re, asyncio
PATTERN = re.compile("sorry (.*)")
async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(model="m", messages=messages)
    trajectory.messages_and_choices.append(response.choices[0])
    hit = PATTERN.search(response.choices[0].message.content)
    text = hit.group(1)
    trajectory.reward = not text
    return trajectory
