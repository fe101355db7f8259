import art
from langchain_core.tools import tool
from config import Config
from art.langgraph import init_chat_model, wrap_rollout
from art.rewards import ruler_score_group

@tool
def add(a: int, b: int) -> int:
    return a + b

config = Config(api_key="k")

async def rollout(model, scenario):
    if scenario.hard:
        llm = init_chat_model(temperature=1.0)
    else:
        llm = init_chat_model(temperature=1)
    answer = await llm.ainvoke(scenario.messages)
    total = add.invoke({"a": 1, "b": 2})
    name = config.get("name")
    return art.Trajectory(messages_and_choices=[], reward=float(total), metadata={"name": name})

async def group_of(model, scenario):
    run = wrap_rollout(model, rollout)
    group = art.TrajectoryGroup([await run(model, scenario) for _ in range(4)])
    return await ruler_score_group(group, "openai/o3", swallow_exceptions=True)
