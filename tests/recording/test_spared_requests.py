"""Requests that go past the SDK's own pass over the messages are sent byte for byte as with it."""

from __future__ import annotations

import asyncio
import functools
import json
from collections import OrderedDict, UserDict
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import art
import openai
import pydantic
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openai.types.chat import (
    ChatCompletion,
    ChatCompletionMessage,
    ParsedChatCompletionMessage,
)
from scripted_engine import Engine

from art_adapt.recording import recorded, rollout
from art_adapt.recording.callees import sdk

USER = {"role": "user", "content": "When?"}
CALL = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
TOOL = {
    "type": "function",
    "function": {"name": "look", "parameters": {"type": "object"}},
}
TYPED = ChatCompletionMessage.model_validate(
    {"role": "assistant", "content": None, "tool_calls": [CALL]}
)
ANSWERED = (
    ChatCompletion.model_validate(
        {
            "id": "c",
            "created": 1,
            "model": "m",
            "object": "chat.completion",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "tool_calls",
                    "message": {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [CALL],
                        "reasoning_content": "é",
                        "annotations": [],
                    },
                }
            ],
        }
    )
    .choices[0]
    .message
)
PARSED = ParsedChatCompletionMessage[Any].model_validate(
    {"role": "assistant", "content": "{}", "parsed": {"a": 1}}
)


class Note(pydantic.BaseModel):
    role: str = "user"
    content: str = "typed"


class Name(str):
    """A text of a subclass."""


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine() as engine:
        yield engine


def sent(
    engine: Engine, ask: Callable[[Any, Any], Any], arguments: Callable[[], Any]
) -> Any:
    """Return the bodies of the requests that a recorded call makes, and its error."""
    start = len(engine.log)
    error = None
    endpoint = {"base_url": engine.base_url, "api_key": "sk", "model": "policy"}
    with suppress(openai.APIError), rollout(art.Trajectory(), **endpoint):
        try:
            ask(engine, arguments())
        except (TypeError, ValueError, KeyError, AttributeError) as raised:
            error = f"{type(raised).__name__}: {raised}"
    return [
        (each.body, each.headers.get("accept")) for each in engine.log[start:]
    ], error


def same(
    engine: Engine,
    ask: Callable[[Any, Any], Any],
    arguments: Callable[[], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> Any:
    spared = sent(engine, ask, arguments)
    with monkeypatch.context() as patch:
        patch.setattr(sdk, "LARGE", {})  # the SDK's way
        assert sent(engine, ask, arguments) == spared
    return spared


def client_of(engine: Engine, kind: Any = openai.OpenAI) -> Any:
    return kind(base_url=engine.base_url, api_key="sk", max_retries=0)


def create(engine: Engine, arguments: Any) -> Any:
    with client_of(engine) as client:
        return recorded(client.chat.completions.create)(**arguments)


def create_async(engine: Engine, arguments: Any) -> Any:
    async def ask() -> None:
        async with client_of(engine, openai.AsyncOpenAI) as client:
            answer = await recorded(client.chat.completions.create)(**arguments)
            if arguments.get("stream"):
                async for _ in answer:
                    pass

    asyncio.run(ask())


def parse(engine: Engine, arguments: Any) -> Any:
    with client_of(engine) as client:
        return recorded(client.chat.completions.parse)(**arguments)


def raw(engine: Engine, arguments: Any) -> Any:
    with client_of(engine) as client:
        return recorded(client.chat.completions.with_raw_response.create)(**arguments)


def stream(engine: Engine, arguments: Any) -> Any:
    with (
        client_of(engine) as client,
        recorded(client.chat.completions.stream)(**arguments) as chunks,
    ):
        list(chunks)


MESSAGES: dict[str, Callable[[], Any]] = {
    "plain": lambda: [
        USER,
        {"role": "assistant", "tool_calls": [CALL], "content": None},
    ],
    "typed": lambda: [USER, TYPED],
    "typed beside plain": lambda: [
        {**USER, "content": [{"type": "text", "text": "a"}]},
        Note(),
    ],
    "parts": lambda: [
        {"role": "user", "content": [{"type": "text", "text": "é\u2028"}]}
    ],
    "nested typed": lambda: [{"role": "assistant", "tool_calls": TYPED.tool_calls}],
    "typed elsewhere": lambda: [{"role": "assistant", "x": TYPED, "content": [TYPED]}],
    "calls in a model": lambda: [{"role": "user", "content": TYPED.tool_calls}],
    "as it came": lambda: [ANSWERED, ANSWERED],
    "parsed": lambda: [USER, PARSED],
    "calls of a tuple": lambda: [{"role": "assistant", "tool_calls": (CALL,)}],
    "tuple": lambda: (USER, USER),
    "generator": lambda: (each for each in [USER]),
    "empty": list,
    "none": lambda: None,
    "text": lambda: "hello",
    "omitted keys": lambda: [{**USER, "name": openai.NOT_GIVEN}],
    "subclass": lambda: [{"role": Name("user"), "content": Name("hi")}],
    "ordered": lambda: [OrderedDict(content="a", role="user")],
    "no dict": lambda: [UserDict(USER)],
    "unknown keys": lambda: [{**USER, "weight": 1, "x": {"y": [1.0, True, None]}}],
    "odd keys": lambda: [{**USER, 1: "a"}],
    "developer": lambda: [{"role": "developer", "content": "be brief"}, USER],
}
ARGUMENTS: dict[str, Callable[[], Any]] = {
    "alone": dict,
    "tools": lambda: {"tools": [TOOL], "tool_choice": "auto", "n": 1},
    "no tools": lambda: {"tools": []},
    "omitted tools": lambda: {"tools": openai.NOT_GIVEN, "stop": ["a"], "user": "u"},
    "tools of a tuple": lambda: {"tools": (TOOL,)},
    "body of its own": lambda: {"extra_body": {"top_k": 3, "messages": [USER, USER]}},
    "headers": lambda: {
        "extra_headers": {"x": "y"},
        "extra_query": {"a": "b"},
        "timeout": 9,
    },
    "streamed": lambda: {"stream": True, "stream_options": {"include_usage": True}},
    "unknown": lambda: {"no_such_argument": 1},
}


PAIRS = [
    *((messages, "tools") for messages in MESSAGES),
    *((messages, "streamed") for messages in MESSAGES),
    *((messages, name) for messages in ("plain", "as it came") for name in ARGUMENTS),
]


@pytest.mark.parametrize(("messages", "arguments"), dict.fromkeys(PAIRS))
def test_what_is_sent(
    messages: str, arguments: str, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for ask in (create, create_async):
        same(
            engine,
            ask,
            lambda: {
                "model": "m",
                "messages": MESSAGES[messages](),
                **ARGUMENTS[arguments](),
            },
            monkeypatch,
        )


@pytest.mark.parametrize("ask", [parse, raw, stream], ids=lambda way: way.__name__)
@pytest.mark.parametrize("messages", MESSAGES)
def test_other_ways_to_ask(
    messages: str, ask: Any, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    same(
        engine,
        ask,
        lambda: {"model": "m", "messages": MESSAGES[messages]()},
        monkeypatch,
    )


texts = st.text(max_size=8) | st.sampled_from(["\u2028", "é", '"', "\ud83d\ude00"])
atoms = texts | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False)
values = st.recursive(
    atoms,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)
    ),
    max_leaves=6,
)
roles = st.sampled_from(
    ["system", "developer", "user", "assistant", "tool", "function", "odd"]
)
parts = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "image_url", "input_audio", "refusal"])},
        optional={"text": texts, "image_url": values, "input_audio": values},
    ),
    max_size=2,
)
messages = st.lists(
    st.fixed_dictionaries(
        {"role": roles},
        optional={
            "content": texts | st.none() | parts,
            "tool_calls": st.lists(
                st.fixed_dictionaries({"id": texts, "function": values})
            ),
            "tool_call_id": texts,
            "name": texts,
            "audio": values,
            "function_call": values,
            "extra": values,
        },
    ),
    max_size=4,
)
requests = st.fixed_dictionaries(
    {"messages": messages, "model": st.just("m")},
    optional={
        "tools": st.lists(
            st.fixed_dictionaries({"type": st.just("function"), "function": values})
        ),
        "metadata": st.dictionaries(texts, texts, max_size=2),
        "response_format": st.just({"type": "json_object"}),
        "seed": st.integers(0, 9),
        "extra_body": st.dictionaries(texts, values, max_size=2),
    },
)


@given(request=requests)
@settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_random_requests(
    request: dict[str, Any], engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    same(engine, create, lambda: request, monkeypatch)


def test_what_is_plain_is_spared(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The SDK looks through the rest alone; what is not plain goes all its way."""
    from openai.resources.chat.completions import completions

    seen = []
    transform = completions.maybe_transform
    monkeypatch.setattr(
        completions,
        "maybe_transform",
        lambda body, kind: (
            seen.append(len(list(body["messages"]))) or transform(body, kind)
        ),
    )
    for ask in (create, raw):  # openai 3 parses elsewhere
        sent(engine, ask, lambda: {"model": "m", "messages": [USER, USER]})
        sent(engine, ask, lambda: {"model": "m", "messages": [USER, TYPED]})
        sent(engine, ask, lambda: {"model": "m", "messages": [USER, Note()]})
    assert seen == [0, 0, 2] * 2


def test_what_is_sent_later_may_grow_until_then(engine: Engine) -> None:
    """A manager's request is read when it is entered."""

    def ask(engine: Engine, arguments: Any) -> None:
        with client_of(engine) as client:
            asking = recorded(client.chat.completions.stream)(**arguments)
            arguments["messages"].append(USER)
            with asking as chunks:
                list(chunks)

    [(body, _)], error = sent(engine, ask, lambda: {"model": "m", "messages": [USER]})
    assert error is None and len(json.loads(body)["messages"]) == 2


@pytest.mark.parametrize(
    "ask", [create, create_async, raw], ids=lambda way: way.__name__
)
def test_a_tracer_sees_the_messages(
    ask: Any, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrapper around the SDK's method reads its arguments, in a rollout as well."""
    seen = []
    resources: Any = openai.resources.chat
    owner = resources.AsyncCompletions if ask is create_async else resources.Completions
    original = owner.create

    @functools.wraps(original)
    def traced(self: Any, *args: Any, **kwargs: Any) -> Any:
        seen.append(kwargs["messages"])
        return original(self, *args, **kwargs)

    monkeypatch.setattr(owner, "create", traced)
    sent(engine, ask, lambda: {"model": "m", "messages": [USER]})
    assert seen == [[USER]]


def test_a_request_is_as_it_was_when_it_was_made(engine: Engine) -> None:
    """What an agent changes while a request waits to be sent again is not in it."""
    messages = [{"role": "user", "content": [{"type": "text", "text": "before"}]}]
    start = len(engine.log)
    arguments = {"model": "m", "messages": messages}
    spared = sdk._spared("create", arguments)["extra_body"]["messages"]
    messages[0]["content"][0]["text"] = "after"  # type: ignore[index]
    assert spared[0]["content"][0]["text"] == "before"
    assert len(engine.log) == start
