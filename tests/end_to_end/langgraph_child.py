"""Run one episode of a LangGraph agent on ``art.langgraph``, and print the result.

As its users are told to, the agent's model comes from ``init_chat_model`` and its rollout
goes through ``wrap_rollout``. The result is like that of ``capture_child.py``.
"""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

import art
from art.langgraph import init_chat_model, wrap_rollout
from capture_child import histories_of, run_agent


async def rollout() -> art.Trajectory:
    import agent

    agent.ChatOpenAI = lambda **_: init_chat_model()
    await run_agent()
    return art.Trajectory(messages_and_choices=[], reward=0.0)


def main() -> None:
    model: Any = art.Model(
        name="m",
        project="p",
        inference_base_url=os.environ["OPENAI_BASE_URL"],
        inference_api_key="k",
        inference_model_name="gpt-4o-mini",
    )
    try:
        said = histories_of(asyncio.run(wrap_rollout(model, rollout)()))
    except Exception as error:
        raised = f"{type(error).__name__}: {error}"
        said = {"histories": [], "sequences": 0, "tokens": None, "error": raised}
    print(json.dumps(said))


if __name__ == "__main__":
    main()
