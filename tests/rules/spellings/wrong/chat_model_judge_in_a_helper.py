import art
from art import langgraph


def make_judge():
    return langgraph.init_chat_model("gpt-4.1", temperature=0)  # <- ART110


async def rollout(model, scenario):
    agent = langgraph.init_chat_model()
    answer = await agent.ainvoke([{"role": "user", "content": scenario}])
    verdict = await make_judge().ainvoke([{"role": "user", "content": f"Grade: {answer.content}"}])
    return art.Trajectory(messages_and_choices=[], reward=float(verdict.content))
