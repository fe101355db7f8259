import art
from art.langgraph import wrap_rollout

from agents import graph


def note(trajectory: art.Trajectory, state: dict) -> None:
    trajectory.metrics["turns"] = len(state["messages"])


async def episode(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[])
    state = await graph.ainvoke({"messages": [task.text]})
    note(traj, state)
    traj.reward = task.rate(state["messages"][-1].content)
    return traj


def rollouts(model):
    return wrap_rollout(model, episode)
