"""Calls that do not go to the SDK directly: litellm, instructor, and clients that
tracers have wrapped. Each with the real package.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Iterator
from typing import Any

import openai
import pydantic
import pytest
from recorded import differences
from scripted_engine import Engine
from trajectories import Trajectory, histories, rollout

from art_adapt.hooks import recorded
from art_adapt.recording import RecordingError

USER = [{"role": "user", "content": "Delft?"}]
TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "",
        "parameters": {"type": "object"},
    },
}
CALL = {"name": "weather", "arguments": {"city": "Delft"}}
NOWHERE = "http://127.0.0.1:1/v1"


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine([{"tool_calls": [CALL]}, {"content": "It rains."}]) as engine:
        yield engine


@pytest.fixture
def client() -> openai.OpenAI:
    """A production client; nothing may ever reach where it points to."""
    return openai.OpenAI(base_url=NOWHERE, api_key="sk-production", max_retries=0)


def answered(message: Any) -> list[Any]:
    """The message and its tools' outputs, as agents append them."""
    outputs = [
        {"role": "tool", "tool_call_id": call.id, "content": "rain"}
        for call in message.tool_calls or []
    ]
    return [message, *outputs]


# ------------------------------------------------------------------------------ partials


def test_a_partial(engine: Engine, client: openai.OpenAI) -> None:
    trajectory = Trajectory()
    ask = functools.partial(client.chat.completions.create, model="gpt-5", tools=[TOOL])
    with rollout(trajectory, engine):
        recorded(ask)(messages=USER)
    assert engine.log[0].request["tools"] == [TOOL]
    assert differences(histories(trajectory), engine.log) == []


# ------------------------------------------------------------------------------- litellm


def litellm_agent(litellm: Any) -> Any:
    messages: list[Any] = list(USER)
    for _ in range(2):
        response = recorded(litellm.completion)(
            "anthropic/claude",
            messages,
            tools=[TOOL],
            api_base=NOWHERE,
            api_key="sk-production",
            fallbacks=["gpt-4"],
        )
        messages += answered(response.choices[0].message)
    return response


def test_litellm(engine: Engine) -> None:
    import litellm

    trajectory = Trajectory()
    with rollout(trajectory, engine):
        response = litellm_agent(litellm)
    assert type(response) is litellm.ModelResponse
    assert response.choices[0].message.content == "It rains."
    assert not trajectory.additional_histories
    assert differences(histories(trajectory), engine.log) == []
    for exchange in engine.log:
        assert exchange.headers["Authorization"] == "Bearer sk-rollout"
        assert exchange.request["model"] == "policy"


def test_litellm_async_and_streamed(engine: Engine) -> None:
    import litellm

    trajectory = Trajectory()

    async def agent() -> str:
        response = await recorded(litellm.acompletion)(
            model="gpt-5", messages=USER, tools=[TOOL]
        )
        messages = [*USER, *answered(response.choices[0].message)]
        stream = await recorded(litellm.acompletion)(
            model="gpt-5", messages=messages, tools=[TOOL], stream=True
        )
        return "".join([c.choices[0].delta.content or "" async for c in stream])

    with rollout(trajectory, engine):
        assert asyncio.run(agent()) == "It rains."
    assert differences(histories(trajectory), engine.log) == []


def test_litellm_streamed_and_its_router(engine: Engine) -> None:
    import litellm

    deployment = {"model": "openai/gpt-5", "api_key": "k", "api_base": NOWHERE}
    router = litellm.Router([{"model_name": "main", "litellm_params": deployment}])
    trajectory = Trajectory()
    with rollout(trajectory, engine):
        first = recorded(router.completion)(model="main", messages=USER, tools=[TOOL])
        messages = [*USER, *answered(first.choices[0].message)]
        stream = recorded(litellm.completion)(
            model="gpt-5", messages=messages, tools=[TOOL], stream=True
        )
        text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    assert text == "It rains."
    assert differences(histories(trajectory), engine.log) == []


def test_litellms_cache_gives_no_samples() -> None:
    """Its key would be the same for all rollouts: they would get the first one's answer."""
    import litellm

    litellm.enable_cache(type="local")
    try:
        with Engine([{"when": {"model": "."}, "content": "a {n}"}]) as engine:
            told = []
            for _ in range(2):
                with rollout(Trajectory(), engine):
                    answer = recorded(litellm.completion)(model="gpt-4o", messages=USER)
                    told.append(answer.choices[0].message.content)
        assert told == ["a 1", "a 2"]
    finally:
        litellm.disable_cache()


def test_litellm_drops_what_this_model_does_not_take(engine: Engine) -> None:
    import litellm

    trajectory = Trajectory()
    with rollout(trajectory, engine):
        recorded(litellm.completion)(
            model="o3-mini", messages=USER, reasoning_effort="low", tools=[TOOL]
        )
    assert engine.log[0].request["tools"] == [TOOL]
    assert differences(histories(trajectory), engine.log) == []


# ---------------------------------------------------------------------------- instructor


class City(pydantic.BaseModel):
    name: str


ANSWER = {"tool_calls": [{"name": "City", "arguments": {"name": "Delft"}}]}


def test_instructor(client: openai.OpenAI) -> None:
    import instructor

    trajectory = Trajectory()
    asked: dict[str, Any] = {"model": "m", "messages": USER, "response_model": City}
    with Engine([ANSWER] * 3) as engine:
        with rollout(trajectory, engine):
            made = instructor.from_openai(client)
            assert recorded(made.chat.completions.create)(**asked).name == "Delft"
            city, completion = recorded(made.chat.completions.create_with_completion)(
                **asked
            )
            patched = instructor.patch(client)
            again = recorded(patched.chat.completions.create)(**asked)
            assert isinstance(again, City) and city.name == again.name
        assert completion.choices[0].message.tool_calls
        assert len(engine.log) == 3
        assert differences(histories(trajectory), engine.log) == []


def test_instructor_asks_again(client: openai.OpenAI) -> None:
    """A reply that does not fit the model is a turn of the conversation like any other."""
    import instructor

    wrong = {"tool_calls": [{"name": "City", "arguments": {"town": "Delft"}}]}
    trajectory = Trajectory()
    with Engine([wrong, ANSWER]) as engine:
        with rollout(trajectory, engine):
            made = instructor.from_openai(client, mode=instructor.Mode.TOOLS)
            recorded(made.create)(
                model="m", messages=USER, response_model=City, max_retries=2
            )
        assert len(engine.log) == 2
        assert differences(histories(trajectory), engine.log) == []


def test_instructor_async_and_over_litellm() -> None:
    import instructor
    import litellm

    client = openai.AsyncOpenAI(base_url=NOWHERE, api_key="k", max_retries=0)
    trajectory = Trajectory()
    asked: dict[str, Any] = {"model": "m", "messages": USER, "response_model": City}

    async def agent() -> City:
        made = instructor.from_openai(client)
        return await recorded(made.chat.completions.create)(**asked)

    with Engine([ANSWER] * 2) as engine:
        with rollout(trajectory, engine):
            assert asyncio.run(agent()).name == "Delft"
            made = instructor.from_litellm(litellm.completion)
            assert recorded(made.chat.completions.create)(**asked).name == "Delft"
        assert len(engine.log) == 2
        assert differences(histories(trajectory), engine.log) == []


def test_instructor_over_the_responses_api(client: openai.OpenAI) -> None:
    import instructor

    trajectory = Trajectory()
    with Engine([ANSWER]) as engine:
        with rollout(trajectory, engine):
            made = instructor.from_openai(client, mode=instructor.Mode.RESPONSES_TOOLS)
            city = recorded(made.create)(model="m", messages=USER, response_model=City)
        assert city.name == "Delft"
        assert differences(histories(trajectory), engine.log) == []


# ------------------------------------------------------------------------------- tracers


def test_langsmith(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    from langsmith.wrappers import wrap_openai

    client = wrap_openai(openai.OpenAI(base_url=NOWHERE, api_key="k", max_retries=0))
    trajectory = Trajectory()
    with rollout(trajectory, engine):
        recorded(client.chat.completions.create)(
            model="m", messages=USER, tools=[TOOL], langsmith_extra={"name": "turn"}
        )
        recorded(client.responses.create)(model="m", input="Delft?")
    assert differences(histories(trajectory), engine.log) == []


@pytest.mark.wide
def test_langfuse_and_weave_in_a_process_of_their_own(engine: Engine) -> None:
    """Both patch the SDK's classes, for the whole process."""
    import json
    import os
    import subprocess
    import sys
    from pathlib import Path

    child = Path(__file__).with_name("traced_child.py")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "LANGFUSE_TRACING_ENABLED": "false",
        "WEAVE_DISABLED": "true",
    }
    done = subprocess.run(
        [sys.executable, str(child), engine.base_url],
        env=environment,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert differences(json.loads(done.stdout.splitlines()[-1]), engine.log) == []


def test_what_is_no_client_is_named(engine: Engine) -> None:
    with (
        pytest.raises(RecordingError, match="print"),
        rollout(Trajectory(), engine),
        pytest.raises(RecordingError, match="print"),
    ):
        recorded(print)("hello")
