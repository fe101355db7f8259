"""Models are compared on the same scenarios, production through the agent's own client."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import art
import openai
import pytest
from scripted_engine import Engine
from training.test_training_package import SETTINGS

from art_adapt import training
from art_adapt.comparison import Result, table
from art_adapt.hooks import recorded
from art_adapt.recording import RecordingError
from art_adapt.training.evaluation import evaluate
from art_adapt.training.plan import make_plan


class Scenario(training.Scenario):
    question: str


@pytest.fixture
def production() -> Iterator[Engine]:
    with Engine() as engine:
        engine.script.default = {"content": "production says {n}"}
        yield engine


def record(episode: Any) -> training.Trajectory:
    model: art.Model[Any] = art.Model(name="production", project="tests")
    return asyncio.run(training.record(model, Scenario(question="Delft?"), episode))


TOOLS: Any = [{"type": "function", "function": {"name": "look_up", "parameters": {}}}]
ASKED: Any = [{"role": "user", "content": "Delft?"}]


def plain(client: Any) -> str | None:
    reply = recorded(client.chat.completions.create)(
        model="gpt-4.1", messages=ASKED, tools=TOOLS, temperature=0.2, seed=7
    )
    return reply.choices[0].message.content


def streamed(client: Any) -> str:
    chunks: Any = recorded(client.chat.completions.create)(
        model="gpt-4.1", messages=ASKED, stream=True
    )
    return "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)


def raw(client: Any) -> str | None:
    create = client.chat.completions.with_raw_response.create
    reply = recorded(create)(model="gpt-4.1", messages=ASKED)
    return reply.parse().choices[0].message.content


def with_manager(client: Any) -> str | None:
    with recorded(client.chat.completions.stream)(
        model="gpt-4.1", messages=ASKED
    ) as stream:
        return stream.get_final_completion().choices[0].message.content


def response(client: Any) -> str:
    first = recorded(client.responses.create)(model="gpt-4.1", input="Delft?")
    second = recorded(client.responses.create)(
        model="gpt-4.1", input="And?", previous_response_id=first.id
    )
    return str(second.output_text)


def response_streamed(client: Any) -> str:
    events = recorded(client.responses.create)(
        model="gpt-4.1", input="Delft?", stream=True
    )
    return "".join(e.delta for e in events if e.type == "response.output_text.delta")


def response_raw(client: Any) -> str:
    create = client.responses.with_raw_response.create
    return str(recorded(create)(model="gpt-4.1", input="Delft?").parse().output_text)


WAYS = [plain, streamed, raw, with_manager, response, response_streamed, response_raw]


@pytest.mark.parametrize("way", WAYS)
def test_production_is_asked_as_ever_and_recorded(way: Any, production: Engine) -> None:
    def client() -> openai.OpenAI:
        headers = {"X-Team": "search"}
        return openai.OpenAI(
            base_url=production.base_url, api_key="sk-own", default_headers=headers
        )

    way(client())  # without a rollout
    alone = [(e.path, e.body, e.headers) for e in production.log]
    production.log.clear()
    trajectory = record(lambda _: way(client()))
    recorded_ = [(e.path, e.body, e.headers) for e in production.log]
    for (path, body, headers), (path2, body2, headers2) in zip(
        alone, recorded_, strict=True
    ):
        ids = re.compile(rb"resp_\w+")
        assert (path, ids.sub(b"", body)) == (path2, ids.sub(b"", body2))
        kept = {k.lower(): v for k, v in headers.items()}
        kept2 = {k.lower(): v for k, v in headers2.items()}
        for name in ("authorization", "x-team", "user-agent"):
            assert kept[name] == kept2[name]
    assert "production says" in str(trajectory.final_answer)
    assert trajectory.metadata["policy"] == "production"
    assert trajectory.metadata["asked"] == "gpt-4.1"
    assert trajectory.metrics["turns"] == len(production.log)
    items = trajectory.messages_and_choices
    assert items[0]["content"] == "Delft?" and not isinstance(items[-1], dict)  # type: ignore[index]
    assert items[-1].message.content == trajectory.final_answer


def test_async_and_azure_clients(production: Engine) -> None:
    client = openai.AsyncAzureOpenAI(
        azure_endpoint=production.root, api_key="k", api_version="2024-10-21"
    )

    async def episode(_: Any) -> str | None:
        reply = await recorded(client.chat.completions.create)(
            model="deployment", messages=ASKED
        )
        return reply.choices[0].message.content

    trajectory = record(episode)
    (exchange,) = production.log
    assert "/openai/deployments/deployment/chat/completions" in exchange.path
    assert trajectory.metrics["turns"] == 1 and trajectory.metrics["tokens_in"] == 1


def by_litellm(client: Any) -> Any:
    import litellm

    return recorded(litellm.completion)(
        model="openai/x", messages=ASKED, api_base=str(client.base_url), api_key="k"
    )


def by_streaming_view(client: Any) -> Any:
    create = client.chat.completions.with_streaming_response.create
    with recorded(create)(model="m", messages=ASKED) as answer:
        return answer.parse()


def by_another_episodes_response(client: Any) -> Any:
    return recorded(client.responses.create)(
        model="m", input="And?", previous_response_id="resp_of_yesterday"
    )


@pytest.mark.parametrize(
    "way", [by_litellm, by_streaming_view, by_another_episodes_response]
)
def test_what_cannot_be_recorded_is_said(way: Any, production: Engine) -> None:
    client = openai.OpenAI(base_url=production.base_url, api_key="k")
    with pytest.raises(RecordingError, match="--no-production"):
        record(lambda _: way(client))
    assert production.log == []


def run_of(
    tmp_path: Path, task: training.Task = training.Task.EVALUATE, **changes: Any
) -> training.Run[Scenario]:
    scenarios = [Scenario(question=f"question {n}") for n in range(8)]
    chosen: dict[str, Any] = {
        "endpoint": None,
        "models": (),
        "with_production": True,
        "rollouts": 2,
        "least_reward": None,
        "demonstrations": (),
    }
    plan = make_plan(SETTINGS, 8, 0)
    return training.Run(
        str(tmp_path / "run"), scenarios, [], "local", 0, plan, task, **chosen | changes
    )


def test_models_are_compared_beyond_noise(
    production: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The tuned model is right on all eight scenarios, production on two of them."""

    def ask(scenario: Scenario) -> str | None:
        client = openai.OpenAI(base_url=production.base_url, api_key="k")
        messages: Any = [{"role": "user", "content": scenario.question}]
        reply = recorded(client.chat.completions.create)(
            model="gpt-4.1", messages=messages
        )
        return reply.choices[0].message.content

    async def rollout(model: Any, scenario: Scenario) -> training.Trajectory:
        trajectory = await training.record(model, scenario, ask, temperature=1.0)
        right = float(trajectory.final_answer == "right")
        return await training.scored(lambda *_: right, trajectory, scenario)

    production.script.replies = [
        {"when": {"messages": "question [01]"}, "content": "right"},
        {"when": {"messages": "."}, "content": "wrong"},
    ]
    tuned = {"when": {"model": "agent@50"}, "content": "right"}
    base = {"when": {"messages": "question [01]"}, "content": "right"}
    with Engine([tuned, base]) as engine:
        run = run_of(tmp_path, endpoint=engine.base_url, models=("agent@50", "base"))
        results = asyncio.run(evaluate(run, rollout))
    said = capsys.readouterr().out
    assert "8 scenarios x 2 rollouts x 3 models: 48 episodes" in said
    assert "No scenario is held out" in said
    assert [result.model for result in results] == ["production", "agent@50", "base"]
    assert [result.episodes for result in results] == [16, 16, 16]
    assert re.search(r"agent@50 against production: \+0\.750 .*6 won, 0 lost", said)
    assert re.search(r"agent@50 against .*: no difference", said) is None
    assert re.search(r"base against production: \+0\.000 .*beyond noise", said)
    assert results[0].cost and results[1].cost is None  # gpt-4.1 has a price
    written = json.loads((tmp_path / "run-evaluation.json").read_text())
    assert written[1]["rewards"] == results[1].rewards
    page = (tmp_path / "run-evaluation.html").read_text()
    assert (
        page.count("<h2>agent@50: reward 1.000") == 16 and "against production" in page
    )


def test_an_endpoint_says_what_it_serves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_of(tmp_path, endpoint="http://127.0.0.1:9/v1", with_production=False)
    with pytest.raises(SystemExit, match="nothing answers at"):
        asyncio.run(evaluate(run, None))  # type: ignore[arg-type]
    with pytest.raises(SystemExit, match="name an endpoint with --endpoint"):
        asyncio.run(evaluate(run_of(tmp_path, with_production=False), None))  # type: ignore[arg-type]


def test_scenarios_that_teach_are_found_and_not_paid_for_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the first four one episode in two is right, of the others none."""
    count = itertools.count()

    async def rollout(model: Any, scenario: Scenario) -> training.Trajectory:
        number = int(scenario.question.split()[1])
        reward = float(number < 4 and next(count) % 2)
        return training.Trajectory(reward=reward, metadata={"policy": model.name})

    def probe(**changes: Any) -> str:
        with Engine() as engine:
            options: Any = {
                "endpoint": engine.base_url,
                "models": ("base",),
                "with_production": False,
            }
            run = run_of(tmp_path, training.Task.PROBE, **options | changes)
            asyncio.run(training.measure(run, rollout))
        return capsys.readouterr().out

    said = probe()
    assert "8 scenarios x 2 rollouts on base; 0 were measured" in said
    assert "4 of 8 scenarios have episodes with different rewards" in said
    assert "4 have equal rewards, with means from 0.00 to 0.00" in said
    rows = (tmp_path / "run-scenarios.jsonl").read_text().splitlines()
    assert [json.loads(row)["question"] for row in rows] == [
        f"question {number}" for number in range(4)
    ]
    said = probe()
    assert "0 scenarios x 2 rollouts on base; 8 were measured" in said
    assert "4 of 8 scenarios" in said
    with pytest.raises(
        SystemExit, match="probe runs one model: choose one with --model"
    ):
        probe(models=("base", "other"))


def test_scenarios_of_one_id_count_each(
    production: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def rollout(model: Any, scenario: Scenario) -> training.Trajectory:
        if "3" in scenario.question:
            raise RecordingError("no call")
        return training.Trajectory(reward=1.0, metadata={"policy": model.name})

    run = run_of(tmp_path)
    for scenario in run.scenarios:
        object.__setattr__(scenario, "__pydantic_extra__", {"id": "same"})
    (only,) = asyncio.run(evaluate(run, rollout))
    assert len(only.rewards) == 7 and "same (8)" in only.rewards
    assert (only.episodes, only.lost, only.cost) == (14, 2, None)
    assert "14" not in capsys.readouterr().out.splitlines()[-2]


def result(name: str, *rewards: float) -> Result:
    by_scenario = {str(n): reward for n, reward in enumerate(rewards)}
    return Result(name, by_scenario, len(rewards), 0, 1.0, 2.0, 0.5, 1234.0, None)


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ((0.0, 0.1, 0.0) * 2, (0.9, 1.0, 0.8) * 2, "better"),
        ((0.9, 1.0, 0.8) * 2, (0.0, 0.1, 0.0) * 2, "worse"),
        ((0.0,) * 5, (1.0,) * 5, "too few scenarios to tell"),  # by luck, 1 of 16
        ((0.5, 0.4, 0.6) * 2, (0.4, 0.6, 0.5) * 2, "no difference beyond noise"),
        ((0.5,), (1.0,), "too few scenarios to tell"),  # of one nothing is known
    ],
)
def test_the_verdict(first: Any, second: Any, verdict: str) -> None:
    said = table([result("production", *first), result("tuned", *second)])
    assert said.splitlines()[-1].endswith(f": {verdict}")


@pytest.mark.parametrize("count", [6, 9, pytest.param(20, marks=pytest.mark.wide)])
def test_equal_models_are_seldom_called_different(count: int) -> None:
    chance = random.Random(count)
    false = 0
    for _ in range(100):
        both = [[chance.choice((0.0, 0.5, 1.0)) for _ in range(count)] for _ in "ab"]
        said = table([result("a", *both[0]), result("b", *both[1])])
        false += not said.endswith("beyond noise")
    assert false <= 12  # of 100, where one in twenty is meant


def test_a_model_of_which_nothing_is_left_is_named() -> None:
    gone = Result("production", {}, 0, 16, 0.0, 0.0, 0.0, None, None)
    said = table([gone, result("tuned", 0.5, 0.6, 0.7)])
    assert "production  all 16 episodes were lost" in said
    assert "tuned and production have no scenario in common" in said
