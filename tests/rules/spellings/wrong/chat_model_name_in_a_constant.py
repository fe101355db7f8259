import art
from art.langgraph import init_chat_model as chat_model

JUDGE = "anthropic:claude-sonnet-4-5"


async def rollout(model, scenario):
    judge = chat_model(model=JUDGE)  # <- ART110
    answer = await chat_model().ainvoke([{"role": "user", "content": scenario}])
    verdict = await judge.ainvoke([{"role": "user", "content": f"Grade: {answer.content}"}])
    return art.Trajectory(messages_and_choices=[], reward=float(verdict.content))
