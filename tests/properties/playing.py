"""Plays an episode through the recorder, and notes what its agent has received.

One player for sync and async agents: with a sync client nothing that it awaits ever
waits, so that plain code can run it (``run_sync``).
"""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar

import openai
import pydantic
from episodes import (
    TOOLS,
    Branch,
    Episode,
    Meanwhile,
    NewSystem,
    NewTools,
    Redaction,
    Step,
    SubAgent,
    Truncation,
    Turn,
)
from recorded import Received
from scripted_engine import Engine, Json, Script

from art_adapt.hooks import carried, recorded

T = TypeVar("T")
BELOW = ("openai", "httpx", "httpx2", "httpcore", "httpcore2")
ATTEMPTS = 8  # more than an episode has faults


class Told(Script):
    """Answers what the request itself asks for: its ``scripted`` lists the replies to
    its attempts.

    So a program decides what it is answered, in whatever order its threads come.
    """

    def __init__(self) -> None:
        super().__init__([])
        self.attempts: Counter[int] = Counter()

    def reply(self, request: Json) -> Json:
        told = request["scripted"]
        self.attempts[told["id"]] += 1
        at = min(self.attempts[told["id"]], len(told["replies"])) - 1
        reply: Json = told["replies"][at]
        return reply


class LetDownError(Exception):
    """The endpoint or the way to it failed: the agent tries again."""


@contextmanager
def failures_told() -> Iterator[None]:
    """Let through what is no failure of the line: errors of the recorder, or of these
    tests. The SDK passes on what its HTTP library raises.
    """
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in BELOW:
            raise
        raise LetDownError from error


class OwnError(Exception):
    """The agent's own, in the middle of a stream."""


class Answer(pydantic.BaseModel):
    """What some replies are, and most are not."""

    answer: str


@dataclass
class Reading:
    """What the agent has seen of one completion, by choice."""

    token_ids: dict[int, list[int]] = field(default_factory=dict)
    finished: set[int] = field(default_factory=set)
    messages: dict[int, Json] = field(default_factory=dict)
    broken: bool = False

    def add(self, chunk: Any) -> None:
        for choice in chunk.choices:
            ids = (choice.model_extra or {}).get("token_ids") or []
            self.token_ids.setdefault(choice.index, []).extend(ids)
            if choice.finish_reason:
                self.finished.add(choice.index)
            empty: Json = {"role": "assistant", "content": None}
            message = self.messages.setdefault(choice.index, empty)
            if choice.delta.content is not None:
                message["content"] = (message["content"] or "") + choice.delta.content
            for call in choice.delta.tool_calls or []:
                calls = message.setdefault("tool_calls", [])
                if call.id:
                    named = {"name": call.function.name, "arguments": ""}
                    calls.append({"id": call.id, "type": "function", "function": named})
                calls[call.index]["function"]["arguments"] += call.function.arguments

    def received(self) -> dict[int, Received]:
        return {
            ids[0]: Received(ids, index in self.finished)
            for index, ids in self.token_ids.items()
            if ids and not self.broken
        }


@dataclass
class Conversation:
    messages: list[Any]
    tools: Any

    def copy(self) -> Conversation:
        return Conversation(list(self.messages), self.tools)

    def set_system(self, text: str | None, *, in_place: bool) -> None:
        first = self.messages[0] if self.messages else None
        has_one = isinstance(first, dict) and first["role"] == "system"
        if has_one and in_place and text is not None:
            first["content"] = text
            return
        system = [] if text is None else [{"role": "system", "content": text}]
        self.messages[:] = system + self.messages[1 if has_one else 0 :]


class Player:
    """One agent. Its readings say what it received, whole or in part."""

    def __init__(self, client: Any, sync_client: openai.OpenAI, engine: Engine) -> None:
        self.client = client
        self.sync_client = sync_client
        self.engine = engine
        self.is_async = isinstance(client, openai.AsyncOpenAI)
        self.readings: list[Reading] = []
        self.requests = count(1)
        self.left_open: list[Any] = []

    def received(self) -> dict[int, Received]:
        return {
            mark: read
            for reading in self.readings
            for mark, read in reading.received().items()
        }

    def in_threads(self) -> Player:
        """The same agent where it runs in a thread: sync, with the same notes."""
        if not self.is_async:
            return self
        other = Player(self.sync_client, self.sync_client, self.engine)
        other.readings, other.requests = self.readings, self.requests
        other.left_open = self.left_open
        return other

    async def play(self, episode: Episode) -> None:
        talk = Conversation([], TOOLS[episode.tools])
        talk.set_system(episode.system, in_place=False)
        talk.messages.append(user("go on"))
        await self.run(episode.steps, talk)

    async def run(self, steps: Iterable[Step], talk: Conversation) -> None:
        for step in steps:
            await self.step(step, talk)

    async def step(self, step: Step, talk: Conversation) -> None:
        match step:
            case Turn():
                await self.turn(step, talk)
            case Meanwhile():
                await self.turn(step.turn, talk, step)
            case NewTools():
                talk.tools = TOOLS[step.tools]
            case NewSystem():
                talk.set_system(step.text, in_place=step.in_place)
            case Truncation():
                keep = talk.messages[:1] if len(talk.messages) > step.dropped else []
                rest = talk.messages[1 + step.dropped :]
                talk.messages[:] = keep + rest
            case Redaction():
                if -len(talk.messages) <= step.at < len(talk.messages):
                    redact(talk.messages[step.at])
            case Branch():
                other = talk.copy()
                if step.where != "here":  # or the agent would race with itself
                    other.messages = copy.deepcopy(other.messages)
                await self.both(
                    step.where,
                    lambda player: player.run(step.first, talk),
                    lambda player: player.run(step.second, other),
                )
            case SubAgent():
                inner = Conversation([], TOOLS[step.tools])
                inner.set_system(step.system, in_place=False)
                inner.messages.append(user("go on"))
                await self.both(
                    step.where,
                    lambda player: player.run(step.steps, inner),
                    lambda player: player.run((), talk),
                )

    async def both(
        self,
        where: str,
        first: Callable[[Player], Coroutine[Any, Any, None]],
        second: Callable[[Player], Coroutine[Any, Any, None]],
    ) -> None:
        """One after the other, or at once: in tasks, in carried threads, or in both."""
        if where == "here":
            await first(self)
            await second(self)
        elif self.is_async and where == "aside":
            await asyncio.gather(first(self), second(self))
        elif self.is_async:
            inner = self.in_threads()
            await asyncio.gather(
                asyncio.to_thread(lambda: run_sync(first(inner))), second(self)
            )
        else:
            with ThreadPoolExecutor(1) as pool:
                beside = pool.submit(carried(lambda: run_sync(first(self))))
                run_sync(second(self))
            beside.result()

    # -- one turn

    async def turn(
        self, turn: Turn, talk: Conversation, meanwhile: Meanwhile | None = None
    ) -> None:
        if not talk.messages:
            talk.messages.append(user(turn.user))
        number = next(self.requests)
        patience = turn.patience
        for attempt in range(ATTEMPTS):
            scripted = {"id": number, "attempt": attempt, "replies": told(turn)}
            try:
                asked = self.ask(turn, scripted, talk, patience, meanwhile)
                if self.is_async and patience is not None:
                    message = await asyncio.wait_for(asked, patience)
                else:
                    message = await asked
                break
            except (LetDownError, TimeoutError):
                if patience is not None and turn.gives_up:
                    return
                patience = None
        else:
            raise AssertionError("the engine never answered")
        if message is None:
            return
        talk.messages.append(spelled(message, turn.spelling))
        for call in (_plain(talk.messages[-1]).get("tool_calls")) or []:
            said = {"role": "tool", "tool_call_id": call["id"], "content": "seen"}
            talk.messages.append(said)
        talk.messages.append(user(turn.user))

    async def ask(
        self,
        turn: Turn,
        scripted: Json,
        talk: Conversation,
        patience: float | None,
        meanwhile: Meanwhile | None,
    ) -> Any:
        """The message that the conversation goes on with, None if there is none."""
        arguments: Json = {
            "model": "m",
            "messages": talk.messages,
            "extra_body": {"scripted": scripted},
        }
        if talk.tools is not None:
            arguments["tools"] = talk.tools
        if turn.n > 1:
            arguments["n"] = turn.n
        if not self.is_async and patience is not None:
            arguments["timeout"] = patience + 0.001
        if "streamed" in turn.form:
            arguments["stream"] = True
        if turn.form == "parse":
            return await self.parse(turn, scripted, arguments)
        with failures_told():
            answer = self.method(turn)(**arguments)
            if inspect.isawaitable(answer):
                answer = await answer
        if turn.form == "stream helper":
            return await self.managed(turn, answer, talk, meanwhile)
        if "raw" in turn.form:
            answer = answer.parse()
        if "streamed" in turn.form:
            return await self.read(turn, answer, talk, meanwhile)
        self.readings.append(whole(answer))
        return answer.choices[turn.taken].message

    def method(self, turn: Turn) -> Callable[..., Any]:
        client = self.client.with_options(max_retries=turn.retries)
        completions = client.chat.completions
        if "raw" in turn.form:
            return recorded(completions.with_raw_response.create)
        if turn.form == "stream helper":
            return recorded(completions.stream)
        return recorded(completions.create)

    async def parse(self, turn: Turn, scripted: Json, arguments: Json) -> Any:
        """What does not fit raises, but was received all the same."""
        client = self.client.with_options(max_retries=turn.retries)
        try:
            with failures_told():
                answer = recorded(client.chat.completions.parse)(
                    **arguments, response_format=Answer
                )
                if inspect.isawaitable(answer):
                    answer = await answer
        except pydantic.ValidationError:
            # The agent has not got it in hand, but it knows which one it was.
            self.readings.append(self.given(scripted))
            return None
        self.readings.append(whole(answer))
        return answer.choices[turn.taken].message

    def given(self, scripted: Json) -> Reading:
        """The completion that the engine gave to an attempt.

        Not the last one in its log: a request that the agent has long given up may get
        there after the next.
        """
        reading = Reading()
        for exchange in list(self.engine.log):
            if exchange.request["scripted"] == scripted and exchange.response:
                for choice in exchange.response["choices"]:
                    reading.token_ids[choice["index"]] = choice["token_ids"]
                    reading.finished.add(choice["index"])
        return reading

    async def managed(
        self,
        turn: Turn,
        manager: Any,
        talk: Conversation,
        meanwhile: Meanwhile | None,
    ) -> Any:
        if not self.is_async:
            with failures_told():
                stream = manager.__enter__()
            with closing(stream):
                return await self.read(turn, stream, talk, meanwhile)
        with failures_told():
            stream = await manager.__aenter__()
        async with stream:
            return await self.read(turn, stream, talk, meanwhile)

    async def read(
        self, turn: Turn, stream: Any, talk: Conversation, meanwhile: Meanwhile | None
    ) -> Any:
        reading = Reading()
        self.readings.append(reading)
        leaving = turn.leaving
        seen = 0
        try:
            while leaving is None or seen < leaving.chunks:
                if meanwhile is not None and seen == meanwhile.chunks:
                    await self.meanwhile(meanwhile, talk)
                    meanwhile = None
                try:
                    chunk = await next_chunk(stream)
                except LetDownError:
                    reading.broken = True
                    raise
                if chunk is None:
                    break
                reading.add(chunk)
                seen += 1
                if turn.pause and self.is_async:
                    await asyncio.sleep(turn.pause)
            else:
                assert leaving is not None
                if leaving.way == "raise":
                    raise OwnError
        except OwnError:
            pass
        if leaving is not None and seen == leaving.chunks:
            await self.leave(stream, leaving.way)
        elif len(reading.finished) < turn.n:  # silently, in the middle
            reading.broken = True
            if turn.notices:
                raise LetDownError
        message = reading.messages.get(turn.taken)
        said = message and (message["content"] or message.get("tool_calls"))
        return message if said else None  # with nothing said there is no way on

    async def meanwhile(self, meanwhile: Meanwhile, talk: Conversation) -> None:
        if meanwhile.same_conversation:
            inner = talk.copy()
        else:
            inner = Conversation([user("go on")], talk.tools)
        await self.run(meanwhile.steps, inner)

    async def leave(self, stream: Any, way: str) -> None:
        if way == "close":
            closed = stream.close()
            if inspect.isawaitable(closed):
                await closed
        if way == "left open":
            self.left_open.append(stream)


async def next_chunk(stream: Any) -> Any:
    """The next chunk of a stream, or of the events of a helper; None at its end."""
    while True:
        try:
            with failures_told():
                if hasattr(stream, "__anext__"):
                    event = await anext(stream)
                else:
                    event = next(stream)
        except (StopIteration, StopAsyncIteration):
            return None
        if hasattr(event, "choices"):
            return event
        if event.type == "chunk":
            return event.chunk


def told(turn: Turn) -> list[Json]:
    return [*(turn.reply | fault for fault in turn.faults), turn.reply]


def whole(completion: Any) -> Reading:
    return Reading(
        {c.index: list(c.model_extra["token_ids"]) for c in completion.choices},
        {c.index for c in completion.choices},
    )


def user(text: str) -> Json:
    """A user's message, with something in it that the SDK passes on as it is."""
    return {"role": "user", "content": text, "unknown_to_the_sdk": {"at": ["x"]}}


def redact(message: Any) -> None:
    if isinstance(message, dict):
        message["content"] = f"{message['content']} redacted"
        if "unknown_to_the_sdk" in message:
            message["unknown_to_the_sdk"]["at"].append("redacted")
    else:
        message.content = f"{message.content} redacted"


def spelled(message: Any, way: str) -> Any:
    """The model's message, as agents append it."""
    if way == "object" or (way == "objects inside" and isinstance(message, dict)):
        return message
    if way == "dump" and not isinstance(message, dict):
        return message.model_dump()
    plain = _plain(message)
    if way == "changed after":  # the object that the recorder has seen, too
        redact(message)
        return plain
    calls = plain.get("tool_calls") or []
    if way == "text only" and plain.get("content"):
        return {"role": "assistant", "content": plain.get("content") or ""}
    if way == "edited":
        plain["content"] = f"{plain.get('content') or ''} edited"
        return plain
    if way == "spelled anew":
        for call in calls:
            call["function"]["arguments"] = spaced(call["function"]["arguments"])
    if way in ("by hand", "objects inside", "spelled anew"):
        said: Json = {"role": "assistant", "content": plain.get("content") or ""}
        if calls:
            said["tool_calls"] = (
                message.tool_calls if way == "objects inside" else calls
            )
        return said | {"sender": "me"}
    return plain


def spaced(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), indent=2, ensure_ascii=False)
    except ValueError:  # half of them, of a stream that was left early
        return arguments


def _plain(message: Any) -> Json:
    if isinstance(message, dict):
        copied: Json = json.loads(json.dumps(message, default=lambda o: o.model_dump()))
        return copied
    dumped: Json = message.model_dump(exclude_none=True)
    return dumped


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run what never waits."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    raise AssertionError("synchronous code has waited")
