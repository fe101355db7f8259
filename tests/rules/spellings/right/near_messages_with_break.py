import art, copy, json, re, asyncio
async def rollout(client, model, question):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": question}])

    prompt = trajectory.messages()
    for _ in range(3):
        response = await client.chat.completions.create(model="m", messages=prompt)
        if is_valid(response):
            with span("record"):
                trajectory.messages_and_choices.append(response.choices[0])
            break
    trajectory.reward = score(trajectory)
    return trajectory
