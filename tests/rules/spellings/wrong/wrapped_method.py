import art
from art.langgraph import wrap_rollout

from agents import graph


class Desk:
    def __init__(self, model: art.TrainableModel):
        self.run = wrap_rollout(model, self.episode)

    async def episode(self, task) -> art.Trajectory:
        traj = art.Trajectory(messages_and_choices=[])
        await graph.ainvoke({"messages": [task.text]})
        answer = traj.messages()[-1]["content"]  # <- ART312
        traj.reward = task.rate(answer)
        return traj
