"""Test what is recorded where nothing is hooked: any client's requests, in a rollout."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pydantic
import pytest
from recorded import differences
from scripted_engine import Engine
from trajectories import Trajectory, choices, histories, rollout

from art_adapt.hooks import carried, recorded
from art_adapt.recording import RecordingWarning, state
from art_adapt.recording.listening import Listener

USER: Any = [{"role": "user", "content": "Delft?"}]
CALL = {"name": "weather", "arguments": {"city": "Delft"}}
TOOLS: Any = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "Of a city.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
                "additionalProperties": False,
            },
            "strict": True,
        },
    }
]


class City(pydantic.BaseModel):
    city: str


@pytest.fixture
def production() -> Iterator[Engine]:
    with Engine([{"when": {"model": "."}, "content": '{"city": "home"}'}]) as engine:
        yield engine


def recording(
    trajectory: Trajectory, engine: Engine, auxiliary: tuple[str, ...] = ()
) -> Any:
    return rollout(trajectory, engine, every_client=True, auxiliary=auxiliary)


def created(client: openai.OpenAI) -> Any:
    reply = client.chat.completions.create(model="m", messages=USER, tools=TOOLS)
    return reply.choices[0].message.content


def streamed(client: openai.OpenAI) -> Any:
    chunks = client.chat.completions.create(model="m", messages=USER, stream=True)
    return "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)


def stream_helper(client: openai.OpenAI) -> Any:
    with client.chat.completions.stream(model="m", messages=USER) as stream:
        return stream.get_final_completion().choices[0].message.content


def raw(client: openai.OpenAI) -> Any:
    create = client.chat.completions.with_raw_response.create
    answer = create(model="m", messages=USER).parse()
    return answer.choices[0].message.content


def parsed(client: openai.OpenAI) -> Any:
    reply = client.chat.completions.parse(
        model="m", messages=USER, response_format=City
    )
    city = reply.choices[0].message.parsed
    return city and f'{{"city": "{city.city}"}}'


def response(client: openai.OpenAI) -> Any:
    return client.responses.create(model="m", input="Delft?").output_text


def copied(client: openai.OpenAI) -> Any:
    return created(copy.copy(client.with_options(max_retries=0)))


WAYS = [created, streamed, stream_helper, raw, parsed, response, copied]


@pytest.mark.parametrize("way", WAYS)
def test_each_way_to_ask(way: Callable[[Any], Any], production: Engine) -> None:
    """Made before the first rollout or in it, a client's requests go to the policy."""
    before = openai.OpenAI(base_url=production.base_url, api_key="k")
    assert way(before) == '{"city": "home"}'
    alone = [exchange.body for exchange in production.log]
    trajectory = Trajectory()
    with Engine([{"when": {"model": "."}, "content": '{"city": "away"}'}]) as engine:
        with recording(trajectory, engine):
            inside = openai.OpenAI(base_url=production.base_url, api_key="k")
            assert way(before) == way(inside) == '{"city": "away"}'
        for exchange in engine.log:
            assert exchange.request["model"] == "policy"
            assert exchange.request["return_token_ids"] is True
            assert exchange.headers["Authorization"] == "Bearer sk-rollout"
        assert differences(histories(trajectory), engine.log) == []
        assert len(choices(trajectory)) == len(engine.log) == 2
    assert len(production.log) == len(alone)
    way(before)  # as it was
    assert production.log[-1].body == alone[0]


async def async_created(client: openai.AsyncOpenAI) -> Any:
    reply = await client.chat.completions.create(model="m", messages=USER)
    return reply.choices[0].message.content


async def async_streamed(client: openai.AsyncOpenAI) -> Any:
    chunks = await client.chat.completions.create(model="m", messages=USER, stream=True)
    return "".join(
        [c.choices[0].delta.content or "" async for c in chunks if c.choices]
    )


async def async_response(client: openai.AsyncOpenAI) -> Any:
    return (await client.responses.create(model="m", input="Delft?")).output_text


@pytest.mark.parametrize("way", [async_created, async_streamed, async_response])
def test_many_rollouts_side_by_side(
    way: Callable[[Any], Awaitable[Any]], production: Engine
) -> None:
    trajectories = [Trajectory() for _ in range(16)]

    async def episode(trajectory: Trajectory, engine: Engine) -> None:
        client = openai.AsyncOpenAI(base_url=production.base_url, api_key="k")
        with recording(trajectory, engine):
            assert await way(client) == "away"

    async def every(engine: Engine) -> None:
        await asyncio.gather(*(episode(each, engine) for each in trajectories))

    with Engine([{"when": {"model": "."}, "content": "away"}]) as engine:
        asyncio.run(every(engine))
        assert len(engine.log) == 16 and not production.log
    assert [len(choices(each)) for each in trajectories] == [1] * 16


def test_other_requests_and_other_rollouts_are_left_alone(production: Engine) -> None:
    client = openai.OpenAI(base_url=production.base_url, api_key="k")
    trajectory = Trajectory()
    with Engine([{"content": "away"}]) as engine:
        with recording(trajectory, engine):
            created(client)
        with rollout(Trajectory(), engine):
            assert created(client) == '{"city": "home"}'
        assert len(engine.log) == 1 and len(production.log) == 1


def test_auxiliary_stay_where_they_are_asked(production: Engine) -> None:
    client = openai.OpenAI(base_url=production.base_url, api_key="k")
    trajectory = Trajectory()
    with Engine([{"content": "away"}]) as engine:
        with recording(trajectory, engine, auxiliary=("judge",)):
            create = client.chat.completions.create
            judged = create(model="judge", messages=USER).choices[0].message
            assert created(client) == "away"
        assert judged.content == '{"city": "home"}'
        assert len(engine.log) == len(production.log) == len(choices(trajectory)) == 1


def test_a_model_that_is_auxiliary_is_so_with_a_hook(production: Engine) -> None:
    """As an opponent that the same code asks."""
    sync = openai.OpenAI(base_url=production.base_url, api_key="k")
    trajectory = Trajectory()

    async def later(model: str) -> Any:
        async with openai.AsyncOpenAI(
            base_url=production.base_url, api_key="k"
        ) as client:
            create = recorded(client.chat.completions.create)
            return await create(model=model, messages=USER)

    def now(model: str) -> Any:
        return recorded(sync.chat.completions.create)(model=model, messages=USER)

    with Engine([{"content": "away"}] * 2) as engine:
        with rollout(trajectory, engine, auxiliary=("opponent", "judge")):
            said = [now("m"), now("opponent")]
            said += [asyncio.run(later(model)) for model in ("judge", "m")]
        assert len(engine.log) == len(production.log) == len(choices(trajectory)) == 2
    texts = [each.choices[0].message.content for each in said]
    home = '{"city": "home"}'
    assert texts == ["away", home, home, "away"]


def test_a_thread_that_keeps_the_context_is_recorded(production: Engine) -> None:
    client = openai.OpenAI(base_url=production.base_url, api_key="k")
    trajectory = Trajectory()
    replies = [{"tool_calls": [CALL]}, {"content": "away"}]
    with Engine(replies) as engine, recording(trajectory, engine):
        with ThreadPoolExecutor() as pool:
            assert pool.submit(carried(created), client).result() is None
        assert created(client) == "away"
    assert len(choices(trajectory)) == 2


@pytest.mark.parametrize("way", [created, streamed, raw, parsed, response])
def test_production_is_listened_to(
    way: Callable[[Any], Any], production: Engine
) -> None:
    client = openai.OpenAI(base_url=production.base_url, api_key="k")
    way(client)
    (alone,) = production.log
    production.log.clear()
    trajectory = Trajectory()
    with Listener(trajectory, every_client=True) as listener:
        assert way(client) == '{"city": "home"}'
    (heard,) = production.log
    assert heard.body == alone.body
    assert listener.models == {"m"} and len(choices(trajectory)) == 1


def asked_of_litellm() -> Any:
    import litellm

    return litellm.completion(model="gpt-4o", messages=USER).choices[0].message.content


def asked_of_langchain() -> Any:
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model="m").invoke("Delft?").content


@pytest.mark.parametrize("ask", [asked_of_litellm, asked_of_langchain])
def test_caches_give_no_samples(
    ask: Callable[[], Any], production: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their keys would be the same for all rollouts."""
    import litellm
    from langchain_core import globals as langchain
    from langchain_core.caches import InMemoryCache

    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setattr(state, "said", set())
    litellm.enable_cache(type="local")
    langchain.set_llm_cache(InMemoryCache())
    with Engine([{"when": {"model": "."}, "content": "a {n}"}]) as engine:
        told = []
        with pytest.warns(RecordingWarning, match="'s cache is off"):
            for _ in range(2):
                with recording(Trajectory(), engine):
                    told.append(ask())
    assert told == ["a 1", "a 2"]
