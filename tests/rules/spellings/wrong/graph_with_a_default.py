import art
from art.langgraph import init_chat_model, wrap_rollout
from langgraph.prebuilt import create_react_agent


async def episode(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[])
    final = ""
    try:
        state = await create_react_agent(init_chat_model(), []).ainvoke({"messages": [task.text]})
        final = state["messages"][-1].content
    except Exception as error:  # <- ART305
        print(error)
    traj.reward = task.rate(final)
    return traj


def rollouts(model):
    return wrap_rollout(model, episode)
