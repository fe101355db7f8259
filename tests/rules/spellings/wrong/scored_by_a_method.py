import art
from art.langgraph import wrap_rollout

from agents import graph


class Scorer:
    def score(self, traj: art.Trajectory) -> float:
        used = [m for m in traj.messages() if m["role"] == "tool"]
        return float(len(used) > 2)


async def episode(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[])
    await graph.ainvoke({"messages": [task.text]})
    traj.reward = Scorer().score(traj)  # <- ART312
    return traj


def rollouts(model):
    return [wrap_rollout(model, episode)]
