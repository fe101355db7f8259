"""No completion, episode or tool takes longer than the user allows, or costs the step."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import art
import openai
import pytest
from scripted_engine import Engine

from art_adapt import training
from art_adapt.hooks import recorded
from art_adapt.recording import EndpointError, EpisodeOver, RecordingError
from art_adapt.training import time_limits

QUICK = {"when": {"messages": "quick"}, "content": "Yes."}
rollouts: Any = sys.modules["art_adapt.recording.rollout"]
HANGING = {"when": {"messages": "."}, "content": "late", "delay": 6}
LIMIT = 1.0  # seconds


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine([QUICK, HANGING]) as engine:
        record(engine, lambda _: ask("quick"))  # the first call imports what it needs
        engine.log.clear()
        yield engine


def record(engine: Engine, episode: Any, **named: Any) -> training.Trajectory:
    model: art.Model[Any] = art.Model(
        name="policy",
        project="tests",
        inference_base_url=engine.base_url,
        inference_api_key="sk-rollout",
        inference_model_name="policy@3",
    )

    async def timed() -> training.Trajectory:
        begun = time.monotonic()
        trajectory = await training.record(model, None, episode, **named)
        trajectory.metrics["seconds"] = time.monotonic() - begun
        return trajectory

    return asyncio.run(timed())


def ask(text: str, **named: Any) -> str | None:
    # A production client's: it would wait for ten minutes, three times.
    client = openai.OpenAI(base_url="http://production", api_key="k", timeout=600)
    messages: Any = [{"role": "user", "content": text}]
    reply = recorded(client.chat.completions.create)(
        model="m", messages=messages, **named
    )
    return reply.choices[0].message.content


async def ask_async(text: str, **named: Any) -> str | None:
    client = openai.AsyncOpenAI(base_url="http://production", api_key="k", timeout=600)
    messages: Any = [{"role": "user", "content": text}]
    reply = await recorded(client.chat.completions.create)(
        model="m", messages=messages, **named
    )
    return reply.choices[0].message.content


def hangs(_: Any) -> None:
    ask("quick")
    ask("slow")


async def hangs_async(_: Any) -> None:
    await ask_async("quick")
    await ask_async("slow")


def streams(_: Any) -> None:
    ask("quick")
    client = openai.OpenAI(base_url="http://production", api_key="k")
    stream: Any = recorded(client.chat.completions.create)(
        model="m", messages=[{"role": "user", "content": "slow"}], stream=True
    )
    for _ in stream:
        pass


def tool_hangs(_: Any) -> None:
    ask("quick")
    time.sleep(6)


async def tool_hangs_async(_: Any) -> None:
    await ask_async("quick")
    await asyncio.sleep(6)


async def will_not_be_cancelled(_: Any) -> None:
    await ask_async("quick")
    end = time.monotonic() + 6
    while time.monotonic() < end:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(0.1)


def retries(_: Any) -> None:
    ask("quick")
    for _ in range(5):
        with contextlib.suppress(openai.APITimeoutError):
            ask("slow")


@pytest.mark.parametrize(
    "episode",
    [
        hangs,
        hangs_async,
        streams,
        tool_hangs,
        tool_hangs_async,
        will_not_be_cancelled,
        retries,
    ],
)
def test_an_episode_that_takes_too_long_ends_and_counts(
    episode: Any, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time_limits, "GRACE", 0.2)
    trajectory = record(engine, episode, timeout=LIMIT)
    assert trajectory.metrics["seconds"] < 4
    choices = [m for m in trajectory.messages_and_choices if not isinstance(m, dict)]
    assert len(choices) == 1  # what it did until then
    assert trajectory.metrics["timed_out"]
    asked = [e for e in engine.log if "slow" in str(e.request["messages"])]
    assert len(asked) <= (1 if episode is not retries else 5)


def test_nothing_recorded_in_time_is_no_episode(engine: Engine) -> None:
    with pytest.raises(RecordingError, match=r"never called the model: .*than 0\.5 s"):
        record(engine, lambda _: time.sleep(2), timeout=0.5)
    with pytest.raises(RecordingError, match="never called the model: it "):
        record(engine, lambda _: ask("slow"), timeout=0.5)
    assert len(engine.log) == 1  # not nine, as the SDK's and the episode's retries made


def test_an_endpoint_that_fails_is_asked_again(engine: Engine) -> None:
    def twice(_: Any) -> str | None:
        if len(engine.log) == 2:
            engine.script.replies = [QUICK]
        return ask("quick")

    engine.script.replies = [{"error": 503}, {"error": 429}, QUICK]
    assert record(engine, twice, timeout=20).final_answer == "Yes."
    assert [e.response is None for e in engine.log].count(False) == 1
    engine.log.clear()
    engine.script.replies = [{"when": {"messages": "."}, "error": 401}]
    with pytest.raises(EndpointError):
        record(engine, lambda _: ask("quick"), timeout=20)
    assert len(engine.log) == 3  # once an episode: a key does not come by waiting


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        ({}, {"max_tokens": 100}),
        ({"max_tokens": 7}, {"max_tokens": 7}),
        ({"max_tokens": 7000}, {"max_tokens": 100}),
        ({"max_completion_tokens": 7000}, {"max_completion_tokens": 100}),
        ({"extra_body": {"max_tokens": 7000}}, {"max_tokens": 100}),
    ],
)
@pytest.mark.parametrize("function", [ask, ask_async])
def test_each_completion_is_bounded(
    asked: Any, sent: Any, function: Any, engine: Engine
) -> None:
    record(engine, lambda _: function("quick", **asked), max_tokens=100)
    (request,) = (exchange.request for exchange in engine.log)
    bounds = {k: v for k, v in request.items() if k.startswith("max_")}
    assert bounds == sent


def test_code_that_blocks_its_loop_was_too_late_as_well(engine: Engine) -> None:
    async def blocks(_: Any) -> None:
        await ask_async("quick")
        time.sleep(0.6)

    assert record(engine, blocks, timeout=0.5).metrics["timed_out"]
    assert not record(engine, blocks, timeout=30).metrics["timed_out"]


def test_an_engine_that_is_gone_is_no_slow_completion() -> None:
    class Gone:
        base_url = "http://10.255.255.1:9/v1"  # nobody answers a connection there

    def episode(_: Any) -> None:
        ask("quick")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rollouts, "CONNECTING", 0.2)
        with pytest.raises(EndpointError):
            record(Gone(), episode, timeout=3)  # type: ignore[arg-type]


def test_without_bounds_the_agents_own_count(engine: Engine) -> None:
    record(engine, lambda _: ask("quick"))
    (request,) = (exchange.request for exchange in engine.log)
    assert not any(name.startswith("max_") for name in request)
    with pytest.raises(EndpointError):
        record(engine, lambda _: ask("slow", timeout=0.2))


def test_an_episode_that_exits_ends_no_loop(engine: Engine) -> None:
    async def exits(_: Any) -> None:
        await ask_async("quick")
        raise SystemExit(3)

    assert record(engine, exits, timeout=5).metrics["failed"] == 1


def swallows(_: Any) -> None:
    while True:
        with contextlib.suppress(Exception):
            ask("quick")


async def swallows_async(_: Any) -> None:
    while True:
        with contextlib.suppress(Exception, asyncio.CancelledError):
            await ask_async("quick")


@pytest.mark.parametrize("episode", [swallows, swallows_async])
def test_an_agent_that_swallows_every_error_does_not_go_on_for_ever(
    episode: Any, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would spin in each lost episode's thread, beside all later ones."""
    monkeypatch.setattr(time_limits, "GRACE", 0.2)
    before = set(threading.enumerate())
    trajectory = record(engine, episode, timeout=LIMIT)
    assert trajectory.metrics["timed_out"]
    for thread in set(threading.enumerate()) - before:
        if "process_request" in thread.name or thread.name.startswith("asyncio_"):
            continue  # of the server, whose client may keep a connection, and of the loop
        thread.join(15)
        assert not thread.is_alive(), thread


async def ends_in_a_task(_: Any) -> None:
    async def asks() -> None:
        await ask_async("quick")
        raise EpisodeOver("it is over")

    async with asyncio.TaskGroup() as group:
        group.create_task(asks())


async def fails_in_a_task(_: Any) -> None:
    async def asks() -> None:
        await ask_async("quick")
        raise ValueError("no such tool")

    async with asyncio.TaskGroup() as group:
        group.create_task(asks())


def test_a_task_group_does_not_hide_why_an_episode_ended(engine: Engine) -> None:
    over = record(engine, ends_in_a_task)
    assert not over.metrics["failed"]
    assert over.logs[-1] == "the episode was ended: it is over"
    failed = record(engine, fails_in_a_task)
    assert failed.metrics["failed"] and "no such tool" in failed.logs[-1]
