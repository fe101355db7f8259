import art, copy, json, re, asyncio
async def rollout(client, model, messages, index):
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(model="m", messages=messages)
    trajectory.messages_and_choices.append(response.choices[0])
    said = response.choices[0].message.content or ""
    trajectory.metrics["m"] = eval_score(said)
    trajectory.reward = eval_score(said)
    return trajectory
