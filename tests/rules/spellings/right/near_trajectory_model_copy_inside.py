import art, copy, json, re, asyncio
async def rollout(client, trajectory):
    trajectory = trajectory.model_copy(deep=True)
    response = await client.chat.completions.create(model="m", messages=trajectory.messages())
    trajectory.messages_and_choices.append(response.choices[0])
    trajectory.reward = score(response)
    return trajectory

def group_of(client, opening):
    start = art.Trajectory(messages_and_choices=[opening])
    return art.TrajectoryGroup(rollout(client, start) for _ in range(8))
