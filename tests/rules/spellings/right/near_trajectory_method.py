import art, copy, json, re, asyncio
class Agent:
    def __init__(self, client): self.client = client
    async def run(self, start, trajectory):

        response = await self.client.chat.completions.create(model="m", messages=trajectory.messages())
        trajectory.messages_and_choices.append(response.choices[0])
        trajectory.reward = score(response)
        return trajectory

def group_of(agent, opening):
    start = art.Trajectory(messages_and_choices=[opening])
    return art.TrajectoryGroup([agent.run(start, art.Trajectory(messages_and_choices=[opening])) for _ in range(8)])
