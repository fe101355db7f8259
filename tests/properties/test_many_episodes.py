"""G4 and G5 with 256 generated episodes at once: none has what is another's."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import openai
import pytest
from episodes import Episode, episodes
from hypothesis.errors import NonInteractiveExampleWarning
from playing import Player, Told, run_sync
from recorded import differences
from scripted_engine import Engine
from trajectories import Trajectory, histories, rollout

AT_ONCE, KINDS = 256, 32
PRODUCTION = {"base_url": "http://127.0.0.1:1/v1", "api_key": "sk-production"}
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings"),
]


@pytest.fixture(scope="module")
def generated() -> list[Episode]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NonInteractiveExampleWarning)
        kinds = [episodes().example() for _ in range(KINDS)]
    return kinds * (AT_ONCE // KINDS)


@contextmanager
def engines() -> Iterator[list[Engine]]:
    with ExitStack() as opened:
        yield [opened.enter_context(Engine(script=Told())) for _ in range(AT_ONCE)]


def check(
    trajectory: Trajectory, player: Player, engine: Engine, calls: int
) -> list[str]:
    received = player.received()
    lost = calls - len({mark // 10 for mark in received})
    found = differences(histories(trajectory), engine.log, received)
    return [*found, *([f"{lost} calls"] if lost else [])]


def test_in_threads(generated: list[Episode]) -> None:
    client = openai.OpenAI(**PRODUCTION)

    def run(episode: Episode, engine: Engine) -> list[str]:
        trajectory, player = Trajectory(), Player(client, client, engine)
        with rollout(trajectory, engine) as seen:
            run_sync(player.play(episode))
        return check(trajectory, player, engine, seen.calls)

    with engines() as servers, ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(run, generated, servers))
    assert [each for each in found if each] == []


def test_in_tasks(generated: list[Episode]) -> None:
    client, sync_client = openai.AsyncOpenAI(**PRODUCTION), openai.OpenAI(**PRODUCTION)

    async def run(episode: Episode, engine: Engine) -> list[str]:
        trajectory, player = Trajectory(), Player(client, sync_client, engine)
        with rollout(trajectory, engine) as seen:
            await player.play(episode)
        return check(trajectory, player, engine, seen.calls)

    async def together(servers: list[Engine]) -> list[list[str]]:
        return await asyncio.gather(*map(run, generated, servers))

    with engines() as servers:
        found = asyncio.run(together(servers))
    assert [each for each in found if each] == []
