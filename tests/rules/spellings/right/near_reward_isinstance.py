import art, copy, json, re, asyncio
async def rollout(client, model, messages, judge):
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(model="m", messages=messages)
    trajectory.messages_and_choices.append(response.choices[0])
    value = response.choices[0].message.content
    if not isinstance(value, float):
        value = float(value)
    trajectory.reward = value
    return trajectory
