import art
from art.langgraph import init_chat_model, wrap_rollout
from langgraph.prebuilt import create_react_agent


class FactChecker:
    async def __call__(self, model: art.TrainableModel, task) -> art.Trajectory:
        traj = art.Trajectory(messages_and_choices=[])
        await create_react_agent(init_chat_model(), []).ainvoke({"messages": [task.text]})
        traj.metrics["turns"] = len(traj.messages())  # <- ART312
        traj.reward = task.score()
        return traj


async def train(model):
    return wrap_rollout(model, FactChecker())
