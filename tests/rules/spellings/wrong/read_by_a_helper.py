import art
from art.langgraph import init_chat_model, wrap_rollout
from langgraph.prebuilt import create_react_agent


def last_text(trajectory: art.Trajectory) -> str:
    return str(trajectory.messages()[-1]["content"])


async def episode(model: art.TrainableModel, task) -> art.Trajectory:
    trajectory = art.Trajectory(messages_and_choices=[])
    await create_react_agent(init_chat_model(), []).ainvoke({"messages": [task.text]})
    trajectory.reward = task.rate(last_text(trajectory))  # <- ART312
    return trajectory


def rollouts(model):
    return wrap_rollout(model, episode)
