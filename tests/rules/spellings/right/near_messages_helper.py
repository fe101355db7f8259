import art, copy, json, re, asyncio
def tell(messages, choice, reply):
    messages.append(choice.message.model_dump())
    messages.append(reply)

async def rollout(client, model, question):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": question}])

    prompt = trajectory.messages()
    for _ in range(3):
        response = await client.chat.completions.create(model="m", messages=prompt)
        trajectory.messages_and_choices.append(response.choices[0])
        reply = {"role": "user", "content": play(response)}
        trajectory.messages_and_choices.append(reply)
        tell(prompt, response.choices[0], reply)
    trajectory.reward = score(trajectory)
    return trajectory
