import functools

import art
from art.langgraph import wrap_rollout

from agents import graph


async def episode(depth: int, model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[])
    await graph(depth).ainvoke({"messages": [task.text]})
    traj.reward = task.rate(traj.messages_and_choices)  # <- ART312
    return traj


def rollouts(model):
    return wrap_rollout(model=model, fn=functools.partial(episode, 3))
