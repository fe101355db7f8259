import art
from art.langgraph import init_chat_model, wrap_rollout
from langgraph.prebuilt import create_react_agent


class Checker:
    def __init__(self):
        self.agent = None

    async def run(self, model: art.TrainableModel, task) -> art.Trajectory:
        traj = art.Trajectory(messages_and_choices=[])
        if self.agent is None:
            self.agent = create_react_agent(init_chat_model(), [])  # <- ART405
        state = await self.agent.ainvoke({"messages": [task.text]})
        traj.reward = task.rate(state["messages"][-1].content)
        return traj


def rollouts(model):
    checker = Checker()
    return wrap_rollout(model, checker.run)
