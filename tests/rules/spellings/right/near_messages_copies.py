import art, copy, json, re, asyncio
async def group(client, question):
    base = art.Trajectory(messages_and_choices=[{"role": "user", "content": question}])
    prompt = base.messages()
    found = []
    for _ in range(8):
        response = await client.chat.completions.create(model="m", messages=prompt)
        trajectory = base.model_copy(deep=True)
        trajectory.messages_and_choices.append(response.choices[0])
        trajectory.reward = score(response)
        found.append(trajectory)
    return art.TrajectoryGroup(found)
