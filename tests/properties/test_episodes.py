"""G4 and G5 over generated episodes: what the agent received is recorded once, as it was asked for and came."""

from __future__ import annotations

import asyncio

import openai
import pytest
from episodes import Episode, Meanwhile, Turn, episodes
from hypothesis import HealthCheck, given, settings
from playing import Player, Told, run_sync
from recorded import differences
from scripted_engine import Engine
from trajectories import Trajectory, histories, rollout

PRODUCTION = {"base_url": "http://127.0.0.1:1/v1", "api_key": "sk-production"}
CLIENT = openai.OpenAI(**PRODUCTION)
ASYNC_CLIENT = openai.AsyncOpenAI(**PRODUCTION)
# An agent that dumps a parsed message.
pytestmark = pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
moderately = settings(
    max_examples=settings.default.max_examples,
    deadline=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)


def check(trajectory: Trajectory, player: Player, engine: Engine, calls: int) -> None:
    received = player.received()
    assert differences(histories(trajectory), engine.log, received) == []
    # Markers of one completion differ in their last digit only.
    assert calls == len({mark // 10 for mark in received})


@moderately
@given(episodes())
def test_sync_episodes_are_recorded_as_they_were(episode: Episode) -> None:
    with Engine(script=Told()) as engine:
        trajectory = Trajectory()
        player = Player(CLIENT, CLIENT, engine)
        with rollout(trajectory, engine) as seen:
            run_sync(player.play(episode))
        check(trajectory, player, engine, seen.calls)


# A stream that an agent leaves is closed by the SDK, perhaps when its loop is no more.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@moderately
@given(episodes())
def test_async_episodes_are_recorded_as_they_were(episode: Episode) -> None:
    with Engine(script=Told()) as engine:
        trajectory = Trajectory()
        player = Player(ASYNC_CLIENT, CLIENT, engine)

        async def within() -> int:
            with rollout(trajectory, engine) as seen:
                await player.play(episode)
            return seen.calls

        if episode.loop_within:
            with rollout(trajectory, engine) as seen:
                asyncio.run(player.play(episode))
            calls = seen.calls
        else:
            calls = asyncio.run(within())
        check(trajectory, player, engine, calls)


def test_a_stream_is_read_on_when_a_twin_of_its_beginning_is_continued() -> None:
    twin = Turn("create", {"contents": ["one"]})
    stream = Turn("streamed", {"contents": ["one two"]})
    reading = Meanwhile(stream, (twin, twin), chunks=3, same_conversation=True)
    with Engine(script=Told()) as engine:
        trajectory = Trajectory()
        player = Player(CLIENT, CLIENT, engine)
        with rollout(trajectory, engine) as seen:
            run_sync(player.play(Episode(None, 0, (reading,), loop_within=False)))
        check(trajectory, player, engine, seen.calls)
