"""``art_adapt.training`` by itself, in one process: what train modules import."""

from __future__ import annotations

import asyncio
import dataclasses
import importlib
import json
import multiprocessing
import os
import pickle
import sys
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

import art
import openai
import pytest
from scripted_engine import Engine

from art_adapt import training
from art_adapt.hooks import final_answer, recorded, reward
from art_adapt.recording import EndpointError, RecordingError
from art_adapt.recording.histories import new_history
from art_adapt.scenarios.rows import identity
from art_adapt.training import isolation, judging
from art_adapt.training.episodes import NOTHING_HAPPENED
from art_adapt.training.reports import report
from art_adapt.training.rewards import RewardError


@pytest.fixture(autouse=True)
def backend(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this machine have what ART's local backend imports."""
    monkeypatch.setattr("art_adapt.training.models.missing_for_local", lambda: None)


class Scenario(training.Scenario):
    question: str
    times: int = 1


# ---------------------------------------------------------------------------- scenarios

FORMS = {
    "rows.jsonl": '{"question": "a", "times": 2}\n\n{"question": "b", "gold": 1}\n',
    "rows.csv": "question,times,gold\na,2,\nb,1,1\n",
    "rows.tsv": "question\ttimes\na\t2\nb\t1\n",
}


@pytest.mark.parametrize("name", FORMS)
def test_files_of_scenarios(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(FORMS[name])
    first, second = training.load_scenarios(Scenario, str(path))
    assert (first.question, first.times, second.question) == ("a", 2, "b")


def test_further_keys_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(FORMS["rows.jsonl"])
    assert training.load_scenarios(Scenario, str(path))[1].model_extra == {"gold": 1}


def test_scenarios_of_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = ModuleType("rows_of_a_test")
    module.ROWS = [{"question": "a"}, Scenario(question="b")]
    monkeypatch.setitem(sys.modules, "rows_of_a_test", module)
    loaded = training.load_scenarios(Scenario, "rows_of_a_test:ROWS")
    assert [scenario.question for scenario in loaded] == ["a", "b"]
    with pytest.raises(SystemExit, match="rows_of_a_test:NONE: "):
        training.load_scenarios(Scenario, "rows_of_a_test:NONE")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "rows.jsonl",
            '{"question": "a"}\n{"wrong": 1}\n',
            r"rows.jsonl:2: not a scenario, whose keys are question, times: question: Field required$",
        ),
        ("rows.jsonl", '{"question": "a"}\n{half\n', "rows.jsonl:2: "),
        ("rows.csv", "other\nx\n", "rows.csv:2: "),
        ("rows.jsonl", None, "one JSON object per line, with the keys question, times"),
        ("rows.csv", None, "a CSV file with the header question,times"),
        ("rows", None, "save a dataset there, with the columns question, times"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    name: str, text: str | None, said: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    with pytest.raises(SystemExit, match=said):
        training.load_scenarios(Scenario, str(path))


@pytest.mark.parametrize(
    ("count", "held_out"), [(4, 0), (20, 4), (100, 20), (150, 20), (400, 20)]
)
def test_some_are_held_out_the_same_in_every_run(count: int, held_out: int) -> None:
    rows = [Scenario(question=str(n)) for n in range(count)]
    kept, validation = training.split(rows)
    assert (len(kept), len(validation)) == (count - held_out, held_out)
    assert training.split(rows[::-1])[1] == validation


def test_rows_that_are_added_do_not_hold_out_what_was_trained_on() -> None:
    rows = [Scenario(question=str(n)) for n in range(150)]
    trained, held_out = training.split(rows[:100])
    _, later = training.split(rows)
    assert len(later) == 20 and not [each for each in later if each in trained]
    assert [each for each in later if each in held_out]


def test_one_question_under_two_ids_is_one_scenario() -> None:
    rows = [Scenario(question=str(n % 50), id=n) for n in range(100)]
    kept, held_out = training.split(rows)
    assert len(held_out) == 10 and len(kept) == 80
    asked = {each.question for each in kept}
    assert asked.isdisjoint(each.question for each in held_out)


def test_what_tells_a_scenario_is_the_same_in_every_process() -> None:
    class Tagged(training.Scenario):
        tags: set[str]
        settings: dict[str, int]

    one = Tagged(tags={"a", "b", "c"}, settings={"x": 1, "y": 2})
    other = Tagged(tags={"c", "b", "a"}, settings={"y": 2, "x": 1})
    assert identity(one) == identity(other)
    asked = [{"role": "user", "content": "?"}]
    answers = [
        training.RecordedRequest(messages=asked, reference=each) for each in "ab"
    ]
    assert identity(answers[0]) == identity(answers[1])


def test_a_group_says_which_scenario_it_is_of() -> None:
    named = [Scenario(question="a", id=7), Scenario(question="b", scenario_id="x")]
    assert [training.metadata_of(s)["scenario_id"] for s in named] == ["7", "x"]
    others = [Scenario(question=q) for q in "aab"]
    first, same, other = (training.metadata_of(s)["scenario_id"] for s in others)
    assert first == same != other


# ------------------------------------------------------------------------- command line

SETTINGS = {
    "PROJECT": "tests",
    "RUN_NAME": "run",
    "SCENARIOS": "rows.jsonl",
    "ROLLOUTS_PER_GROUP": 4,
    "GROUPS_PER_STEP": 2,
    "EPOCHS": 3,
    "MAX_STEPS": 50,
}


def prepared(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *arguments: str, **constants: Any
) -> training.Run[Scenario]:
    """Call ``prepare`` as a train module in ``tmp_path`` does."""
    module = {"__file__": str(tmp_path / "agent_train.py"), "__doc__": "Trains."}
    monkeypatch.setattr(sys, "argv", ["agent_train.py", *arguments])
    return training.prepare(Scenario, {**module, **SETTINGS, **constants})


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    lines = [json.dumps({"question": str(n)}) for n in range(10)]
    path.write_text("\n".join(lines))
    return path


def test_scenarios_lie_beside_the_module(
    rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    run = prepared(monkeypatch, tmp_path, "--show-trajectories", "3", BACKEND="local")
    assert (len(run.scenarios), len(run.validation), run.shown) == (8, 2, 3)
    other = tmp_path / "other.jsonl"
    other.write_text('{"question": "else"}')
    run = prepared(monkeypatch, tmp_path, "--validation", str(other))
    assert (len(run.scenarios), len(run.validation), run.backend) == (10, 1, "local")
    with pytest.raises(SystemExit, match="also in --validation"):
        prepared(monkeypatch, tmp_path, "--validation", str(rows))


def test_all_rows_of_a_validation_file_are_held_out(
    rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = [json.dumps({"question": str(n)}) for n in range(60)]
    rows.write_text("\n".join(written))
    other = tmp_path / "held.jsonl"
    other.write_text("\n".join(written[:40]))
    run = prepared(monkeypatch, tmp_path, "--validation", str(other))
    assert (len(run.scenarios), len(run.validation)) == (20, 40)
    run = prepared(
        monkeypatch, tmp_path, "--validation", str(other), VALIDATION_SCENARIOS=5
    )
    assert (len(run.scenarios), len(run.validation)) == (20, 5)


SCORES = {"scores": [{"trajectory_id": n, "explanation": "", "score": 1} for n in "12"]}


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """What answers where ``openai/judge`` is asked: two scores, whatever it is shown."""
    with Engine(
        [{"when": {"model": "judge"}, "content": json.dumps(SCORES)}]
    ) as engine:
        for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
            monkeypatch.setenv(name, engine.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-judge")
        yield engine


def test_scores_that_cannot_be_compared_are_said(
    judge: Engine,
    rows: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def said(rows_: list[dict[str, Any]], **constants: Any) -> str:
        rows.write_text("\n".join(map(json.dumps, rows_)))
        prepared(monkeypatch, tmp_path, JUDGE_MODEL="openai/judge", **constants)
        return capsys.readouterr().out

    assert "hardly comparable" not in said(
        [{"question": str(n)} for n in range(10)], RULER_WEIGHT=0.5
    )

    plain = [{"question": str(n)} for n in range(10)]
    assert "hardly comparable" in said(plain)
    assert "hardly comparable" not in said([r | {"reference": "22"} for r in plain])
    assert "hardly comparable" not in said(plain[:3])  # nothing is held out
    assert "hardly comparable" not in said(plain, VALIDATION_SCENARIOS=0)


def test_a_runs_name_is_a_files_name_too(
    rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit):
        prepared(monkeypatch, tmp_path, "--run-name", "team/run")


def test_what_no_judge_can_mend_comes_before_the_judge(
    judge: Engine, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "art_adapt.training.models.missing_for_local", lambda: "no torch here"
    )
    with pytest.raises(SystemExit, match="the local backend cannot start: no torch"):
        prepared(monkeypatch, tmp_path, JUDGE_MODEL="openai/judge")
    assert not judge.log


def test_a_judge_is_asked_once_before_anything_starts(
    judge: Engine, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(monkeypatch, tmp_path, JUDGE_MODEL="openai/judge")
    assert len(judge.log) == 1
    monkeypatch.setattr(judging, "PAUSE", 0.01)
    judge.script.replies = [{"when": {"messages": "."}, "content": "no JSON"}]
    with pytest.raises(
        SystemExit, match=r"RULER's judge, openai/judge, gave no scores"
    ):
        prepared(monkeypatch, tmp_path, JUDGE_MODEL="openai/judge")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(SystemExit, match="Not set: ANTHROPIC_API_KEY"):
        prepared(monkeypatch, tmp_path, JUDGE_MODEL="anthropic/claude")


def test_a_row_is_never_both_trained_on_and_validated(
    rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = ["a", "a", "b", "c", "d", "e", "f", "g", "h", "a"]
    rows.write_text("\n".join(json.dumps({"question": q}) for q in questions))
    held = tmp_path / "held.jsonl"
    held.write_text('{"question": "a"}\n{"question": "z"}')
    for arguments in ((), ("--validation", str(held))):
        run = prepared(monkeypatch, tmp_path, *arguments)
        trained = [scenario.question for scenario in run.scenarios]
        validated = [scenario.question for scenario in run.validation]
        assert validated and not {*trained} & {*validated}
        assert len(validated) == len({*validated})
    rows.write_text('{"question": "a"}\n' * 10)  # there is but one scenario
    run = prepared(monkeypatch, tmp_path)
    assert (len(run.scenarios), len(run.validation)) == (10, 0)


def test_keys_that_a_run_needs_are_named(
    rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("WANDB_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SystemExit, match="WANDB_API_KEY is not set"):
        prepared(monkeypatch, tmp_path, "--backend", "serverless", BACKEND="local")
    with pytest.raises(SystemExit, match="TINKER_API_KEY is not set"):
        prepared(monkeypatch, tmp_path, "--backend", "tinker", BACKEND="local")
    with pytest.raises(SystemExit, match="OPENAI_API_KEY is not set"):
        prepared(monkeypatch, tmp_path, JUDGE_MODEL="openai/gpt-5.4")
    with pytest.raises(SystemExit, match="not set: a side job needs it"):
        prepared(monkeypatch, tmp_path, KEYS=("OPENAI_API_KEY",))
    rows.write_text("")
    with pytest.raises(SystemExit, match="no scenario to train on"):
        prepared(monkeypatch, tmp_path)


# ----------------------------------------------------------------------------- episodes


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine([{"when": {"messages": "."}, "content": "Yes."}]) as engine:
        yield engine


def model_at(engine: Engine) -> art.Model:
    return art.Model(
        name="policy",
        project="tests",
        inference_base_url=engine.base_url,
        inference_api_key="sk-rollout",
        inference_model_name="policy@3",
    )


def test_arguments_of_the_chat_template_reach_the_engine(engine: Engine) -> None:
    """ART's own client sends them; the agent's own come first."""
    from openai import OpenAI

    options = {"chat_template_kwargs": {"enable_thinking": False, "depth": 1}}
    model: Any = training.make_model("run", "tests", "a/model", options)
    model.inference_base_url, model.inference_api_key = engine.base_url, "sk-rollout"
    model.inference_model_name = "run@0"

    def episode(scenario: Scenario) -> Any:
        client = OpenAI(base_url="http://127.0.0.1:9", api_key="none")
        asked: Any = [{"role": "user", "content": scenario.question}]
        own = {"chat_template_kwargs": {"depth": 2}}
        for body in ({}, own):
            recorded(client.chat.completions.create)(
                model="m", messages=asked, extra_body=body
            )
        return "done"

    asyncio.run(training.record(model, Scenario(question="?"), episode))
    first, second = (e.request["chat_template_kwargs"] for e in engine.log)
    assert first == {"enable_thinking": False, "depth": 1}
    assert second == {"enable_thinking": False, "depth": 2}


def record(engine: Engine, episode: Any, **named: Any) -> training.Trajectory:
    scenario = Scenario(question="Delft?")
    return asyncio.run(training.record(model_at(engine), scenario, episode, **named))


def ask(scenario: Scenario) -> str | None:
    client = openai.OpenAI(**training.policy_endpoint())
    completion = recorded(client.chat.completions.create)(
        model="production",
        messages=[{"role": "user", "content": scenario.question}],
        temperature=0.2,
    )
    return completion.choices[0].message.content


async def ask_async(scenario: Scenario) -> str | None:
    client = openai.AsyncOpenAI(**training.policy_endpoint())
    completion = await recorded(client.chat.completions.create)(
        model="production", messages=[{"role": "user", "content": scenario.question}]
    )
    return completion.choices[0].message.content


@pytest.mark.parametrize("episode", [ask, ask_async])
def test_what_an_episode_returns_is_its_answer(engine: Engine, episode: Any) -> None:
    trajectory = record(engine, episode)
    assert trajectory.final_answer == "Yes."
    assert trajectory.metrics["turns"] == 1 and trajectory.metrics["answered"]
    assert trajectory.metrics["failed"] == 0  # ART averages over those that have it
    assert NOTHING_HAPPENED.keys() <= trajectory.metrics.keys()
    assert trajectory.metadata["policy"] == "policy@3"
    assert len(trajectory.messages_and_choices) == 2
    (request,) = [exchange.request for exchange in engine.log]
    assert request["model"] == "policy@3" and request["temperature"] == 1.0


def test_what_an_episode_does_to_its_scenario_is_no_other_episodes(
    engine: Engine,
) -> None:
    class Chat(training.Scenario):
        messages: list[dict[str, str]]

    def episode(chat: Chat) -> str | None:
        chat.messages.append({"role": "user", "content": "And?"})
        return ask(Scenario(question=chat.messages[-1]["content"]))

    chat = Chat(messages=[{"role": "user", "content": "Delft?"}])
    for _ in range(2):
        trajectory = asyncio.run(training.record(model_at(engine), chat, episode))
        assert trajectory.scenario.messages == [{"role": "user", "content": "Delft?"}]


def test_a_marked_answer_goes_before_a_returned_one(engine: Engine) -> None:
    def episode(scenario: Scenario) -> str:
        final_answer(ask(scenario))
        return "a status"

    trajectory = record(engine, episode)
    assert (trajectory.final_answer, trajectory.returned) == ("Yes.", "a status")


def test_a_reward_reads_what_is_returned_beside_the_answer(engine: Engine) -> None:
    @dataclasses.dataclass
    class Answer:
        text: str | None
        sources: list[str]

    def episode(scenario: Scenario) -> Answer:
        return Answer(text=final_answer(ask(scenario)), sources=["a.md"])

    def score(trajectory: Any, scenario: Scenario) -> float:
        return float(trajectory.returned.sources == ["a.md"])

    trajectory = record(engine, episode)
    assert trajectory.final_answer == "Yes."
    assert asyncio.run(training.scored(score, trajectory, None)).reward == 1.0
    assert (
        "returned" not in trajectory.model_dump()
    )  # ART writes no more than the answer


def test_an_agent_that_raises_leaves_what_it_did(engine: Engine) -> None:
    def episode(scenario: Scenario) -> str:
        ask(scenario)
        raise KeyError("Atlantis")

    trajectory = record(engine, episode)
    assert trajectory.metrics["failed"] == 1 and not trajectory.metrics["answered"]
    assert "KeyError('Atlantis')" in trajectory.logs[0]
    assert f"{Path(__file__).name}:" in trajectory.logs[0]
    assert len(trajectory.messages_and_choices) == 2


def test_the_first_cause_is_said_of_an_agent_that_never_asked(engine: Engine) -> None:
    def episode(scenario: Scenario) -> str:
        raise ValueError("no key in the configuration")

    with pytest.raises(RecordingError, match=r"never called .*no key in the config"):
        record(engine, episode)


def test_an_answer_that_no_model_gave_is_said(engine: Engine) -> None:
    """Agents that swallow their errors return them as text."""
    with pytest.raises(RecordingError, match=r"never called .*'Error: no key' by its"):
        record(engine, lambda scenario: "Error: no key")


def test_an_episode_that_forgot_to_await_is_awaited(engine: Engine) -> None:
    assert record(engine, lambda scenario: ask_async(scenario)).final_answer == "Yes."


def test_a_generator_is_refused(engine: Engine) -> None:
    def episode(scenario: Scenario) -> Iterator[str | None]:
        yield ask(scenario)

    with pytest.raises(RecordingError, match="consume it to its end"):
        record(engine, episode)


def test_an_agent_that_exits_ends_its_episode_only(engine: Engine) -> None:
    def episode(scenario: Scenario) -> None:
        ask(scenario)
        sys.exit("usage: agent [--fast]")

    trajectory = record(engine, episode)
    assert trajectory.metrics["failed"] == 1 and "usage: agent" in trajectory.logs[0]


def test_an_endpoint_that_fails_is_no_low_reward(engine: Engine) -> None:
    engine.script.replies = [{"when": {"messages": "."}, "error": 500}]
    with pytest.raises(EndpointError):
        record(engine, ask)
    assert len(engine.log) == 9  # three times three, the SDK's own retries included


def test_a_reward_that_the_agent_was_to_set(engine: Engine) -> None:
    with pytest.raises(RecordingError, match="the agent set no reward"):
        record(engine, ask, agent_rewards=True)

    def rewarding(scenario: Scenario) -> None:
        ask(scenario)
        reward(0.5)

    assert record(engine, rewarding, agent_rewards=True).reward == 0.5


def test_every_rollout_of_a_step_has_a_thread(engine: Engine) -> None:
    """asyncio's own pool has fewer than sixty."""
    together = threading.Barrier(60, timeout=30)

    def episode(scenario: Scenario) -> str | None:
        together.wait()
        return ask(scenario)

    async def step() -> list[training.Trajectory]:
        scenario = Scenario(question="Delft?")
        model = model_at(engine)
        rollouts = (training.record(model, scenario, episode) for _ in range(60))
        return await asyncio.gather(*rollouts)

    begun = time.monotonic()
    assert len(asyncio.run(step())) == 60
    assert time.monotonic() - begun < 30


def test_a_policy_endpoint_needs_a_rollout() -> None:
    with pytest.raises(RecordingError, match="outside a rollout"):
        training.policy_endpoint()


CALL = {"id": "c1", "name": "look", "arguments": "{}"}
LOOK = {"type": "function", "function": {"name": "look", "parameters": {}}}


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ([{"content": "It rains."}], "It rains."),
        ([{"content": "Let me see."}, {"content": "It rains."}], "It rains."),
        ([{"content": "Let me see.", "tool_calls": [CALL]}], None),
        ([{"content": ""}], None),
    ],
)
def test_what_the_model_said_last(said: list[Any], answer: str | None) -> None:
    def episode(scenario: Scenario) -> str | None:
        client = openai.OpenAI(**training.policy_endpoint())
        messages: list[Any] = [{"role": "user", "content": scenario.question}]
        for _ in said:
            reply = recorded(client.chat.completions.create)(
                model="m", messages=messages
            )
            messages.append(reply.choices[0].message)
            messages.append({"role": "user", "content": "Go on."})
        return training.last_said()

    with Engine(said) as engine:
        assert record(engine, episode).final_answer == answer


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


# The requests of an episode, each as the messages that go before and after what was said.
CONVERSATIONS: dict[str, tuple[list[Any], str | None]] = {
    "with other tools": ([([], True), ([{"role": "tool", "tool_call_id": "call_1_0", "content": "rain"}], False)], "It rains."),
    "with a changed system message": ([([], True), ([{"role": "system", "content": "Turn 2."}, {"role": "tool", "tool_call_id": "call_1_0", "content": "rain"}], True)], "It rains."),
    "with the result as a user's": ([([], True), ([_user("Turn 2."), _user("look: rain")], True)], "It rains."),
    "with the result in the system message": ([([], True), ([{"role": "system", "content": "look: rain"}], False)], "It rains."),
    "asked by a tool": ([([], True), ([None, _user("Sum it up.")], False)], "It rains."),
    "of a planner, then a worker": ([([], False), ([None, _user("Do it.")], False)], "It rains."),
}  # fmt: skip


@pytest.mark.parametrize("kind", CONVERSATIONS)
def test_what_was_said_last_of_several_conversations(kind: str) -> None:
    requests, wanted = CONVERSATIONS[kind]

    def episode(scenario: Scenario) -> str | None:
        client = openai.OpenAI(**training.policy_endpoint())
        create: Any = recorded(client.chat.completions.create)
        messages: list[Any] = [_user(scenario.question)]
        for more, with_tools in requests:
            if more and more[0] is None:
                messages = more[1:]
            elif more and more[0]["role"] != "tool":
                messages = [more[0], *messages, *more[1:]]
            else:
                messages = [*messages, *more]
            tools = {"tools": [LOOK]} if with_tools else {}
            reply = create(model="m", messages=messages, **tools)
            messages = [*messages, reply.choices[0].message]
        return training.last_said()

    first = {"content": "Let me see.", "tool_calls": [CALL] * requests[0][1]}
    with Engine([first, {"content": "It rains."}]) as engine:
        assert record(engine, episode).final_answer == wanted


def test_what_was_said_last_in_a_stream_that_was_left_early() -> None:
    def episode(scenario: Scenario) -> str | None:
        client = openai.OpenAI(**training.policy_endpoint())
        chunks = recorded(client.chat.completions.create)(
            model="m", messages=[_user(scenario.question)], stream=True
        )
        for chunk in chunks:
            if chunk.choices and chunk.choices[0].finish_reason:
                break
        return training.last_said()

    with Engine([{"content": "It rains."}]) as engine:
        assert record(engine, episode).final_answer == "It rains."


def test_what_was_said_last_needs_a_rollout() -> None:
    with pytest.raises(RecordingError, match="outside a rollout"):
        training.last_said()


# ------------------------------------------------------------------- rewards and reports


PARTS = {"reward_right": 1, "reward_short": -0.25}


def scored(score: Any) -> training.Trajectory:
    return asyncio.run(training.scored(score, training.Trajectory(), None))


async def later(trajectory: Any, scenario: Any) -> float:
    return 0.5


@pytest.mark.parametrize(
    ("score", "reward", "parts"),
    [
        (lambda t, s: {"right": Decimal(1), "short": -0.25}, 0.75, PARTS),
        (later, 0.5, {}),
        (lambda trajectory, scenario: True, 1.0, {}),
        (lambda t, s: {"right": 1, "short": -0.25}, 0.75, PARTS),
    ],
)
def test_a_reward_and_its_parts(score: Any, reward: float, parts: Any) -> None:
    trajectory = scored(score)
    assert trajectory.reward == reward and trajectory.metrics == parts


@pytest.mark.parametrize(
    ("score", "said"),
    [
        (lambda t, s: float("nan"), "would spoil its whole group"),
        (lambda t, s: {}, "the reward function failed: it returned {}, which is no"),
        (lambda t, s: "0.5", "the reward function failed: it returned '0.5', which"),
        (lambda t, s: None, "the reward function failed: it returned None, which is"),
        (lambda t, s: {"a": "x"}, "it returned 'x' for a, which is no number"),
        (lambda t, s: {"a": float("nan")}, "the reward is nan for a"),
        (lambda t, s: t.final_answer["total"], "the reward function failed: TypeError"),
    ],
)
def test_what_is_no_reward_raises(score: Any, said: str) -> None:
    with pytest.raises(RewardError, match=said):
        scored(score)


def recorded_history(messages: list[Any]) -> Any:
    return new_history(training.Trajectory(), None, messages)


def group(*rewards: float) -> art.TrajectoryGroup:
    return art.TrajectoryGroup(
        [training.Trajectory(reward=reward) for reward in rewards]
    )


def test_a_report_says_what_a_step_learns_from(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report([group(0.0, 1.0), group(0.5, 0.5)])
    said = capsys.readouterr().out
    assert "mean reward 0.500 of 4 episodes, 1 of 2 groups without variance" in said


def test_episodes_are_kept_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    episodes = []
    for number in range(9):
        episode = training.Trajectory(reward=number / 10, final_answer="yes")
        episode.scenario = Scenario(question="Delft?", gold=number)
        episode.messages_and_choices.append({"role": "user", "content": "a < b?"})
        episode.additional_histories.append(
            recorded_history([{"role": "user", "content": "of the sub-agent"}])
        )
        episode.metadata["histories"] = "plan, write"
        episodes.append(episode)
    model: Any = training.make_model("run", "tests", "a/model")
    training.keep(model, [art.TrajectoryGroup(episodes)], "train", 4, 1)
    page = (tmp_path / "run-train-step4.html").read_text()
    for said in ("best: reward 0.800", "worst: reward 0.000", "other: reward", "write"):
        assert said in page
    assert "a &lt; b?" in page and "of the sub-agent" in page and "http" not in page
    lines = (tmp_path / ".art/tests/models/run/episodes/train/0004.jsonl").read_text()
    kept = [json.loads(line) for line in lines.splitlines()]
    assert len(kept) == 9 and kept[0]["scenario"]["gold"] == 0
    assert kept[0]["final_answer"] == "yes"
    assert [history["name"] for history in kept[0]["histories"]] == ["plan", "write"]
    training.keep(model, [group(0.5)], "train", 5, 0)
    assert not (tmp_path / "run-train-step5.html").exists()


@dataclasses.dataclass
class Advice:
    city: str


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        (Scenario(question="Delft?"), {"question": "Delft?", "times": 1}),
        (Advice("Delft"), {"city": "Delft"}),
        ({"advice": [Advice("Delft")]}, {"advice": [{"city": "Delft"}]}),
        ({1, 2}, [1, 2]),
        (object, "<class 'object'>"),
        (float("nan"), None),
    ],
)
def test_answers_of_any_type_are_kept(
    answer: Any, kept: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    model: Any = training.make_model("run", "tests", "a/model")
    episode = training.Trajectory(reward=1.0, final_answer=answer)
    training.keep(model, [art.TrajectoryGroup([episode])], "train", 1, 1)
    (file,) = tmp_path.rglob("0001.jsonl")
    assert json.loads(file.read_text())["final_answer"] == kept


# ---------------------------------------------------------------------------- isolation


class Unsendable(Exception):
    def __init__(self, one: int, two: int) -> None:
        super().__init__("it says why")


def test_what_cannot_be_sent_between_processes_is_sent_as_text() -> None:
    lost, error = isolation._sendable((None, Unsendable(1, 2)))
    assert lost is None and isinstance(error, RuntimeError)
    assert "it says why" in str(error) and pickle.loads(pickle.dumps(error))
    answered = training.Trajectory(final_answer=lambda: "an answer")
    sent, _ = isolation._sendable((answered, None))
    assert "lambda" in pickle.loads(pickle.dumps(sent)).final_answer


def test_an_unregistered_model_is_not_production_in_another_process() -> None:
    model = training.make_model("run", "tests", "a/model")
    with pytest.raises(RecordingError, match="registered with no backend"):
        isolation._address(model)


ROLLOUTS = """\
import os
import time
from art_adapt import training


@training.isolated(at_once=2, timeout=0.2)
async def hanging(model, scenario):
    time.sleep(600)


@training.isolated(at_once=2)
async def rollout(model, scenario):
    if scenario == "dies":
        os._exit(7)
    if scenario == "sleeps":
        time.sleep(600)
    if scenario == "unfinished":
        training.fill_in("session")
    return training.Trajectory(final_answer=os.getpid())
"""


@pytest.mark.slow
def test_a_process_per_episode_that_may_hang_or_die(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: Engine
) -> None:
    (tmp_path / "rollouts_of_a_test.py").write_text(ROLLOUTS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(isolation, "STARTING", 1.0)
    module: Any = importlib.import_module("rollouts_of_a_test")

    async def step() -> list[Any]:
        kinds = ("a", "dies", "b")
        rollouts = (module.rollout(model_at(engine), kind) for kind in kinds)
        hung = module.hanging(model_at(engine), "")
        return await asyncio.gather(*rollouts, hung, return_exceptions=True)

    first, died, second, hung = asyncio.run(step())
    assert len({first.final_answer, second.final_answer, os.getpid()}) == 3
    assert "longer than" in str(hung) and "exit code 7" in str(died)
    with pytest.raises(SystemExit, match="fill in session"):
        asyncio.run(module.rollout(model_at(engine), "unfinished"))

    async def stopped() -> None:  # as a second Ctrl-C does
        async with asyncio.timeout(3):
            await module.rollout(model_at(engine), "sleeps")

    with pytest.raises(TimeoutError):
        asyncio.run(stopped())
    assert not multiprocessing.active_children()
