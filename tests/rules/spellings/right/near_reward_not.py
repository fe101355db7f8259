import art, copy, json, re, asyncio
async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(model="m", messages=messages)
    trajectory.messages_and_choices.append(response.choices[0])
    error = response.choices[0].message.refusal
    said = response.choices[0].message.content
    trajectory.reward = not said
    trajectory.metrics["silent"] = not said
    return trajectory
