"""Test that frameworks' agents are recorded as they are: the real frameworks, no hook."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import openai
import pytest
from recorded import differences
from scripted_engine import Engine
from trajectories import Trajectory, choices, histories, rollout

from art_adapt.hooks import carried

FIXTURES = Path(__file__).parents[2] / "fixtures" / "frameworks"
WEATHER = {
    "tool_calls": [{"name": "weather", "arguments": {"city": "Delft"}}],
}
ORDER = {
    "tool_calls": [{"name": "look_up_order", "arguments": {"order_id": "HO-1042"}}],
}
HANDOVER = {"tool_calls": [{"name": "transfer_to_refunds", "arguments": {}}]}


@pytest.fixture(autouse=True)
def production(monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """Where the frameworks' own clients would ask; nothing may get there."""
    with Engine([]) as engine:
        monkeypatch.setenv("OPENAI_BASE_URL", engine.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-production")
        monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
        yield engine
        assert engine.log == []


def agent_of(framework: str) -> Any:
    name = f"{framework}_agent"
    file = FIXTURES / framework / "agent.py"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # LangGraph looks annotations up there
    spec.loader.exec_module(module)
    return module


def recording(trajectory: Trajectory, engine: Engine, **options: Any) -> Any:
    options = {"temperature": 1.0, "timeout": 30, "every_client": True, **options}
    return rollout(trajectory, engine, **options)


def assert_recorded(trajectory: Trajectory, engine: Engine) -> None:
    assert differences(histories(trajectory), engine.log) == []
    assert len(choices(trajectory)) == len(engine.log)
    for exchange in engine.log:
        assert exchange.request["model"] == "policy"
        assert exchange.request["return_token_ids"] is True


def test_langgraph() -> None:
    agent = agent_of("langgraph")
    trajectory = Trajectory()
    replies = [WEATHER, {"content": "Take an umbrella."}]
    with Engine(replies) as engine, recording(trajectory, engine):
        assert agent.ask("Do I need an umbrella?") == "Take an umbrella."
    assert_recorded(trajectory, engine)
    assert not trajectory.additional_histories
    assert [i["role"] for i in histories(trajectory)[0]["items"] if "role" in i] == [
        *("system", "user", "tool")
    ]
    (tool,) = trajectory.tools or ()
    assert tool["function"]["name"] == "weather"


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
def test_ways_to_run_a_graph(way: str) -> None:
    graph = agent_of("langgraph").make_graph()
    asked = {"messages": [("user", "Do I need an umbrella?")]}

    async def asynchronous() -> None:
        if way == "ainvoke":
            await graph.ainvoke(asked)
        else:
            async for _ in graph.astream(asked, stream_mode="messages"):
                pass

    trajectory = Trajectory()
    replies = [WEATHER, {"content": "Take one."}]
    with Engine(replies) as engine, recording(trajectory, engine):
        if way == "invoke":
            graph.invoke(asked)
        elif way == "stream":
            for _ in graph.stream(asked, stream_mode="messages"):
                pass
        else:
            asyncio.run(asynchronous())
    assert_recorded(trajectory, engine)
    assert len(engine.log) == 2


def test_graphs_side_by_side_do_not_mix() -> None:
    agent = agent_of("langgraph")
    trajectories = [Trajectory() for _ in range(8)]

    def episode(numbered: tuple[int, Trajectory], engine: Engine) -> str:
        number, trajectory = numbered
        with recording(trajectory, engine):
            return str(carried(agent.ask)(f"Question {number}"))

    rain = Engine([{"when": {"model": "."}, "content": "Rain."}])
    with rain as engine, ThreadPoolExecutor(8) as pool:
        episodes = enumerate(trajectories)
        said = list(pool.map(lambda each: episode(each, engine), episodes))
    assert said == ["Rain."] * 8
    for number, trajectory in enumerate(trajectories):
        assert f"Question {number}" in str(histories(trajectory)[0]["items"][1])
        assert len(choices(trajectory)) == 1


@pytest.mark.parametrize("api", ["chat_completions", "responses"])
def test_the_agents_sdk_with_its_handoffs(api: str) -> None:
    import agents

    agents.set_default_openai_api(api)
    agents.set_default_openai_client(openai.AsyncOpenAI(), use_for_tracing=False)
    module = agent_of("agents_sdk")
    trajectory = Trajectory()
    replies = [ORDER, HANDOVER, {"content": "Five days."}]
    with Engine(replies) as engine, recording(trajectory, engine) as recorder:
        assert asyncio.run(module.answer("My refund?")) == "Five days."
    assert_recorded(trajectory, engine)
    assert len(trajectory.additional_histories) == 1  # the other agent's
    assert recorder.history_names == ["support", "refunds"]


def test_an_agent_of_a_framework_is_named_auxiliary() -> None:
    module = agent_of("agents_sdk")
    trajectory = Trajectory()
    replies = [ORDER, HANDOVER]
    production = [{"content": "Five days."}]
    with Engine(replies) as engine, Engine(production) as elsewhere:
        import agents

        client = openai.AsyncOpenAI(base_url=elsewhere.base_url, api_key="k")
        agents.set_default_openai_api("chat_completions")
        agents.set_default_openai_client(client, use_for_tracing=False)
        with recording(trajectory, engine, auxiliary=["refunds"]):
            assert asyncio.run(module.answer("My refund?")) == "Five days."
        assert len(engine.log) == 2 and len(elsewhere.log) == 1
    assert not trajectory.additional_histories
