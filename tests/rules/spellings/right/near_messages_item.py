import art, copy, json, re, asyncio
async def rollout(client, model, question):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": question}])

    request = {"model": "m", "messages": trajectory.messages()}
    for _ in range(3):
        response = await client.chat.completions.create(**request)
        trajectory.messages_and_choices.append(response.choices[0])
        trajectory.messages_and_choices.append({"role": "user", "content": play(response)})
        request["messages"] = trajectory.messages()
    trajectory.reward = score(trajectory)
    return trajectory
