"""Each fixture agent before and after adaptation, in production and in a rollout, over real HTTP (G3, G4, G5)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from agent_files import (
    NAMES,
    ROLLOUT_KEY,
    ROLLOUT_MODEL,
    TRAJECTORIES,
    adapted_copy_of,
    copy_of,
    replies_of,
    run_episode,
)
from recorded import differences
from scripted_engine import Engine, Exchange

CONCURRENT = {"parallel_subagents", "threaded"}
AUXILIARY_MODELS = {"judge_and_policy": "gpt-4.1"}


def bodies(name: str, log: list[Exchange]) -> Counter[bytes] | list[bytes]:
    """The requests as they came over the wire; without their order where the agent itself has none."""
    sent = [exchange.body for exchange in log]
    return Counter(sent) if name in CONCURRENT else sent


# Its process imports litellm, for seconds.
SLOW = "litellm_orders"
PARAMS = [pytest.param(n, marks=pytest.mark.wide) if n == SLOW else n for n in NAMES]


@pytest.fixture(params=PARAMS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def adapted(name: str, tmp_path: Path) -> Path:
    return adapted_copy_of(name, tmp_path)


def test_in_production_nothing_changes(
    name: str, adapted: Path, tmp_path: Path
) -> None:
    original = copy_of(name, tmp_path / "original")
    with Engine(replies_of(original)) as engine:
        before = run_episode(original, engine.root)
        expected = bodies(name, engine.log)
    with Engine(replies_of(adapted)) as engine:
        after = run_episode(adapted, engine.root)
        assert bodies(name, engine.log) == expected
    assert after["outcome"] == before["outcome"]
    assert set(after["imported"]) - set(before["imported"]) <= {"art_recording"}


@pytest.mark.parametrize("trajectory", TRAJECTORIES)
def test_in_a_rollout_everything_is_recorded(
    name: str, adapted: Path, trajectory: str
) -> None:
    with Engine(replies_of(adapted)) as production:
        usual = run_episode(adapted, production.root)
        requests = len(production.log)
    with (
        Engine(replies_of(adapted)) as production,
        Engine(replies_of(adapted)) as training,
    ):
        said = run_episode(
            adapted, production.root, training.base_url, trajectory=trajectory
        )
        assert differences(said["histories"], training.log) == []
        assert said["outcome"] == usual["outcome"]
        assert len(production.log) + len(training.log) == requests
        for exchange in training.log:
            assert exchange.request["model"] == ROLLOUT_MODEL
            assert exchange.headers["Authorization"] == f"Bearer {ROLLOUT_KEY}"
            assert "sk-production" not in str(exchange.headers)
        for exchange in production.log:
            assert (
                AUXILIARY_MODELS.get(name, "no auxiliary call")
                in exchange.request["model"]
            )
    assert said["answered"]
    assert said["infrastructure_error"] == "None"
    assert said["serialised"]


# In the process of the episode only, not where its replies are read.
SDKS_WAY = """
if __name__ == "episode":
    from art_adapt.recording.callees import sdk

    sdk.LARGE.clear()
"""


def test_in_a_rollout_requests_are_as_the_sdk_sends_them(
    name: str, adapted: Path
) -> None:
    """Past its pass over the messages they are the same, byte for byte."""
    sent = []
    for addition in ("", SDKS_WAY):
        episode = adapted / "episode.py"
        episode.write_text(episode.read_text() + addition)
        with (
            Engine(replies_of(adapted)) as production,
            Engine(replies_of(adapted)) as training,
        ):
            run_episode(adapted, production.root, training.base_url)
            sent.append(bodies(name, training.log))
    assert sent[0] == sent[1]


def test_a_scripted_game_ends_with_its_own_reward(tmp_path: Path) -> None:
    folder = adapted_copy_of("game", tmp_path)
    with Engine(replies_of(folder)) as training:
        said = run_episode(folder, "http://127.0.0.1:1", training.base_url)
    assert said["reward"] is not None
    assert said["outcome"].endswith(f"{said['reward']!r})")
