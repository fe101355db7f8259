import art, copy, json, re, asyncio
async def rollout(client, model, question):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": question}])

    prompt = trajectory.messages()
    done = False
    while not done:
        response = await client.chat.completions.create(model="m", messages=prompt)
        if is_valid(response):
            trajectory.messages_and_choices.append(response.choices[0])
            done = True
    trajectory.reward = score(trajectory)
    return trajectory
