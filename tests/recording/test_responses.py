"""Agents that call the Responses API, in a rollout: their model has chat completions."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterator
from typing import Any

import openai
import pydantic
import pytest
from recorded import differences
from scripted_engine import Engine
from trajectories import Trajectory, choices, histories, rollout

from art_adapt.hooks import recorded
from art_adapt.recording import RecordingError

WEATHER = {
    "type": "function",
    "name": "weather",
    "description": "The weather in a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    "strict": True,
}
CALL = {"name": "weather", "arguments": {"city": "Delft"}}
LOOP = [
    {"content": "Let me look.", "tool_calls": [CALL, CALL]},
    {"content": "It rains in Delft."},
]


@pytest.fixture
def client() -> openai.OpenAI:
    """A production client; nothing may ever reach where it points to."""
    return openai.OpenAI(base_url="http://127.0.0.1:1/v1", api_key="k", max_retries=0)


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(LOOP) as engine:
        yield engine


def outputs(response: Any) -> list[dict[str, Any]]:
    return [
        {"type": "function_call_output", "call_id": item.call_id, "output": "rain"}
        for item in response.output
        if item.type == "function_call"
    ]


def test_a_tool_loop_that_keeps_its_own_input(
    engine: Engine, client: openai.OpenAI
) -> None:
    trajectory = Trajectory()
    with rollout(trajectory, engine) as recording:
        items: list[Any] = [{"role": "user", "content": "Delft?"}]
        while True:
            response = recorded(client.responses.create)(
                model="gpt-5", instructions="Be brief.", input=items, tools=[WEATHER]
            )
            items += response.output
            if not (done := outputs(response)):
                break
            items += done
    assert type(response).__name__ == "Response"
    assert response.output_text == "It rains in Delft."
    assert response.status == "completed" and response.model == "gpt-5"
    assert response.usage is not None and response.usage.total_tokens == 2
    assert recording.calls == 2 and not trajectory.additional_histories
    assert differences(histories(trajectory), engine.log) == []
    sent = engine.log[1].request
    assert [message["role"] for message in sent["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
    ]
    assert sent["tools"] == [
        {
            "type": "function",
            "function": {k: WEATHER[k] for k in ("name", "description", "parameters")},
        }
    ]


def test_call_and_output_in_turns_are_one_message(
    engine: Engine, client: openai.OpenAI
) -> None:
    """Agents also append a call and its output, the next call and its output."""
    trajectory = Trajectory()
    with rollout(trajectory, engine):
        items: list[Any] = [{"role": "user", "content": "Delft?"}]
        response = recorded(client.responses.create)(
            model="m", input=items, tools=[WEATHER]
        )
        results = iter(outputs(response))
        for item in response.output:
            items.append(item)
            if item.type == "function_call":
                items.append(next(results))
        recorded(client.responses.create)(model="m", input=items, tools=[WEATHER])
    assert not trajectory.additional_histories
    assert differences(histories(trajectory), engine.log) == []


def test_previous_response_id(engine: Engine, client: openai.OpenAI) -> None:
    trajectory = Trajectory()
    with rollout(trajectory, engine):
        first = recorded(client.responses.create)(
            model="m", input="Delft?", instructions="Be brief.", tools=[WEATHER]
        )
        last = recorded(client.responses.create)(
            model="m",
            previous_response_id=first.id,
            input=outputs(first),
            instructions="Be brief.",
            tools=[WEATHER],
        )
    assert last.previous_response_id == first.id
    assert not trajectory.additional_histories
    assert differences(histories(trajectory), engine.log) == []


def test_instructions_are_not_carried_over(
    engine: Engine, client: openai.OpenAI
) -> None:
    """As with OpenAI's: another request's instructions are gone. So the conversation is another one."""
    trajectory = Trajectory()
    with rollout(trajectory, engine):
        first = recorded(client.responses.create)(
            model="m", input="Delft?", instructions="Be brief."
        )
        recorded(client.responses.create)(
            model="m", previous_response_id=first.id, input=outputs(first)
        )
    assert engine.log[1].request["messages"][0]["role"] == "user"
    assert len(trajectory.additional_histories) == 1
    assert differences(histories(trajectory), engine.log) == []


def test_async(engine: Engine) -> None:
    client = openai.AsyncOpenAI(base_url="http://127.0.0.1:1/v1", api_key="k")
    trajectory = Trajectory()

    async def agent() -> str:
        first = await recorded(client.responses.create)(
            model="m", input="Delft?", tools=[WEATHER]
        )
        last = await recorded(client.responses.create)(
            model="m",
            previous_response_id=first.id,
            input=outputs(first),
            tools=[WEATHER],
        )
        return last.output_text

    with rollout(trajectory, engine):
        assert asyncio.run(agent()) == "It rains in Delft."
    assert differences(histories(trajectory), engine.log) == []


def kinds_and_text(events: Any) -> list[tuple[str, Any]]:
    """What a stream is to an agent, without ids and sizes of the pieces."""
    told: list[tuple[str, Any]] = []
    for event in events:
        piece = getattr(event, "delta", None)
        if told and piece is not None and told[-1][0] == event.type:
            told[-1] = (event.type, told[-1][1] + piece)
        else:
            told.append((event.type, piece))
    return told


@pytest.mark.parametrize("reply", LOOP)
def test_a_stream_tells_what_it_tells_in_production(reply: dict[str, Any]) -> None:
    asked = {"model": "m", "input": "Delft?", "tools": [WEATHER], "stream": True}
    with Engine([reply]) as production, Engine([reply]) as training:
        client = openai.OpenAI(base_url=production.base_url, api_key="k")
        usual = kinds_and_text(client.responses.create(**asked))
        trajectory = Trajectory()
        with rollout(trajectory, training):
            events = list(recorded(client.responses.create)(**asked))
        assert kinds_and_text(events) == usual
        assert [e.sequence_number for e in events] == list(range(len(events)))
        assert differences(histories(trajectory), training.log) == []
        last = events[-1].response
        assert last.output_text == reply["content"]
        assert [e.item for e in events if e.type.endswith("item.done")] == last.output


def test_the_stream_manager_and_its_final_response(
    engine: Engine, client: openai.OpenAI
) -> None:
    trajectory = Trajectory()
    with rollout(trajectory, engine):
        with recorded(client.responses.stream)(
            model="m", input="Delft?", tools=[WEATHER]
        ) as stream:
            text = "".join(
                event.delta
                for event in stream
                if event.type == "response.output_text.delta"
            )
            first = stream.get_final_response()
        assert text == "Let me look."
        assert len(outputs(first)) == 2
        recorded(client.responses.create)(
            model="m",
            previous_response_id=first.id,
            input=outputs(first),
            tools=[WEATHER],
        )
    assert not trajectory.additional_histories
    assert differences(histories(trajectory), engine.log) == []


def test_an_async_stream_left_early(engine: Engine) -> None:
    client = openai.AsyncOpenAI(base_url="http://127.0.0.1:1/v1", api_key="k")
    trajectory = Trajectory()

    async def agent() -> None:
        stream = await recorded(client.responses.create)(
            model="m", input="Delft?", tools=[WEATHER], stream=True
        )
        async for event in stream:
            if event.type == "response.output_text.delta":
                break
        await stream.close()

    with rollout(trajectory, engine):
        asyncio.run(agent())
    (choice,) = choices(trajectory)
    assert choice.cut and choice.message.content == "Let"


def test_parse_and_raw_response(client: openai.OpenAI) -> None:
    class City(pydantic.BaseModel):
        name: str

    trajectory = Trajectory()
    with Engine([{"content": '{"name": "Delft"}'}] * 2) as engine:
        with rollout(trajectory, engine):
            parsed = recorded(client.responses.parse)(
                model="m", input="A city", text_format=City
            )
            raw = recorded(client.responses.with_raw_response.create)(
                model="m", input="A city"
            )
        assert parsed.output_parsed == City(name="Delft")
        assert json.loads(raw.parse().output_text) == {"name": "Delft"}
        format_ = engine.log[0].request["response_format"]
        assert format_["json_schema"]["schema"]["required"] == ["name"]
        assert differences(histories(trajectory), engine.log) == []


def test_custom_tools_images_and_limits(client: openai.OpenAI) -> None:
    trajectory = Trajectory()
    call = {"name": "shell", "arguments": {"input": "ls"}}
    with Engine(
        [{"tool_calls": [call]}, {"content": "a", "finish_reason": "length"}]
    ) as e:
        with rollout(trajectory, e) as recording:
            picture = {"type": "input_image", "image_url": "data:image/png;base64,AA=="}
            question = [{"type": "input_text", "text": "What is it?"}, picture]
            asked: dict[str, Any] = {
                "model": "m",
                "tools": [{"type": "custom", "name": "shell"}],
                "max_output_tokens": 7,
            }
            items: list[Any] = [{"role": "user", "content": question}]
            first = recorded(client.responses.create)(input=items, **asked)
            (item,) = first.output
            assert item.type == "custom_tool_call" and item.input == "ls"
            output = {"type": "custom_tool_call_output", "call_id": item.call_id}
            items += [item, output | {"output": "a.txt"}]
            last = recorded(client.responses.create)(input=items, **asked)
        assert last.status == "incomplete"
        assert last.incomplete_details is not None
        assert last.incomplete_details.reason == "max_output_tokens"
        assert recording.truncated
        sent = e.log[0].request
        assert sent["max_completion_tokens"] == 7
        assert sent["messages"][0]["content"][1] == {
            "type": "image_url",
            "image_url": {"url": picture["image_url"]},
        }
        assert differences(histories(trajectory), e.log) == []


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"tools": [{"type": "web_search"}]}, "web_search"),
        ({"tools": [{"type": "file_search", "vector_store_ids": []}]}, "file_search"),
        ({"previous_response_id": "resp_other"}, "resp_other"),
        ({"conversation": "conv_1"}, "conversation"),
        ({"background": True}, "background"),
        ({"prompt": {"id": "p"}}, "prompt"),
        ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "item_reference"),
    ],
)
def test_what_only_openai_has_is_named(
    engine: Engine, client: openai.OpenAI, asked: dict[str, Any], named: str
) -> None:
    with (
        pytest.raises(RecordingError, match=named),
        rollout(Trajectory(), engine),
        pytest.raises(RecordingError, match=named),
    ):
        recorded(client.responses.create)(**{"model": "m", "input": "hi", **asked})
    assert engine.log == []


def test_errors_reach_the_agent_as_they_are(client: openai.OpenAI) -> None:
    with (
        Engine([{"error": 429}]) as engine,
        rollout(Trajectory(), engine) as recording,
        pytest.raises(openai.RateLimitError),
    ):
        recorded(client.responses.create)(model="m", input="hi")
    assert isinstance(recording.infrastructure_error, openai.RateLimitError)


def test_a_stream_that_the_engine_breaks_off_is_no_response(
    client: openai.OpenAI,
) -> None:
    trajectory = Trajectory()
    with (
        Engine([{"content": "one two three", "drop": True}]) as engine,
        rollout(trajectory, engine) as recording,
    ):
        create = recorded(client.responses.create)
        kinds = []
        with contextlib.suppress(openai.APIError, ConnectionError):
            for event in create(model="m", input="hi", stream=True):
                kinds.append(event.type)
    assert "response.created" in kinds and "response.completed" not in kinds
    assert choices(trajectory) == [] and recording.infrastructure_error is not None


def test_a_response_left_early_is_recorded_when_it_is_closed(
    engine: Engine, client: openai.OpenAI
) -> None:
    trajectory = Trajectory()
    with rollout(trajectory, engine):
        with recorded(client.responses.stream)(model="m", input="hi") as stream:
            for event in stream:
                if event.type == "response.output_text.delta":
                    break
        (choice,) = choices(trajectory)
        assert choice.cut and choice.message.content == "Let"


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"input": ["hi"]}, "not an object"),
        ({"input": [{"role": "tool", "content": "x"}]}, "chat completion"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "inside"),
    ],
)
def test_what_the_api_would_refuse_is_refused(
    engine: Engine, client: openai.OpenAI, asked: dict[str, Any], named: str
) -> None:
    with (
        pytest.raises(RecordingError, match=named),
        rollout(Trajectory(), engine),
        pytest.raises(RecordingError, match=named),
    ):
        recorded(client.responses.create)(**{"model": "m", "input": "hi", **asked})


def test_allowed_tools_are_the_tools(engine: Engine, client: openai.OpenAI) -> None:
    other = {**WEATHER, "name": "other"}
    allowed = {"type": "function", "name": "weather"}
    choice = {"type": "allowed_tools", "mode": "required", "tools": [allowed]}
    with rollout(Trajectory(), engine):
        recorded(client.responses.create)(
            model="m", input="hi", tools=[WEATHER, other], tool_choice=choice
        )
    sent = engine.log[0].request
    assert [tool["function"]["name"] for tool in sent["tools"]] == ["weather"]
    assert sent["tool_choice"] == "required"
