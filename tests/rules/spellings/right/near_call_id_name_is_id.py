import art, copy, json, re, asyncio
async def rollout(client, model, calls):
    trajectory = art.Trajectory(messages_and_choices=[], tools=TOOLS)
    response = await client.chat.completions.create(model="m", messages=trajectory.messages(), tools=TOOLS)
    trajectory.messages_and_choices.append(response.choices[0])
    jobs = [asyncio.create_task(run(c), name=c.id) for c in response.choices[0].message.tool_calls or []]
    for job in jobs:
        trajectory.messages_and_choices.append({"role": "tool", "tool_call_id": job.get_name(), "content": await job})
    threads = [Job(name=c.id) for c in response.choices[0].message.tool_calls or []]
    for thread in threads:
        trajectory.messages_and_choices.append({"role": "tool", "tool_call_id": thread.name, "content": thread.result})
    trajectory.reward = score(response)
    return trajectory
