import art
from art.langgraph import wrap_rollout

from agents import graph


def last_text(trajectory: art.Trajectory) -> str:
    return str(trajectory.messages()[-1]["content"])


async def episode(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[])
    await graph.ainvoke({"messages": [task.text]})
    return traj


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    traj = await wrap_rollout(model, episode)(model, task)
    traj.reward = task.rate(last_text(traj))
    return traj
