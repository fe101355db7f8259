"""What a request and its answer become on the way to the model in training and back:
older functions, arguments of OpenAI's own, answers read from the wire.
"""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from recorded import differences
from scripted_engine import Engine
from trajectories import Trajectory, choices, histories, rollout

from art_adapt import recording as art_recording
from art_adapt.hooks import recorded
from art_adapt.recording import RecordingWarning
from art_adapt.recording.state import said as already_said

USER = [{"role": "user", "content": "Delft?"}]
FUNCTION = {"name": "weather", "parameters": {"type": "object"}}
CALL = {"name": "weather", "arguments": {"city": "Delft"}}
TOOL_LOOP = [{"tool_calls": [CALL]}, {"tool_calls": [CALL]}, {"content": "It rains."}]


@pytest.fixture
def client() -> openai.OpenAI:
    """A production client; nothing may ever reach where it points to."""
    return openai.OpenAI(base_url="http://127.0.0.1:1/v1", api_key="k", max_retries=0)


@pytest.fixture
def said() -> Iterator[list[str]]:
    """What the recorder warns of; it says each thing once in a process."""
    already_said.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        said: list[str] = []
        yield said
        said += [str(w.message) for w in caught if w.category is RecordingWarning]
    already_said.clear()


# ------------------------------------------------------------------------ older functions


@pytest.mark.parametrize("streamed", [False, True])
def test_functions_are_tools_for_the_engine(
    client: openai.OpenAI, streamed: bool
) -> None:
    """vLLM takes no ``functions``: it would not show them to the model."""
    trajectory = Trajectory()
    messages: list[Any] = list(USER)
    with Engine(TOOL_LOOP) as engine:
        with rollout(trajectory, engine):
            for _ in range(2):
                message = ask_with_functions(client, messages, streamed)
                assert message["function_call"]["name"] == "weather"
                messages.append(message)
                messages.append(
                    {"role": "function", "name": "weather", "content": "rain"}
                )
            last = ask_with_functions(client, messages, streamed)
        assert last == {"role": "assistant", "content": "It rains."}
        for exchange in engine.log:
            assert "functions" not in exchange.request
            assert exchange.request["tools"] == [
                {"type": "function", "function": FUNCTION}
            ]
        assert not trajectory.additional_histories
        assert differences(histories(trajectory), engine.log) == []
        assert [len(c.message.tool_calls or []) for c in choices(trajectory)] == [
            1,
            1,
            0,
        ]


def ask_with_functions(
    client: openai.OpenAI, messages: list[Any], streamed: bool
) -> dict[str, Any]:
    """One turn, as an agent of 2023 makes it; returns the message that it appends."""
    create: Any = recorded(client.chat.completions.create)
    asked = {"model": "m", "messages": messages, "functions": [FUNCTION]}
    if not streamed:
        choice = create(**asked).choices[0]
        called = choice.message.function_call is not None
        assert (choice.finish_reason == "function_call") == called
        assert choice.message.tool_calls is None
        return choice.message.model_dump(exclude_none=True)
    text, call = "", {"name": "", "arguments": ""}
    for chunk in create(**asked, stream=True):
        delta = chunk.choices[0].delta
        assert delta.tool_calls is None
        text += delta.content or ""
        if delta.function_call:
            call["name"] += delta.function_call.name or ""
            call["arguments"] += delta.function_call.arguments or ""
    if call["name"]:
        return {"role": "assistant", "content": None, "function_call": call}
    return {"role": "assistant", "content": text}


def test_a_forced_function_is_a_forced_tool(client: openai.OpenAI) -> None:
    with Engine(TOOL_LOOP) as engine, rollout(Trajectory(), engine):
        create: Any = recorded(client.chat.completions.create)
        create(
            model="m",
            messages=USER,
            functions=[FUNCTION],
            function_call={"name": "weather"},
        )
        create(model="m", messages=USER, functions=[FUNCTION], function_call="none")
        forced = {"type": "function", "function": {"name": "weather"}}
        asked = [exchange.request["tool_choice"] for exchange in engine.log]
        assert asked == [forced, "none"]


def test_a_last_request_without_functions_still_tells_of_their_calls(
    client: openai.OpenAI,
) -> None:
    trajectory = Trajectory()
    replies = [{"tool_calls": [CALL]}, {"content": "Rain."}]
    with Engine(replies) as engine, rollout(trajectory, engine):
        messages: list[Any] = list(USER)
        message = ask_with_functions(client, messages, streamed=False)
        messages += [
            message,
            {"role": "function", "name": "weather", "content": "rain"},
        ]
        recorded(client.chat.completions.create)(model="m", messages=messages)
        first, last = (each.request for each in engine.log)
        called, told = last["messages"][-2:]
        assert "tools" in first and "tools" not in last and "tool_choice" not in last
        assert called["tool_calls"][0]["id"] == told["tool_call_id"]
        assert told["role"] == "tool"
        assert differences(histories(trajectory), engine.log) == []


def test_equal_calls_of_several_conversations_keep_their_ids(
    client: openai.OpenAI,
) -> None:
    trajectory = Trajectory()
    with Engine([{"when": {"messages": "."}, "tool_calls": [CALL]}]) as engine:
        with rollout(trajectory, engine):
            for number in range(3):
                messages: list[Any] = [{"role": "user", "content": f"Delft {number}"}]
                for _ in range(3):
                    message = ask_with_functions(client, messages, streamed=False)
                    output = {"role": "function", "name": "weather", "content": "rain"}
                    messages += [message, output]
        assert len(trajectory.additional_histories) == 2
        assert differences(histories(trajectory), engine.log) == []


# ------------------------------------------------------------------ arguments and roles


def test_what_only_openai_knows_stays_behind(
    client: openai.OpenAI, said: list[str]
) -> None:
    trajectory = Trajectory()
    with Engine() as engine, rollout(trajectory, engine):
        for _ in range(2):
            recorded(client.chat.completions.create)(
                model="gpt-5",
                messages=[{"role": "developer", "content": "Be brief."}, *USER],
                store=True,
                reasoning_effort="low",
                metadata={"a": "b"},
                max_completion_tokens=9,
                seed=7,
            )
        sent = engine.log[0].request
        assert not {"store", "reasoning_effort", "metadata"} & set(sent)
        assert sent["max_completion_tokens"] == 9 and sent["seed"] == 7
        assert sent["messages"][0]["role"] == "system"
        assert differences(histories(trajectory), engine.log) == []


def test_said_once(client: openai.OpenAI) -> None:
    already_said.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            with Engine() as engine, rollout(Trajectory(), engine):
                recorded(client.chat.completions.create)(
                    model="m", messages=USER, store=True, temperature=0.2
                )
    told = [str(w.message) for w in caught if w.category is RecordingWarning]
    assert len(told) == 2
    assert "store" in told[0] and "temperature=0.2" in told[1]


# ----------------------------------------------------------------------------- exactness


def ask(client: openai.OpenAI, engine: Engine, messages: list[Any]) -> Any:
    with rollout(Trajectory(), engine):
        create = recorded(client.chat.completions.create)
        answer = create(model="m", messages=messages).choices[0].message
        create(model="m", messages=[*messages, answer, *USER])
    return answer


def test_an_endpoint_without_ids_is_named(client: openai.OpenAI) -> None:
    import threading
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Plain(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            message = {"role": "assistant", "content": "hi"}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            data = json.dumps({"object": "chat.completion", "choices": [choice]})
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(data.encode())

    already_said.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Plain)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    with (
        pytest.warns(RecordingWarning, match="token"),
        art_recording.rollout(Trajectory(), base_url=url, api_key="k", model="policy"),
    ):
        recorded(client.chat.completions.create)(model="m", messages=USER)
    server.shutdown()
    server.server_close()


def test_a_conversation_that_is_rendered_anew_is_named(client: openai.OpenAI) -> None:
    """The scripted engine's ids are made from the text of each request: its prompts never
    go on from what it said before.
    """
    already_said.clear()
    with Engine() as engine, pytest.warns(RecordingWarning, match="rendered"):
        ask(client, engine, USER)


def test_warnings_as_errors_lose_nothing(client: openai.OpenAI) -> None:
    already_said.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trajectory = Trajectory()
        with Engine() as engine, rollout(trajectory, engine) as recording:
            recorded(client.chat.completions.create)(
                model="m", messages=USER, temperature=0.5
            )
    assert recording.calls == 1


# ------------------------------------------------------------- answers read from the wire


def test_with_streaming_response(client: openai.OpenAI) -> None:
    trajectory = Trajectory()
    with Engine() as engine:
        with rollout(trajectory, engine):
            create = recorded(client.chat.completions.with_streaming_response.create)
            with create(model="m", messages=USER) as response:
                assert response.parse().choices[0].message.content == "done"
            with create(model="m", messages=USER, stream=True) as response:
                lines = [line for line in response.iter_lines() if line]
        assert json.loads(lines[0].removeprefix("data: "))["choices"]
        assert lines[-1] == "data: [DONE]"
        assert len(engine.log) == 2
        assert differences(histories(trajectory), engine.log) == []


def test_with_streaming_response_async() -> None:
    client = openai.AsyncOpenAI(base_url="http://127.0.0.1:1/v1", api_key="k")
    trajectory = Trajectory()

    async def agent() -> str:
        text = ""
        create = recorded(client.chat.completions.with_streaming_response.create)
        async with create(model="m", messages=USER, stream=True) as response:
            async for line in response.iter_lines():
                if line.startswith("data: {"):
                    chunk = json.loads(line.removeprefix("data: "))
                    text += chunk["choices"][0]["delta"].get("content") or ""
        async with create(model="m", messages=USER) as response:
            assert (await response.json())["choices"]
        return text

    with Engine() as engine:
        with rollout(trajectory, engine):
            assert asyncio.run(agent()) == "done"
        assert differences(histories(trajectory), engine.log) == []


def test_a_stream_that_the_agent_closes_is_recorded_at_once(
    client: openai.OpenAI,
) -> None:
    """Left open, the engine would go on, and what it said would come after later turns."""
    trajectory = Trajectory()
    with Engine([{"content": "one two three"}]) as engine, rollout(trajectory, engine):
        with recorded(client.chat.completions.create)(
            model="m", messages=USER, stream=True
        ) as stream:
            for chunk in stream:
                if chunk.choices[0].delta.content:
                    break
        (choice,) = choices(trajectory)
        assert choice.cut and choice.message.content == "one"


# ----------------------------------------------------------------------- named histories


def test_histories_are_named_after_their_functions(client: openai.OpenAI) -> None:
    def research(topic: str) -> None:
        recorded(client.chat.completions.create)(
            model="m", messages=[{"role": "user", "content": topic}]
        )

    class Parent:
        async def plan(self) -> None:
            asynchronous = openai.AsyncOpenAI(
                base_url="http://127.0.0.1:1", api_key="k"
            )
            asking = recorded(asynchronous.chat.completions.create)(
                model="m", messages=USER
            )
            await asyncio.create_task(asking)
            await asyncio.gather(*(asyncio.to_thread(research, t) for t in "ab"))
            opening = recorded(asynchronous.chat.completions.stream)(
                model="m", messages=[{"role": "user", "content": "c"}]
            )
            async with opening as stream:
                await stream.get_final_completion()

    trajectory = Trajectory()
    with Engine() as engine, rollout(trajectory, engine) as recording:
        asyncio.run(Parent().plan())
    names = [
        name.rpartition("test_histories_are_named_after_their_functions.")[2]
        for name in recording.history_names
    ]
    assert names == ["Parent.plan", "research", "research", "Parent.plan"]
    assert trajectory.metadata["histories"] == ", ".join(recording.history_names)
