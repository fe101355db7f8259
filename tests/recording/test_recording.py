"""The recorder by itself: inert outside a rollout, complete and faithful inside one."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import inspect
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import openai
import pydantic
import pytest
from recorded import differences
from scripted_engine import Engine
from trajectories import Trajectory, choices, histories, rollout

from art_adapt.hooks import carried, final_answer, recorded, reward
from art_adapt.recording import EpisodeOver, RecordingError
from art_adapt.recording.clients import _pools

USER = [{"role": "user", "content": "hello"}]


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine() as engine:
        yield engine


@pytest.fixture
def client() -> openai.OpenAI:
    """A production client; nothing may ever reach where it points to."""
    return openai.OpenAI(
        base_url="http://127.0.0.1:1/v1", api_key="sk-production", max_retries=0
    )


@pytest.fixture
def async_client() -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(
        base_url="http://127.0.0.1:1/v1", api_key="sk-production", max_retries=0
    )


# --------------------------------------------------------------------------- outside a rollout (G3)


def test_outside_a_rollout_hooks_are_the_identity(engine: Engine) -> None:
    client = openai.OpenAI(base_url=engine.base_url, api_key="k")
    create = client.chat.completions.create
    create(model="m", messages=USER)
    answer = recorded(create)(model="m", messages=USER)
    assert type(answer).__name__ == "ChatCompletion"
    assert engine.log[0].body == engine.log[1].body
    assert inspect.signature(recorded(create)) == inspect.signature(create)
    value = object()
    assert final_answer(value) is value and reward(value) is value
    assert final_answer(1, 2) == (1, 2)
    assert carried(print) is print
    with pytest.raises(openai.APIConnectionError):
        recorded(
            openai.OpenAI(
                base_url="http://127.0.0.1:1", api_key="k", max_retries=0
            ).chat.completions.create
        )(model="m", messages=USER)


def test_a_call_that_lost_its_rollout_raises(
    engine: Engine, client: openai.OpenAI
) -> None:
    """G4: while training it neither goes to production nor unrecorded."""
    errors: list[BaseException] = []

    def call() -> None:
        try:
            recorded(client.chat.completions.create)(model="m", messages=USER)
        except BaseException as error:
            errors.append(error)

    trajectory = Trajectory()
    with (
        pytest.raises(RecordingError, match="lost the context"),
        rollout(trajectory, engine),
    ):
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
        thread = threading.Thread(target=carried(call))
        thread.start()
        thread.join()
    assert [type(error) for error in errors] == [RecordingError]
    assert "carried" in str(errors[0])
    assert len(choices(trajectory)) == 1


def test_a_call_after_its_rollout_raises(engine: Engine, client: openai.OpenAI) -> None:
    with rollout(Trajectory(), engine):
        late = carried(
            lambda: recorded(client.chat.completions.create)(model="m", messages=USER)
        )
    with pytest.raises(EpisodeOver, match="after its rollout ended, by a thread"):
        late()


def test_a_task_that_gather_leaves_behind_is_called_a_task(engine: Engine) -> None:
    """``asyncio.gather`` raises with its first task that fails; the others go on."""
    late: list[asyncio.Task[None]] = []

    async def ask(model: openai.AsyncOpenAI) -> None:
        await asyncio.sleep(0.05)
        await recorded(model.chat.completions.create)(model="m", messages=USER)

    async def fail() -> None:
        raise ValueError

    async def episode() -> None:
        async with openai.AsyncOpenAI(base_url=engine.base_url, api_key="-") as model:
            with pytest.raises(ValueError), rollout(Trajectory(), engine):
                late.append(asyncio.ensure_future(ask(model)))
                await asyncio.gather(*late, fail())
            with pytest.raises(EpisodeOver, match="by a task that outlived it"):
                await late[0]

    asyncio.run(episode())


def test_a_call_in_another_process_raises(
    engine: Engine, client: openai.OpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a forked process records nobody reads; a spawned one would go to production."""
    with pytest.raises(RecordingError), rollout(Trajectory(), engine) as seen:
        seen.process = -1  # as it is in a fork
        with pytest.raises(RecordingError, match="another process"):
            recorded(client.chat.completions.create)(model="m", messages=USER)
        inherited = os.environ["ART_RECORDING_PROCESS"]
    monkeypatch.setenv("ART_RECORDING_PROCESS", f"{inherited}0")  # as in a spawn
    with pytest.raises(RecordingError, match="another process"):
        recorded(client.chat.completions.create)(model="m", messages=USER)


# --------------------------------------------------------------------------- requests


def test_the_request_goes_to_the_model_in_training(
    engine: Engine, client: openai.OpenAI
) -> None:
    azure = openai.AzureOpenAI(
        azure_endpoint="http://127.0.0.1:1",
        api_key="sk-production",
        api_version="2024-06-01",
    )
    arguments = {
        "model": "gpt-4o",
        "messages": USER,
        "temperature": 0.3,
        "extra_headers": {
            "Authorization": "Bearer sk-production",
            "X-Key": "sk-production",
        },
        "extra_query": {"key": "sk-production"},
        "extra_body": {"top_k": 4},
    }
    with rollout(Trajectory(), engine):
        recorded(client.chat.completions.create)(**arguments)
        recorded(client.with_options(timeout=3).chat.completions.create)(**arguments)
        recorded(azure.chat.completions.create)(**arguments)
    for exchange in engine.log:
        assert exchange.path == "/v1/chat/completions"
        assert exchange.headers["Authorization"] == "Bearer sk-rollout"
        assert "sk-production" not in str(exchange.headers)
        sent = exchange.request
        assert (
            sent["model"] == "policy"
            and sent["temperature"] == 0.3
            and sent["top_k"] == 4
        )
        assert sent["logprobs"] is True and sent["return_token_ids"] is True


def test_what_is_no_chat_completion_stops_the_rollout(
    engine: Engine, client: openai.OpenAI
) -> None:
    with pytest.raises(RecordingError), rollout(Trajectory(), engine):
        with pytest.raises(RecordingError, match="/completions"):
            recorded(client.completions.create)(model="m", prompt="x")
        with pytest.raises(RecordingError, match="not a method of an OpenAI client"):
            recorded(print)("hello")
    assert engine.log == []


class Facade:
    """A class of an agent's own that looks like a client, and asks one."""

    def __init__(self, client: Any) -> None:
        self.client, self.chat, self.completions = client, self, self

    def create(self, **arguments: Any) -> Any:
        return recorded(self.client.chat.completions.create)(**arguments)

    async def acreate(self, **arguments: Any) -> Any:
        return await recorded(self.client.chat.completions.create)(**arguments)


def test_an_agents_own_client_passes_a_call_on(
    engine: Engine, client: openai.OpenAI
) -> None:
    trajectory = Trajectory()
    with rollout(trajectory, engine):
        facade = Facade(client)
        recorded(facade.chat.completions.create)(model="m", messages=USER)
    assert len(engine.log) == 1
    assert len(choices(trajectory)) == 1


def test_an_agents_own_async_client_passes_a_call_on(engine: Engine) -> None:
    trajectory = Trajectory()

    async def ask() -> None:
        facade = Facade(openai.AsyncOpenAI(api_key="sk-production"))
        await recorded(facade.acreate)(model="m", messages=USER)

    with rollout(trajectory, engine):
        asyncio.run(ask())
    assert len(engine.log) == 1


# --------------------------------------------------------------------------- forms of answers


class Answer(pydantic.BaseModel):
    answer: str


def call_forms(client: openai.OpenAI, form: str) -> Any:
    completions = client.chat.completions
    if form == "create":
        return (
            recorded(completions.create)(model="m", messages=USER)
            .choices[0]
            .message.content
        )
    if form == "raw":
        response = recorded(completions.with_raw_response.create)(
            model="m", messages=USER
        )
        return response.parse().choices[0].message.content
    if form == "parse":
        return (
            recorded(client.beta.chat.completions.parse)(
                model="m", messages=USER, response_format=Answer
            )
            .choices[0]
            .message.parsed
        )
    if form == "streamed":
        chunks = recorded(completions.create)(model="m", messages=USER, stream=True)
        assert isinstance(chunks, openai.Stream)
        return "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    if form == "stream helper":
        with recorded(completions.stream)(model="m", messages=USER) as stream:
            return stream.get_final_completion().choices[0].message.content
    raise AssertionError(form)


@pytest.mark.parametrize(
    "form", ["create", "raw", "parse", "streamed", "stream helper"]
)
def test_every_form_of_answer_is_recorded(form: str, client: openai.OpenAI) -> None:
    with Engine([{"content": '{"answer": "it is"}'}]) as engine:
        trajectory = Trajectory()
        with rollout(trajectory, engine) as seen:
            answer = call_forms(client, form)
        assert answer == (
            Answer(answer="it is") if form == "parse" else '{"answer": "it is"}'
        )
        assert differences(histories(trajectory), engine.log) == []
        assert type(choices(trajectory)[0]).__name__ == "Choice"
        assert (seen.calls, seen.failed_calls) == (1, 0)


def test_a_completion_that_cannot_be_parsed_is_recorded_all_the_same(
    client: openai.OpenAI,
) -> None:
    with Engine(
        [{"content": "no json"}, {"content": "{", "finish_reason": "length"}]
    ) as engine:
        trajectory = Trajectory()
        with rollout(trajectory, engine) as seen:
            for _ in range(2):
                with pytest.raises(
                    (pydantic.ValidationError, openai.LengthFinishReasonError)
                ):
                    recorded(client.chat.completions.parse)(
                        model="m", messages=USER, response_format=Answer
                    )
        assert differences(histories(trajectory), engine.log) == []
        assert seen.truncated and seen.infrastructure_error is None


@pytest.mark.parametrize("way", ["break", "close", "forgotten", "left open"])
def test_a_stream_left_early_is_recorded_as_far_as_it_was_read(
    way: str, client: openai.OpenAI
) -> None:
    with Engine([{"content": "one two three four"}, {"content": "next"}]) as engine:
        trajectory = Trajectory()
        with rollout(trajectory, engine):
            stream = recorded(client.chat.completions.create)(
                model="m", messages=USER, stream=True
            )
            text = ""
            for chunk in stream:
                text += chunk.choices[0].delta.content or ""
                if text == "one two":
                    break
            if way == "close":
                stream.close()
            if way == "forgotten":
                del stream, chunk
                gc.collect()
            said = {"role": "assistant", "content": text}
            recorded(client.chat.completions.create)(
                model="m", messages=[*USER, said, {"role": "user", "content": "go on"}]
            )
        cut, after = (
            trajectory.messages_and_choices[1],
            trajectory.messages_and_choices[3],
        )
        assert cut.message.content == "one two" and cut.model_extra["cut"] is True
        assert cut.finish_reason == "length"
        assert after.message.content == "next"
        assert trajectory.additional_histories == []


def test_streamed_tool_calls_and_several_choices(client: openai.OpenAI) -> None:
    calls = [
        {"name": "look", "arguments": {"at": "x"}},
        {"name": "go", "arguments": {}},
    ]
    with Engine(
        [{"tool_calls": calls, "content": "so"}, {"contents": ["a b", "c d e"]}]
    ) as engine:
        trajectory = Trajectory()
        with rollout(trajectory, engine) as seen:
            list(
                recorded(client.chat.completions.create)(
                    model="m",
                    messages=USER,
                    stream=True,
                    stream_options={"include_usage": True},
                )
            )
            list(
                recorded(client.chat.completions.create)(
                    model="m", messages=USER, stream=True, n=2
                )
            )
        assert differences(histories(trajectory), engine.log) == []
        assert seen.tool_calls == 2


def test_calls_that_no_tool_can_be_run_with_are_counted(
    client: openai.OpenAI,
) -> None:
    tool = {"type": "function", "function": {"name": "look", "parameters": {}}}
    said = [
        {"name": "look", "arguments": {"at": 1}},
        {"name": "look", "arguments": {}},
        {"name": "look", "arguments": ""},
        {"name": "look", "arguments": '{"at":'},
        {"name": "look", "arguments": "[1]"},
        {"name": "leap", "arguments": {}},
    ]
    for stream in (False, True):
        with Engine([{"tool_calls": said}]) as engine:
            with rollout(Trajectory(), engine) as seen:
                answer = recorded(client.chat.completions.create)(
                    model="m", messages=USER, tools=[tool], stream=stream
                )
                if stream:
                    list(answer)
            assert (seen.tool_calls, seen.tool_errors) == (6, 3)


def test_async_forms(async_client: openai.AsyncOpenAI) -> None:
    async def episode() -> None:
        completions = async_client.chat.completions
        await recorded(completions.create)(model="m", messages=USER)
        async for _ in await recorded(completions.create)(
            model="m", messages=USER, stream=True
        ):
            pass
        async with recorded(completions.stream)(model="m", messages=USER) as stream:
            async for _ in stream:
                pass
        (
            await recorded(completions.with_raw_response.create)(
                model="m", messages=USER
            )
        ).parse()
        await asyncio.gather(
            *[recorded(completions.create)(model="m", messages=USER) for _ in range(5)]
        )

    with Engine() as engine:
        trajectory = Trajectory()
        with rollout(trajectory, engine):
            asyncio.run(episode())
            asyncio.run(
                recorded(async_client.chat.completions.create)(model="m", messages=USER)
            )
        assert len(engine.log) == 10
        assert differences(histories(trajectory), engine.log) == []


# --------------------------------------------------------------------------- conversations (G5)


def spelled(message: Any, way: str) -> Any:
    """The assistant's message as agents append it."""
    if way == "object":
        return message
    if way == "dump":
        return message.model_dump()
    if way == "without nulls":
        return message.model_dump(exclude_none=True)
    calls = [
        {
            "id": c.id,
            "type": "function",
            "function": {
                "name": c.function.name,
                "arguments": '{"at":   "x"}'
                if way == "spelled anew"
                else c.function.arguments,
            },
        }
        for c in message.tool_calls
    ]
    return {
        "role": "assistant",
        "content": message.content or "",
        "tool_calls": message.tool_calls if way == "objects inside" else calls,
        "sender": "me",
    }


@pytest.mark.parametrize(
    "way",
    ["object", "dump", "without nulls", "by hand", "spelled anew", "objects inside"],
)
def test_a_tool_loop_is_one_history(way: str, client: openai.OpenAI) -> None:
    tools = [
        {
            "type": "function",
            "function": {
                "name": "look",
                "parameters": {"type": "object", "properties": {}},
                "unknown": 1,
            },
        }
    ]
    call = {"tool_calls": [{"name": "look", "arguments": {"at": "x"}}]}
    with Engine([call, call, {"content": "done"}]) as engine:
        trajectory = Trajectory()
        with rollout(trajectory, engine):
            messages: list[Any] = list(USER)
            while True:
                message = (
                    recorded(client.chat.completions.create)(
                        model="m", messages=messages, tools=tools
                    )
                    .choices[0]
                    .message
                )
                messages.append(
                    spelled(message, way) if message.tool_calls else message
                )
                if not message.tool_calls:
                    break
                messages.append(
                    {
                        "role": "tool",
                        "tool_call_id": message.tool_calls[0].id,
                        "content": "seen",
                    }
                )
        assert trajectory.additional_histories == []
        assert [type(item).__name__ for item in trajectory.messages_and_choices] == [
            "dict",
            "Choice",
            "dict",
            "Choice",
            "dict",
            "Choice",
        ]
        assert trajectory.tools == engine.log[0].request["tools"]
        assert differences(histories(trajectory), engine.log) == []


def test_whatever_does_not_go_on_opens_a_history(client: openai.OpenAI) -> None:
    create = recorded(client.chat.completions.create)
    tools = [{"type": "function", "function": {"name": "look", "parameters": {}}}]
    first = [{"role": "system", "content": "s"}, *USER]
    with Engine() as engine:
        trajectory = Trajectory()
        with rollout(trajectory, engine):
            create(model="m", messages=first)
            said = [
                *first,
                {"role": "assistant", "content": "done"},
                {"role": "user", "content": "and?"},
            ]
            create(model="m", messages=said, tools=tools)
            create(model="m", messages=said)  # goes on
            create(
                model="m", messages=[{"role": "system", "content": "other"}, *said[1:]]
            )
            create(model="m", messages=said[-1:])  # truncated
            create(
                model="m",
                messages=[*first, {"role": "assistant", "content": "edited"}, *USER],
            )
            create(model="m", messages=said)  # the same again
            create(model="m", messages=USER, n=3)
        assert len(trajectory.messages_and_choices) == 5
        assert len(trajectory.additional_histories) == 5 + 3
        assert differences(histories(trajectory), engine.log) == []


def test_what_the_agent_changes_later_is_not_changed_on_the_trajectory(
    client: openai.OpenAI,
) -> None:
    with Engine() as engine:
        trajectory = Trajectory()
        with rollout(trajectory, engine):
            messages = [
                {
                    "role": "user",
                    "content": [{"type": "text", "text": "before"}],
                    "unknown_to_the_sdk": {"a": 1},
                }
            ]
            answer = recorded(client.chat.completions.create)(
                model="m", messages=messages
            )
            messages[0]["content"][0]["text"] = "after"
            messages[0]["unknown_to_the_sdk"]["a"] = 2
            answer.choices[0].message.content = "changed"
            messages.append({"role": "user", "content": "x"})
        assert differences(histories(trajectory), engine.log) == []


def test_one_episode_in_two_blocks(client: openai.OpenAI) -> None:
    with Engine() as engine:
        trajectory = Trajectory()
        for number in range(2):
            messages = (
                USER
                if not number
                else [*USER, {"role": "assistant", "content": "done"}, *USER]
            )
            with rollout(trajectory, engine):
                recorded(client.chat.completions.create)(model="m", messages=messages)
        assert (
            len(trajectory.messages_and_choices) == 4
            and trajectory.additional_histories == []
        )


def test_a_trajectory_need_not_be_arts(client: openai.OpenAI) -> None:
    """Other tools open rollouts too."""
    trajectory: Any = SimpleNamespace(
        messages_and_choices=[], tools=None, additional_histories=[], metadata={}
    )
    with Engine() as engine:
        with rollout(trajectory, engine):
            for text in ("one", "two"):
                messages = [{"role": "user", "content": text}]
                recorded(client.chat.completions.create)(model="m", messages=messages)
            final_answer("yes")
        assert differences(histories(trajectory), engine.log) == []
    assert trajectory.metadata["final_answer"] == "yes"


# --------------------------------------------------------------------------- isolation and failures (G7, G8)


def test_concurrent_rollouts_do_not_mix(
    client: openai.OpenAI, async_client: openai.AsyncOpenAI
) -> None:
    """Threads, tasks and threads of threads, all at once, over one server."""

    def turns(name: str) -> None:
        messages: list[Any] = [{"role": "user", "content": name}]
        for _ in range(3):
            answer = recorded(client.chat.completions.create)(
                model="m", messages=messages
            )
            messages += [answer.choices[0].message, {"role": "user", "content": name}]

    def sync_episode(number: int, engine: Engine) -> Trajectory:
        trajectory = Trajectory()
        with rollout(trajectory, engine), ThreadPoolExecutor(2) as pool:
            turns(f"sync {number}")
            list(pool.map(carried(turns), [f"sync {number} a", f"sync {number} b"]))
        return trajectory

    async def async_episode(number: int, engine: Engine) -> Trajectory:
        trajectory = Trajectory()
        with rollout(trajectory, engine):
            create = recorded(async_client.chat.completions.create)
            for turn in range(3):
                await create(
                    model="m",
                    messages=[{"role": "user", "content": f"async {number} {turn}"}],
                )
            await asyncio.to_thread(turns, f"async {number} thread")
        return trajectory

    async def everything(engine: Engine) -> list[Trajectory]:
        with ThreadPoolExecutor(16) as pool:
            loop = asyncio.get_running_loop()
            jobs = [
                loop.run_in_executor(pool, sync_episode, n, engine) for n in range(16)
            ]
            return await asyncio.gather(
                *jobs, *[async_episode(n, engine) for n in range(16)]
            )

    with Engine(delay=0.01) as engine:
        trajectories = asyncio.run(everything(engine))
        assert (
            differences([h for t in trajectories for h in histories(t)], engine.log)
            == []
        )
    for trajectory in trajectories:
        said = {
            m["content"].rsplit(" ", 1)[0] if "sync" in m["content"] else ""
            for h in (trajectory, *trajectory.additional_histories)
            for m in h.messages_and_choices
            if isinstance(m, dict) and m["role"] == "user"
        }
        numbers = {text.split()[1] for text in said if len(text.split()) > 1}
        assert len(numbers) <= 1


def test_infrastructure_failures_are_told_from_those_that_were_made_good(
    client: openai.OpenAI,
) -> None:
    create = recorded(client.chat.completions.create)
    with Engine(
        [{"error": 500}, {"content": "good"}, {"error": 429}, {"error": 400}]
    ) as engine:
        with rollout(Trajectory(), engine) as seen:
            with pytest.raises(openai.InternalServerError):
                create(model="m", messages=USER)
            assert isinstance(seen.infrastructure_error, openai.InternalServerError)
            create(model="m", messages=USER)
            assert seen.infrastructure_error is None
            with pytest.raises(openai.RateLimitError):
                create(model="m", messages=USER)
            with pytest.raises(openai.BadRequestError):
                create(model="m", messages=[*USER, *USER])
        assert isinstance(seen.infrastructure_error, openai.RateLimitError)
        assert (seen.calls, seen.failed_calls) == (1, 3)


def test_the_sdks_own_retries_are_recorded_once() -> None:
    client = openai.OpenAI(base_url="http://127.0.0.1:1", api_key="k", max_retries=2)
    with Engine([{"error": 500}, {"content": "good"}]) as engine:
        trajectory = Trajectory()
        with rollout(trajectory, engine) as seen:
            recorded(client.chat.completions.create)(model="m", messages=USER)
        assert differences(histories(trajectory), engine.log) == []
        assert (len(engine.log), seen.calls, seen.infrastructure_error) == (2, 1, None)


def test_rewards_and_answers(engine: Engine) -> None:
    trajectory = Trajectory()
    with rollout(trajectory, engine) as seen:
        assert not seen.answered and not seen.rewarded
        reward(1)
        reward(True)
        final_answer("first")
        final_answer(["second"])
    assert trajectory.reward == 1.0
    assert trajectory.metadata["final_answer"] == '["second"]'
    assert seen.answered and seen.rewarded and seen.answer == ["second"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, "x", [1]])
def test_no_reward_that_would_poison_its_group(engine: Engine, value: Any) -> None:
    """The episode ends in an error, even if the agent swallows it."""
    unusable = pytest.raises(RecordingError, match="must be a finite number")
    with unusable, rollout(Trajectory(), engine), contextlib.suppress(Exception):
        reward(value)


class Typed(Trajectory):
    final_answer: str | None = None


@pytest.mark.parametrize(
    ("answer", "stored"),
    [
        ("yes", "yes"),
        (None, None),
        ({"a": [1]}, '{"a": [1]}'),
        ((1, "b"), '[1, "b"]'),
        (Answer(answer="x"), '{"answer": "x"}'),
        (ValueError("odd"), "odd"),
    ],
)
def test_answers_are_stored_as_art_can_write_them(
    engine: Engine, answer: Any, stored: Any
) -> None:
    trajectory = Typed()
    with rollout(trajectory, engine) as seen:
        assert final_answer(answer) is answer
    assert trajectory.final_answer == stored and seen.answer is answer
    trajectory.model_dump_json(warnings="error")


def test_what_comes_after_the_end_changes_nothing(engine: Engine) -> None:
    trajectory = Trajectory()
    with rollout(trajectory, engine):
        late = carried(lambda: reward(5))
        late_answer = carried(lambda: final_answer("late"))
    for call in (late, late_answer):
        with pytest.raises(EpisodeOver, match="after its rollout ended"):
            call()
    assert trajectory == Trajectory()


def test_a_stream_that_the_server_cuts_is_its_failure(client: openai.OpenAI) -> None:
    with Engine([{"content": "one two three", "drop": True}]) as engine:
        trajectory = Trajectory()
        with rollout(trajectory, engine) as seen, contextlib.suppress(Exception):
            create = recorded(client.chat.completions.create)
            list(create(model="m", messages=USER, stream=True))
        assert choices(trajectory) == []
        assert seen.infrastructure_error is not None


def test_the_environments_headers_stay_behind(
    engine: Engine, client: openai.OpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "sk-production")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "sk-production")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Secret: sk-production")
    with rollout(Trajectory(), engine):
        recorded(client.chat.completions.create)(model="m", messages=USER)
    assert "sk-production" not in str(engine.log[0].headers)


def test_event_loops_that_have_ended_are_let_go(
    async_client: openai.AsyncOpenAI,
) -> None:
    async def episode() -> None:
        await recorded(async_client.chat.completions.create)(model="m", messages=USER)

    with Engine() as engine:
        for _ in range(12):
            with rollout(Trajectory(), engine):
                asyncio.run(episode())
    ended = [loop for loop in _pools if getattr(loop, "is_closed", bool)()]
    assert len(ended) <= 1


def test_an_event_loop_that_ends_closes_its_connections(
    async_client: openai.AsyncOpenAI, caplog: pytest.LogCaptureFixture
) -> None:
    """Closed on the next loop, each would report that its own "is closed"."""

    async def episode() -> None:
        await recorded(async_client.chat.completions.create)(model="m", messages=USER)
        gc.collect()
        await asyncio.sleep(0.01)  # what a finalizer has begun

    with Engine() as engine:
        for _ in range(3):
            with rollout(Trajectory(), engine):
                asyncio.run(episode())
        gc.collect()
    assert caplog.messages == []


def test_abandoned_streams_do_not_deadlock(client: openai.OpenAI) -> None:
    with Engine([{"when": {"messages": "."}, "content": "one two three"}]) as engine:
        for _ in range(300):
            with rollout(Trajectory(), engine):
                create = recorded(client.chat.completions.create)
                for _chunk in create(model="m", messages=USER, stream=True):
                    break


def test_long_conversations_are_not_copied_again(client: openai.OpenAI) -> None:
    """Each request copies only what is new in it, however long the conversation is."""
    with Engine() as engine:
        trajectory = Trajectory()
        with rollout(trajectory, engine) as seen:
            messages: list[Any] = []
            for turn in range(30):
                messages.append({"role": "user", "content": f"turn {turn}"})
                create = recorded(client.chat.completions.create)
                answer = create(model="m", messages=messages).choices[0].message
                messages.append({"role": "assistant", "content": answer.content})
            messages.append({"role": "user", "content": "and?"})
            body = {"messages": messages}
            _, _, request = seen.prepare("/chat/completions", body, {})
        assert (request.start, len(request.new)) == (60, 1)
        assert len(trajectory.messages_and_choices) == 60


def test_a_stream_that_ends_between_its_choices_is_broken(
    client: openai.OpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    import scripted_completions

    whole = scripted_completions.chunks

    def first_choice_only(response: Any, request: Any) -> Iterator[Any]:
        for chunk in whole(response, request):
            if chunk["choices"] and chunk["choices"][0]["index"] == 0:
                yield chunk

    monkeypatch.setattr(scripted_completions, "chunks", first_choice_only)
    trajectory = Trajectory()
    with (
        Engine([{"contents": ["one", "two"]}]) as engine,
        rollout(trajectory, engine) as recording,
    ):
        create = recorded(client.chat.completions.create)
        list(create(model="m", messages=USER, n=2, stream=True))
    assert choices(trajectory) == []
    assert recording.infrastructure_error is not None
