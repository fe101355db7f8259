"""Test the tripwire: a completion that no hook sees is reported, or is named auxiliary."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import openai
import pydantic
import pytest
from scripted_engine import Engine
from trajectories import Trajectory, choices, rollout

from art_adapt.hooks import recorded
from art_adapt.recording import RecordingError, RecordingWarning, state
from art_adapt.recording.listening import Listener

USER: Any = [{"role": "user", "content": "Delft?"}]
HERE = Path(__file__).name


class City(pydantic.BaseModel):
    city: str


@pytest.fixture
def production() -> Iterator[Engine]:
    with Engine([{"when": {"model": "."}, "content": '{"city": "home"}'}]) as engine:
        yield engine


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine([{"when": {"model": "."}, "content": "away"}]) as engine:
        yield engine


@pytest.fixture
def client(production: Engine) -> openai.OpenAI:
    return openai.OpenAI(base_url=production.base_url, api_key="k")


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "said", set())


def directly(client: openai.OpenAI) -> None:
    client.chat.completions.create(model="m", messages=USER)


def by_getattr(client: openai.OpenAI) -> None:
    completions = client.chat.completions
    ask = getattr(completions, "parse", None) or completions.create
    ask(model="m", messages=USER, response_format=City)


def by_table(client: openai.OpenAI) -> None:
    {"chat": client.chat.completions.create}["chat"](model="m", messages=USER)


def by_copy(client: openai.OpenAI) -> None:
    client.with_options(timeout=9).chat.completions.create(model="m", messages=USER)


def raw(client: openai.OpenAI) -> None:
    client.chat.completions.with_raw_response.create(model="m", messages=USER)


def streamed(client: openai.OpenAI) -> None:
    list(client.chat.completions.create(model="m", messages=USER, stream=True))


def response(client: openai.OpenAI) -> None:
    client.responses.create(model="m", input="Delft?")


def posted(client: openai.OpenAI) -> None:
    body = {"model": "m", "messages": USER}
    client.post("/chat/completions", body=body, cast_to=object)


def awaited(client: openai.OpenAI) -> None:
    async def ask() -> None:
        other = openai.AsyncOpenAI(base_url=client.base_url, api_key="k")
        await other.chat.completions.create(model="m", messages=USER)

    asyncio.run(ask())


def gathered(client: openai.OpenAI) -> None:
    async def ask() -> None:
        other = openai.AsyncOpenAI(base_url=client.base_url, api_key="k")
        await asyncio.gather(other.chat.completions.create(model="m", messages=USER))

    asyncio.run(ask())


WAYS = [
    directly,
    by_getattr,
    by_table,
    by_copy,
    raw,
    streamed,
    response,
    posted,
    awaited,
    gathered,
]


@pytest.mark.parametrize("way", WAYS)
def test_a_call_without_a_hook_is_made_and_reported(
    way: Callable[[openai.OpenAI], None],
    client: openai.OpenAI,
    engine: Engine,
    production: Engine,
) -> None:
    with (
        pytest.warns(RecordingWarning, match="called m without a hook") as given,
        rollout(Trajectory(), engine) as recording,
    ):
        way(client)
    (asked,) = recording.unhooked
    assert production.log and not engine.log
    if way is not gathered:  # the SDK's coroutine is a task of its own
        assert asked.file == __file__ and asked.function.startswith(way.__name__)
        # Python may collect what other tests have left open meanwhile, and say so.
        said = next(str(w.message) for w in given if w.category is RecordingWarning)
        assert f"{HERE}:{asked.line}: {asked.function} called m" in said


@pytest.mark.parametrize("way", WAYS)
def test_strict_stops_it_before_it_is_made(
    way: Callable[[openai.OpenAI], None],
    client: openai.OpenAI,
    engine: Engine,
    production: Engine,
) -> None:
    with (
        pytest.raises(RecordingError, match=r"AUXILIARY|--auxiliary"),
        rollout(Trajectory(), engine, strict=True),
        contextlib.suppress(Exception),
    ):  # as agents do
        way(client)
    assert not production.log and not engine.log


@pytest.mark.parametrize("home", ["site-packages", "agents"])
def test_where_a_library_asks_every_client_is_the_remedy(
    home: str,
    client: openai.OpenAI,
    engine: Engine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its file is nobody's to adapt."""
    (tmp_path / home).mkdir()
    (tmp_path / home / f"asks_{home[:4]}.py").write_text(
        "async def ask(client, messages):\n"
        "    await client.chat.completions.create(model='m', messages=messages)\n"
    )
    monkeypatch.syspath_prepend(tmp_path / home)
    library = importlib.import_module(f"asks_{home[:4]}")
    other = openai.AsyncOpenAI(base_url=client.base_url, api_key="k")

    async def gathered() -> None:
        await asyncio.gather(library.ask(other, USER))

    with (
        pytest.raises(RecordingError) as raised,
        rollout(Trajectory(), engine, strict=True),
        contextlib.suppress(Exception),
    ):
        asyncio.run(gathered())
    told = "every_client=True" in str(raised.value)
    assert told is (home == "site-packages")


@pytest.mark.filterwarnings("error::art_adapt.recording.RecordingWarning")
@pytest.mark.parametrize("way", WAYS)
def test_what_asks_auxiliary_is_left_alone(
    way: Callable[[openai.OpenAI], None],
    client: openai.OpenAI,
    engine: Engine,
    production: Engine,
) -> None:
    named = ("m",) if way is gathered else (way.__name__,)
    with rollout(Trajectory(), engine, strict=True, auxiliary=named) as recording:
        way(client)
    assert production.log and not engine.log and not recording.unhooked


class Memory:
    def __init__(self, client: openai.OpenAI) -> None:
        self.client = client

    def summarise(self) -> None:
        self.ask()

    def ask(self) -> None:
        directly(self.client)


@pytest.mark.parametrize("name", ["Memory", "Memory.summarise", "summarise", "ask"])
def test_a_function_is_named_with_all_that_it_calls(
    name: str, client: openai.OpenAI, engine: Engine
) -> None:
    with rollout(Trajectory(), engine, strict=True, auxiliary=[name]):
        Memory(client).summarise()


@pytest.mark.parametrize("name", ["Mem", "summary", "gpt-4", "<module>", ""])
def test_a_name_is_a_whole_name(
    name: str, client: openai.OpenAI, engine: Engine
) -> None:
    with (
        pytest.raises(RecordingError),
        rollout(Trajectory(), engine, strict=True, auxiliary=[name]),
    ):
        Memory(client).summarise()
    with (
        pytest.raises(RecordingError),
        rollout(Trajectory(), engine, strict=True, auxiliary=[name]),
    ):
        client.chat.completions.create(model="gpt-4.1", messages=USER)


def test_where_nobody_can_tell_who_asks_it_only_warns(
    client: openai.OpenAI, engine: Engine, production: Engine
) -> None:
    with (
        pytest.warns(RecordingWarning, match="a separate task called m"),
        rollout(Trajectory(), engine, strict=True, auxiliary=["rank"]),
    ):
        gathered(client)
    assert production.log


def test_a_place_is_reported_once(client: openai.OpenAI, engine: Engine) -> None:
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        for _ in range(2):
            with rollout(Trajectory(), engine) as recording:
                directly(client)
                directly(client)
            assert len(recording.unhooked) == 1
    assert len([w for w in given if w.category is RecordingWarning]) == 1


@pytest.mark.filterwarnings("error::art_adapt.recording.RecordingWarning")
def test_what_is_hooked_or_asks_for_no_turn_is_not_reported(
    client: openai.OpenAI, engine: Engine
) -> None:
    trajectory = Trajectory()
    with rollout(trajectory, engine, strict=True) as recording:
        recorded(client.chat.completions.create)(model="m", messages=USER)
        recorded(client.responses.create)(model="m", input="Delft?")
        for ask in (
            lambda: client.embeddings.create(model="e", input="Delft"),
            lambda: client.chat.completions.list(),
            lambda: client.models.list(),
        ):
            with contextlib.suppress(Exception):  # production answers with a turn
                ask()
    assert len(choices(trajectory)) == 2 and not recording.unhooked


@pytest.mark.filterwarnings("error::art_adapt.recording.RecordingWarning")
def test_production_and_judges_ask_what_they_like(
    client: openai.OpenAI, engine: Engine, production: Engine
) -> None:
    with Listener(Trajectory()):
        recorded(client.chat.completions.create)(model="m", messages=USER)
        directly(client)
        in_a_bare_thread(directly, client)
    with rollout(Trajectory(), engine, strict=True), state.judging():
        directly(client)
    directly(client)
    assert len(production.log) == 5


def test_an_api_that_cannot_be_recorded_is_reported_where_every_client_is(
    client: openai.OpenAI, engine: Engine
) -> None:
    with (
        pytest.raises(RecordingError, match="called m at /completions without a hook"),
        rollout(Trajectory(), engine, strict=True, every_client=True),
    ):
        client.completions.create(model="m", prompt="Delft?")


def in_a_bare_thread(function: Callable[[Any], Any], client: openai.OpenAI) -> None:
    with ThreadPoolExecutor() as pool:
        pool.submit(function, client).result()


def test_a_lost_context_ends_an_episode_whose_every_client_counts(
    client: openai.OpenAI, engine: Engine, production: Engine
) -> None:
    lost = "outside its rollout while training"
    with (
        pytest.raises(RecordingError, match=lost),
        rollout(Trajectory(), engine, strict=True, every_client=True),
    ):
        in_a_bare_thread(directly, client)
    assert not production.log
    with (
        pytest.warns(RecordingWarning, match=lost),
        rollout(Trajectory(), engine, strict=True),
    ):
        in_a_bare_thread(directly, client)
    assert production.log and not engine.log


@pytest.mark.parametrize("hooked", [True, False])
def test_alone_in_its_process_a_rollout_gets_what_has_lost_its_context(
    hooked: bool,
    client: openai.OpenAI,
    engine: Engine,
    production: Engine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def ask(client: openai.OpenAI) -> None:
        create = client.chat.completions.create
        (recorded(create) if hooked else create)(model="m", messages=USER)

    monkeypatch.setattr(state, "_only", None)
    state.expect_one_rollout()
    trajectory = Trajectory()
    with rollout(trajectory, engine, strict=True, every_client=not hooked):
        in_a_bare_thread(ask, client)
    assert len(choices(trajectory)) == 1 and not production.log
    again = Trajectory()  # beside what the first one may have left behind
    with (
        pytest.raises(RecordingError, match="outside its rollout"),
        rollout(again, engine, strict=True, every_client=not hooked),
    ):
        in_a_bare_thread(ask, client)
    assert not choices(again)


def test_arts_own_judge_is_no_part_of_an_episode(
    client: openai.OpenAI,
    engine: Engine,
    production: Engine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Train modules may be edited to call it, beside other groups' rollouts."""
    from art.rewards import ruler

    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", str(client.base_url))

    def judge(_: openai.OpenAI) -> None:
        with contextlib.suppress(ValueError):  # production's judgement is no JSON of it
            asyncio.run(ruler([USER, USER], judge_model="openai/judge"))

    with rollout(Trajectory(), engine, strict=True, every_client=True):
        in_a_bare_thread(judge, client)
    assert production.log and not engine.log
