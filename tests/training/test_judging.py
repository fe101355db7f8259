"""RULER's judge sees whole episodes, and its hiccups cost no run."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import art
import pytest
from scripted_engine import Engine

from art_adapt import training
from art_adapt.recording.histories import new_history
from art_adapt.training import judging


class Scenario(training.Scenario):
    question: str


class Judge:
    """A judge that answers as ``answer`` says, for the episodes that it is shown."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)

    def reply(self, request: dict[str, Any]) -> dict[str, Any]:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, int):
            return {"error": answer}
        if isinstance(answer, str):
            return {"content": answer}
        shown = str(request["messages"][-1]["content"])
        if isinstance(answer, dict):  # by what an episode says
            shown_by_id = re.findall(r'<trajectory id="(\d+)">(.*?)</traj', shown, re.S)
            answer = [
                (id_, score)
                for id_, text in reversed(shown_by_id)  # in whatever order
                for said, score in answer.items()
                if said in text
            ]
        scores = [
            {"trajectory_id": str(id_), "explanation": f"worth {score}", "score": score}
            for id_, score in answer
        ]
        return {"content": json.dumps({"scores": scores})}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "PAUSE", 0.01)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    with Engine() as engine:
        monkeypatch.setenv("OPENAI_BASE_URL", engine.base_url)
        monkeypatch.setenv("OPENAI_API_BASE", engine.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-judge")
        yield engine


RIGHT = {"text of one": 0.2, "text of two": 0.9}
TOOL = {"type": "function", "function": {"name": "look_up", "parameters": {}}}


def planned_and_written(
    text: str, answer: object = None, **metrics: Any
) -> training.Trajectory:
    """An episode of an agent that plans in one conversation and writes in another."""
    trajectory = training.Trajectory(
        messages_and_choices=[
            {"role": "user", "content": "plan"},
            {"role": "assistant", "content": f"plan of {text}"},
        ],
        metrics=metrics,
        metadata={"histories": "plan, write"},
    )
    written: Any = [
        {"role": "user", "content": "write"},
        {"role": "assistant", "content": f"text of {text}"},
    ]
    trajectory.additional_histories.append(new_history(trajectory, [TOOL], written))
    trajectory.final_answer = answer
    trajectory.scenario = Scenario(
        question="Delft?", reference="22 degrees", rubric="Names the unit."
    )
    return trajectory


def judge(engine: Engine, script: Judge, *episodes: Any, **options: Any) -> Any:
    engine.script = script  # type: ignore[assignment]
    ruler = training.ruler("openai/gpt-5.4", **options)
    return asyncio.run(ruler(art.TrajectoryGroup(list(episodes))))


def test_the_judge_sees_the_whole_episode(engine: Engine) -> None:
    group = judge(
        engine,
        Judge(RIGHT),
        planned_and_written("one", {"degrees": 22}),
        planned_and_written("two", truncated=True, timed_out=True),
    )
    system, user = (m["content"] for m in engine.log[0].request["messages"])
    for said in ("plan of one", "text of one", "text of two", "degrees", "look_up"):
        assert said in user, user
    assert '"conversation", "name": "write"' in user
    assert "it ran out of time" in user and "cut off" in user
    assert "Names the unit." in system and "22 degrees" in system
    assert [t.reward for t in group.trajectories] == [0.2, 0.9]
    assert group.trajectories[1].logs == ["RULER: worth 0.9"]
    assert training.usable([group]) == [group]


def test_the_judge_keeps_its_key_whatever_an_agent_does(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a rollout, an agent is given the key and the address of the model in training."""
    ruler = training.ruler("openai/gpt-5.4", extra_litellm_params={"seed": 7})
    engine.script = Judge(RIGHT)  # type: ignore[assignment]
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-policy")
    group = art.TrajectoryGroup(
        [planned_and_written("one"), planned_and_written("two")]
    )
    asyncio.run(ruler(group))
    assert [t.reward for t in group.trajectories] == [0.2, 0.9]
    (exchange,) = engine.log
    assert exchange.headers["Authorization"] == "Bearer sk-judge"
    assert exchange.request["seed"] == 7


def test_scores_belong_to_the_episode_that_they_name(engine: Engine) -> None:
    episodes = (planned_and_written("one"), planned_and_written("two"))
    group = judge(engine, Judge(RIGHT), *episodes)
    assert [t.reward for t in group.trajectories] == [0.2, 0.9]


def test_the_judge_sees_them_in_random_order(engine: Engine) -> None:
    """Judges prefer places, and ART gives those first that ended first."""
    firsts = set()
    ruler = training.ruler("openai/gpt-5.4")
    engine.script = Judge(RIGHT)  # type: ignore[assignment]

    async def judge_often() -> None:
        for _ in range(12):
            episodes = [planned_and_written("one"), planned_and_written("two")]
            await ruler(art.TrajectoryGroup(episodes))
            assert [t.reward for t in episodes] == [0.2, 0.9]
            user = engine.log[-1].request["messages"][-1]["content"]
            firsts.add("text of one" in user.partition('id="2"')[0])

    asyncio.run(judge_often())
    assert firsts == {True, False}


@pytest.mark.parametrize("hiccup", [500, "no JSON", [(1, 1.0)], [(1, 1.0), (3, 0.0)]])
def test_a_hiccup_of_the_judge_costs_nothing(
    engine: Engine, hiccup: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = Judge(hiccup, RIGHT)
    episodes = (planned_and_written("one"), planned_and_written("two"))
    group = judge(engine, script, *episodes)
    assert [t.reward for t in group.trajectories] == [0.2, 0.9]


def test_a_judge_that_is_down_is_named_and_the_group_left_out(
    engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    group = judge(engine, Judge("no JSON"), planned_and_written("one"))
    assert training.usable([group]) == []
    said = capsys.readouterr().out
    assert (
        "1 groups left out because they have no score: RULER could not judge this group"
        in said
    )
    assert "lost" not in said and len(engine.log) == judging.ATTEMPTS


@pytest.mark.parametrize(("split", "kind"), [("train", "train"), ("val", "eval")])
def test_what_the_judge_costs_is_logged(
    split: str, kind: str, engine: Engine, tmp_path: Path
) -> None:
    engine.script = Judge([(1, 0.5)])  # type: ignore[assignment]
    model: Any = training.make_model("run", "tests", "a/model")
    model.base_path = str(tmp_path)

    async def step() -> None:
        with training.costs_of(model, split):
            group = art.TrajectoryGroup([planned_and_written("one")])
            await training.ruler("openai/gpt-4.1")(group)
        await model.log(metrics={"reward": 0.5}, split=split, step=1)

    asyncio.run(step())
    (row,) = map(json.loads, next(tmp_path.rglob("history.jsonl")).open())
    assert row[f"costs/{kind}/judge/ruler"] > 0


def test_a_share_of_rulers_score(engine: Engine) -> None:
    episode = planned_and_written("one")
    episode.reward = 1.0
    group = judge(engine, Judge([(1, 0.5)]), episode, weight=0.25)
    (judged,) = group.trajectories
    assert judged.reward == 0.875 and judged.metrics["ruler"] == 0.5
