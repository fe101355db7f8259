import art, copy, json, re, asyncio
async def group(client, question):
    trajectories = [art.Trajectory(messages_and_choices=[{"role": "user", "content": question}]) for _ in range(8)]
    prompt = trajectories[0].messages()
    for trajectory in trajectories:
        response = await client.chat.completions.create(model="m", messages=prompt)
        trajectory.messages_and_choices.append(response.choices[0])
        trajectory.reward = score(response)
    return art.TrajectoryGroup(trajectories)
