"""64 rollouts at once over one bad line: every completion lands once, on the
trajectory that it belongs to (G4, G7).

The oracle is the server's log. A completion counts as delivered if the server wrote its
answer to the end; no client of these rollouts leaves before that, and none has a
timeout that could run out. An answer that the server broke off is not delivered,
however much of it arrived: the SDK throws the half of a plain answer away and asks
again, and of half a stream nobody knows how it would have ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import random
import sys
import types
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Thread
from typing import Any

import openai
import pytest
from recorded import differences
from scripted_completions import marker
from scripted_engine import Engine, Exchange, Json, Script
from trajectories import Trajectory, choices, histories, rollout

from art_adapt.hooks import carried, recorded
from art_adapt.recording import Rollout

ROLLOUTS = 64
PATIENCE = 8  # more attempts than the line ever spoils
FAULTS: list[Json] = [
    {"error": 429},
    {"error": 500},
    {"disconnect": "before"},
    {"disconnect": "middle"},
    {"drop": True},
]
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {}}}]
FORMS = ("create", "raw", "streamed", "stream helper")


class BadLine(Script):
    """Answers late, and often not at all.

    What happens to a request follows from what it says and how often it was made, so
    that the rollouts meet the same faults in whatever order they come.
    """

    def __init__(self) -> None:
        super().__init__([])
        self.attempts: Counter[str] = Counter()

    def reply(self, request: Json) -> Json:
        said = json.dumps(request["messages"])
        self.attempts[said] += 1
        dice = random.Random(f"{said} {self.attempts[said]}")
        reply: Json = {"content": "as you {n} say", "delay": dice.uniform(0, 0.006)}
        if request.get("tools") and dice.random() < 0.5:
            reply["tool_calls"] = [{"name": "look", "arguments": {"at": "{n}"}}]
        if dice.random() < 0.3 and self.attempts[said] < 6:
            reply |= dice.choice(FAULTS)
        return reply


class Cut(Exception):
    """A stream that ended before its completion did."""


class Conversation:
    """A tool loop that tries again whatever fails, in any of the SDK's forms."""

    def __init__(self, *tags: object) -> None:
        name = " ".join(map(str, tags))
        self.dice = random.Random(name)
        self.messages: list[Any] = [{"role": "system", "content": name}]

    def arguments(self, form: str) -> Json:
        arguments: Json = {"model": "m", "messages": self.messages, "tools": TOOLS}
        return arguments | ({"stream": True} if form == "streamed" else {})

    def user(self, turn: int) -> str:
        self.messages.append({"role": "user", "content": f"turn {turn}"})
        return self.dice.choice(FORMS)

    def answered(self, message: Any) -> None:
        self.messages.append(message)
        for call in message.tool_calls or []:
            said = {"role": "tool", "tool_call_id": call.id, "content": "seen"}
            self.messages.append(said)


def message_of(chunks: list[Any]) -> Any:
    """The message of a stream that was read to its end."""
    deltas = [choice for chunk in chunks for choice in chunk.choices]
    if not any(choice.finish_reason for choice in deltas):
        raise Cut
    text = "".join(choice.delta.content or "" for choice in deltas)
    return openai.types.chat.ChatCompletionMessage(role="assistant", content=text)


def method_of(client: Any, form: str) -> Callable[..., Any]:
    completions = client.chat.completions
    methods = {
        "create": completions.create,
        "raw": completions.with_raw_response.create,
        "streamed": completions.create,
        "stream helper": completions.stream,
    }
    return recorded(methods[form])


def chunks_of(events: list[Any]) -> list[Any]:
    return [event.chunk for event in events if event.type == "chunk"]


def ask(client: openai.OpenAI, talk: Conversation, form: str) -> Any:
    answer = method_of(client, form)(**talk.arguments(form))
    if form == "streamed":
        return message_of(list(answer))
    if form == "stream helper":
        with answer as stream:
            return message_of(chunks_of(list(stream)))
    return (answer.parse() if form == "raw" else answer).choices[0].message


async def ask_async(client: openai.AsyncOpenAI, talk: Conversation, form: str) -> Any:
    answer = method_of(client, form)(**talk.arguments(form))
    if form == "stream helper":
        async with answer as stream:
            return message_of(chunks_of([event async for event in stream]))
    answer = await answer
    if form == "streamed":
        return message_of([chunk async for chunk in answer])
    return (answer.parse() if form == "raw" else answer).choices[0].message


def talk_it_over(client: openai.OpenAI, *tags: object, turns: int = 3) -> None:
    talk = Conversation(*tags)
    for turn in range(turns):
        form = talk.user(turn)
        for _ in range(PATIENCE):
            # What a stream that breaks raises is the HTTP library's choice.
            with contextlib.suppress(Exception):
                talk.answered(ask(client, talk, form))
                break


async def talk_it_over_async(
    client: openai.AsyncOpenAI, *tags: object, turns: int = 3
) -> None:
    talk = Conversation(*tags)
    for turn in range(turns):
        form = talk.user(turn)
        for _ in range(PATIENCE):
            with contextlib.suppress(Exception):
                talk.answered(await ask_async(client, talk, form))
                break


def sync_agent(client: openai.OpenAI, tag: str) -> None:
    talk_it_over(client, tag, turns=4)


def threaded_agent(client: openai.OpenAI, tag: str) -> None:
    """Fans out three times: over an executor, over a thread, and within a thread."""

    def further(*tags: object) -> None:
        inner = carried(talk_it_over)
        thread = Thread(
            target=inner, args=(client, *tags, "in it"), kwargs={"turns": 1}
        )
        thread.start()
        talk_it_over(client, *tags, turns=2)
        thread.join()

    thread = Thread(target=carried(further), args=(tag, "thread"))
    thread.start()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(carried(further), [tag, tag], ["left", "right"]))
    thread.join()
    talk_it_over(client, tag, turns=1)


async def async_agent(
    client: openai.AsyncOpenAI, sync_client: openai.OpenAI, tag: str
) -> None:
    await asyncio.gather(
        talk_it_over_async(client, tag, "left"),
        talk_it_over_async(client, tag, "right"),
        asyncio.to_thread(talk_it_over, sync_client, tag, "thread", turns=1),
    )
    await talk_it_over_async(client, tag, turns=2)


def tag_of(exchange: Exchange) -> str:
    """The rollout that a request belongs to: the first word of its system message."""
    tag: str = exchange.request["messages"][0]["content"].split()[0]
    return tag


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(script=BadLine()) as engine:
        yield engine


def test_64_rollouts_over_a_bad_line_do_not_mix(engine: Engine) -> None:
    production = {"base_url": "http://127.0.0.1:1/v1", "api_key": "sk-production"}
    client = openai.OpenAI(**production, max_retries=2)
    async_client = openai.AsyncOpenAI(**production, max_retries=2)
    barrier = Barrier(sum(number % 3 != 2 for number in range(ROLLOUTS)))
    tags = [f"rollout-{number}" for number in range(ROLLOUTS)]
    trajectories = [Trajectory() for _ in tags]
    recordings: list[Rollout | None] = [None for _ in tags]

    def in_a_thread(number: int) -> None:
        agent = threaded_agent if number % 3 == 1 else sync_agent
        with rollout(trajectories[number], engine) as recordings[number]:
            barrier.wait(60)  # all rollouts are open when the first call is made
            agent(client, tags[number])

    async def in_a_task(number: int) -> None:
        with rollout(trajectories[number], engine) as recordings[number]:
            await asyncio.sleep(0)
            await async_agent(async_client, client, tags[number])

    async def everything() -> None:
        loop = asyncio.get_running_loop()
        # Every rollout needs a thread, as the train module says, and its own threads.
        loop.set_default_executor(ThreadPoolExecutor(2 * ROLLOUTS))
        await asyncio.gather(
            *[
                in_a_task(n) if n % 3 == 2 else asyncio.to_thread(in_a_thread, n)
                for n in range(ROLLOUTS)
            ]
        )

    asyncio.run(everything())
    log = engine.log
    delivered: dict[str, Counter[int]] = {tag: Counter() for tag in tags}
    for number, exchange in enumerate(log, 1):
        if exchange.response is not None and not exchange.broken:
            delivered[tag_of(exchange)][marker(number, 0)] += 1
    for tag, trajectory, recording in zip(tags, trajectories, recordings, strict=True):
        assert Counter(c.token_ids[0] for c in choices(trajectory)) == delivered[tag]
        assert recording is not None and recording.calls == delivered[tag].total()
        assert recording.infrastructure_error is None  # all was made good
    every = [history for t in trajectories for history in histories(t)]
    assert differences(every, log) == []
    # The line was as bad as it was meant to be.
    kinds = Counter(
        "error" if e.response is None else "broken" if e.broken else "good" for e in log
    )
    assert min(kinds.values()) > 50 and len(kinds) == 3, kinds


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads take turns all the time, so that what needs a lock shows."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("restless")
def test_threads_of_one_rollout_do_not_trip_over_each_other() -> None:
    """They begin at once with the same words, and go on at once from the same reply."""
    client = openai.OpenAI(base_url="http://127.0.0.1:1/v1", api_key="k")
    first = [{"role": "user", "content": "begin"}]
    second = [*first, {"role": "assistant", "content": "done"}, *first]

    def both_turns(together: Barrier) -> None:
        for messages in (first, second, first):
            together.wait(60)
            recorded(client.chat.completions.create)(model="m", messages=messages)

    with Engine() as engine, ThreadPoolExecutor(6) as pool:
        trajectories = [Trajectory() for _ in range(20)]
        for trajectory in trajectories:
            with rollout(trajectory, engine) as recording:
                together = [Barrier(6)] * 6
                list(pool.map(carried(both_turns), together))
            assert recording.calls == 18
        every = [history for t in trajectories for history in histories(t)]
        assert differences(every, engine.log) == []


def test_an_episode_that_imports_does_not_disturb_one_that_starts(
    engine: Engine,
) -> None:
    """A collection in the middle of reading sys.modules lets other threads import."""

    def another_thread_imports(phase: str, _: dict[str, int]) -> None:
        name = f"imported_meanwhile_{len(sys.modules)}"
        sys.modules[name] = types.ModuleType(name)

    before, threshold = sys.modules.copy(), gc.get_threshold()
    gc.callbacks.append(another_thread_imports)
    gc.set_threshold(1)
    try:
        for _ in range(20):
            with rollout(Trajectory(), engine):
                pass
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(another_thread_imports)
        for name in sys.modules.keys() - before.keys():
            if name.startswith("imported_meanwhile_"):
                del sys.modules[name]
