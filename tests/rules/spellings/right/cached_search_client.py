import functools

import art
from art.langgraph import init_chat_model, wrap_rollout
from langgraph.prebuilt import create_react_agent

from archive import Archive


@functools.lru_cache(maxsize=None)
def archive(language: str) -> Archive:
    return Archive(language)


async def episode(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[])
    agent = create_react_agent(init_chat_model(), [archive(task.language).search])
    state = await agent.ainvoke({"messages": [task.text]})
    traj.reward = task.rate(state["messages"][-1].content)
    return traj


def rollouts(model):
    return wrap_rollout(model, episode)
