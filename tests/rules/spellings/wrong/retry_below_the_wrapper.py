import art
from art.langgraph import init_chat_model, wrap_rollout
from langgraph.prebuilt import create_react_agent


@art.retry(max_attempts=3)  # <- ART212
async def episode(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[])
    state = await create_react_agent(init_chat_model(), []).ainvoke({"messages": [task.text]})
    traj.reward = task.rate(state["messages"][-1].content)
    return traj


def rollouts(model):
    return wrap_rollout(model, episode)
