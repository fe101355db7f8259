"""Generated train modules run from their command line through ART's own gathering, RULER, logging and resuming."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from agent_files import (
    NAMES,
    SDK,
    agent_file,
    art_adapt,
    copy_of,
    forked,
    replies_of,
    write_reward,
)
from scripted_engine import Engine

CHILD = Path(__file__).with_name("train_child.py")


def train(
    folder: Path,
    engine: Engine,
    *arguments: str,
    module: str = "agent_train",
    start: int = 0,
    **environment: str,
) -> dict[str, Any]:
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "SSL_CERT_FILE": os.environ["SSL_CERT_FILE"],
        "OPENAI_BASE_URL": engine.base_url,
        "OPENAI_API_BASE": engine.base_url,
        "OPENAI_API_KEY": "sk-production",
        "AZURE_OPENAI_ENDPOINT": engine.root,
        "AZURE_OPENAI_API_KEY": "sk-production",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "WANDB_MODE": "disabled",
        "NO_PROXY": "*",
        "PYTHONDONTWRITEBYTECODE": "1",
    } | environment
    command = [str(CHILD), engine.base_url, str(folder), module, str(start), *arguments]
    engine.script.replies = [TRIED, *engine.script.replies]
    output = forked(
        ("art_adapt.training", *SDK, CHILD.stem), folder, command, variables
    )
    said: dict[str, Any] = json.loads(output.splitlines()[-1])
    said["output"] = output
    return said


def judged(count: int) -> dict[str, Any]:
    """RULER's judge: the first episode of a group is the best."""
    scores = [
        {
            "trajectory_id": str(n),
            "explanation": f"reason {n}",
            "score": round(1.0 / n, 2),
        }
        for n in range(1, count + 1)
    ]
    return {"when": {"model": "gpt-5.4"}, "content": json.dumps({"scores": scores})}


# What prepare() asks the judge before anything starts.
TRIED = judged(2) | {"when": {"model": "gpt-5.4", "messages": r"2 \+ 2\?"}}


def adapted(name: str, tmp_path: Path, *options: str) -> Path:
    folder = copy_of(name, tmp_path)
    write_reward(folder, options)
    done = art_adapt(
        "--isolated", *options, agent_file(folder).relative_to(folder), cwd=folder
    )
    assert done.returncode == 0, done.stderr.decode()
    return folder


def only_for(count: int) -> dict[str, Any]:
    """The same judge for groups of another size: validation's."""
    reply = judged(count)
    reply["when"]["messages"] = rf'^(?!.*trajectory id="{count + 1}")'
    return reply


ANSWERING = [
    {"when": {"messages": "."}, "content": "answer {n}"}
]  # ends an episode at once


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("support_loop", marks=pytest.mark.wide),
        "async_research",
        pytest.param("class_agent", marks=pytest.mark.slow),
    ],
)
def test_it_trains_with_ruler(name: str, tmp_path: Path) -> None:
    folder = adapted(name, tmp_path, "--epochs", "2")
    with Engine([judged(4), *ANSWERING]) as engine:
        said = train(folder, engine)
    assert "raised" not in said and "stopped" not in said, said
    assert said["closed"] == 1
    assert len(said["steps"]) == 4  # 3 scenarios, 2 groups a step, 2 epochs
    assert said["arguments"] == [["learning_rate"]] * 4
    for groups in said["steps"]:
        for group in groups:
            assert sorted(episode["reward"] for episode in group) == [
                0.25,
                0.33,
                0.5,
                1.0,
            ]
            for episode in group:
                assert episode["final_answer"] is not None and episode["choices"] >= 1
                assert (
                    episode["metrics"]["turns"] >= 1 and episode["metrics"]["answered"]
                )
                assert episode["logs"][-1].startswith("RULER: reason")
    assert (
        "mean reward 0.520 of 8 episodes, 0 of 2 groups without variance"
        in said["output"]
    )
    assert "Trained: agent-001:step4" in said["output"]


def history(folder: Path) -> list[dict[str, Any]]:
    (file,) = (folder / ".art").rglob("history.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_run_is_bounded_validated_and_accounted_for(tmp_path: Path) -> None:
    folder = adapted("support_loop", tmp_path)
    rows = [json.dumps({"question": f"question {n}", "id": n}) for n in range(10)]
    (folder / "scenarios.jsonl").write_text("\n".join(rows))
    with Engine([judged(4), *ANSWERING]) as engine:
        engine.script.replies = [only_for(2), judged(4), *ANSWERING]
        said = train(folder, engine, "--max-steps", "3", "--gpu-price", "2")
    assert "raised" not in said and "stopped" not in said, said
    assert len(said["steps"]) == 3  # of the twelve that three epochs would take
    assert "3 steps of 12 (--max-steps), each of 8 episodes at most" in said["output"]
    assert "$24.00 on one GPU" in said["output"]
    assert "3 steps are done. Raise --max-steps to continue" in said["output"]
    rows_logged = history(folder)
    validated = [row for row in rows_logged if "val/reward" in row]
    assert [row["step"] for row in validated] == [2, 3]  # by its share, and the last
    assert "on 2 validation scenarios" in said["output"]
    assert "metric found" not in said["output"]  # as ART says of a metric too early
    assert said["kept"] == [[1], [2], [2, 3]]  # a judge alone chooses none
    assert "`evaluate` compares checkpoints" in said["output"]
    kept = sorted((folder / ".art").rglob("episodes/*/*.jsonl"))
    assert [f"{p.parent.name}/{p.stem}" for p in kept] == [
        "train/0001",
        "train/0002",
        "train/0003",
        "val/0002",
        "val/0003",
    ]


@pytest.mark.wide
def test_what_training_has_to_beat_is_validated_first(tmp_path: Path) -> None:
    folder = adapted("support_loop", tmp_path, "--reward", "rewards:score")
    (folder / "rewards.py").write_text(
        "import random\ndef score(trajectory, scenario):\n    return random.random()\n"
    )
    rows = [json.dumps({"question": f"question {n}"}) for n in range(10)]
    (folder / "scenarios.jsonl").write_text("\n".join(rows))
    with Engine(ANSWERING) as engine:
        said = train(folder, engine, "--max-steps", "1")
    assert "raised" not in said and "stopped" not in said, said
    validated = [row["step"] for row in history(folder) if "val/reward" in row]
    assert validated == [0, 1]
    assert "best in validation" in said["output"]


def test_models_are_compared_from_the_command_line(tmp_path: Path) -> None:
    folder = adapted("support_loop", tmp_path)
    with Engine([judged(4), *ANSWERING]) as engine:
        options = ("--endpoint", engine.base_url, "--model", "tuned", "--rollouts", "2")
        said = train(folder, engine, "evaluate", *options)
    assert "raised" not in said and "stopped" not in said, said
    assert said["registered"] == [] and said["steps"] == []  # no engine, no training
    assert "3 scenarios x 2 rollouts x 2 models: 12 episodes" in said["output"]
    assert "tuned against production: " in said["output"]
    asked = {e.request["model"] for e in engine.log}
    assert asked == {"gpt-5.4", "tuned", "gpt-4o-mini"}
    assert (folder / "agent-001-evaluation.html").exists()


def test_a_finished_run_says_so_before_it_starts_an_engine(tmp_path: Path) -> None:
    folder = adapted("support_loop", tmp_path, "--max-steps", "3")
    checkpoint = folder / ".art/agent/models/agent-001/checkpoints/0003"
    checkpoint.mkdir(parents=True)
    (checkpoint / "weights").touch()
    with Engine([judged(4), *ANSWERING]) as engine:
        said = train(folder, engine, start=3)
        assert (
            "agent-001 has done its 3 steps: raise --max-steps to continue"
            in said["stopped"]
        )
        assert said["registered"] == [] and engine.log == []
        said = train(folder, engine, "--run-name", "agent-002")
    assert said["registered"][0][0] == "agent-002" and len(said["steps"]) == 3


@pytest.mark.wide
def test_a_run_whose_epochs_are_over_says_so_before_it_starts_an_engine(
    tmp_path: Path,
) -> None:
    folder = adapted("support_loop", tmp_path, "--epochs", "2")
    run = folder / ".art/agent/models/agent-001"
    checkpoint = run / "checkpoints/0001"
    checkpoint.mkdir(parents=True)
    (checkpoint / "weights").touch()
    (run / "batches.json").write_text(json.dumps({"1": 4}))  # three without variance
    with Engine([judged(4), *ANSWERING]) as engine:
        said = train(folder, engine, start=1)
        assert "has been through all its epochs at step 1" in said["stopped"]
        assert said["registered"] == []
        held = [json.dumps({"question": "held out"})]
        (folder / "held.jsonl").write_text("\n".join(held))
        engine.script.replies = [only_for(2), judged(4), *ANSWERING]
        said = train(folder, engine, "--validation", "held.jsonl", start=1)
    assert "stopped" not in said and said["steps"] == []  # it was killed before this:
    assert [r["step"] for r in history(folder) if "val/reward" in r] == [1]


@pytest.mark.slow
def test_a_judge_that_is_down_is_named_and_ends_the_run(tmp_path: Path) -> None:
    folder = adapted("support_loop", tmp_path)
    down = {"when": {"model": "gpt-5.4"}, "content": "the judge is down"}
    with Engine([down, *ANSWERING]) as engine:
        said = train(folder, engine)
    assert said["steps"] == [] and said["closed"] == 1
    assert "3 steps in a row" in said["stopped"] and "RULER" in said["stopped"]
    assert "episodes lost" not in said["output"]


def test_it_resumes_where_it_stopped(tmp_path: Path) -> None:
    folder = adapted("support_loop", tmp_path, "--epochs", "2")
    with Engine([judged(4), *ANSWERING]) as engine:
        said = train(folder, engine, start=3)
    assert len(said["steps"]) == 1
    assert "Trained: agent-001:step4" in said["output"]


@pytest.mark.slow
def test_it_validates_and_keeps_the_best_checkpoint(tmp_path: Path) -> None:
    folder = adapted(
        "support_loop", tmp_path, "--epochs", "1", "--groups-per-step", "1"
    )
    rows = [json.dumps({"question": f"question {n}"}) for n in range(12)]
    (folder / "scenarios.jsonl").write_text("\n".join(rows))
    with Engine([only_for(2), judged(4), *ANSWERING]) as engine:
        said = train(folder, engine)
    assert len(said["steps"]) == 10  # two of the twelve are held out
    validation = [
        line
        for path in folder.rglob("*")
        if "val" in path.name and path.is_file()
        for line in [path.name]
    ]
    validated = [
        path
        for path in (folder / ".art").rglob("*")
        if path.is_dir() and path.name == "val"
    ]
    assert validated or validation
    assert said["kept"]


def test_a_reward_function_is_asked(tmp_path: Path) -> None:
    folder = adapted(
        "support_loop", tmp_path, "--reward", "rewards:exact", "--epochs", "1"
    )
    (folder / "rewards.py").write_text(
        "import itertools\n\nturns = itertools.count()\n\n\nasync def exact(trajectory, scenario):\n    return len(scenario.question) + next(turns) % 2 + (trajectory.final_answer == 'yes')\n"
    )
    (folder / "scenarios.jsonl").write_text('{"question": "ab", "expected": "kept"}\n')
    with Engine([{"when": {"messages": "."}, "content": "yes"}]) as engine:
        said = train(folder, engine)
    rewards = sorted(episode["reward"] for episode in said["steps"][0][0])
    assert rewards == [3.0, 3.0, 4.0, 4.0]
    assert "0 of 1 groups without variance" in said["output"]


def test_groups_without_variance_are_not_trained_on(tmp_path: Path) -> None:
    folder = adapted(
        "support_loop", tmp_path, "--reward", "rewards:flat", "--epochs", "1"
    )
    (folder / "rewards.py").write_text(
        "import itertools\n\nturns = itertools.count()\n\n\n"
        "def flat(trajectory, scenario):\n"
        "    return next(turns) % 2 if scenario.question == 'b' else 1.0\n"
    )
    rows = [json.dumps({"question": question}) for question in "abcd"]
    (folder / "scenarios.jsonl").write_text("\n".join(rows))
    with Engine([{"when": {"messages": "."}, "content": "yes"}]) as engine:
        said = train(folder, engine)
    assert [len(groups) for groups in said["steps"]] == [1]  # of four scenarios
    assert "1 of 2 groups without variance" in said["output"]
    assert "2 of 2 groups without variance" in said["output"]


def test_a_reward_function_that_fails_seldom_loses_the_episode(tmp_path: Path) -> None:
    folder = adapted(
        "support_loop", tmp_path, "--reward", "rewards:seldom", "--epochs", "1"
    )
    (folder / "rewards.py").write_text(
        "import itertools\n\nturns = itertools.count()\n\n\n"
        "def seldom(trajectory, scenario):\n    return 1 / next(turns)\n"
    )
    with Engine([{"when": {"messages": "."}, "content": "yes"}]) as engine:
        said = train(folder, engine)
    assert sorted(map(len, said["steps"][0])) == [3, 4]
    assert "1 episodes lost, the first with" in said["output"]
    assert "ZeroDivisionError" in said["output"]


@pytest.mark.parametrize(
    ("returned", "said_"),
    [
        ("float('nan')", "the reward is nan, which would spoil its whole group"),
        # Of half the episodes only: without them the others would be all there is.
        (
            "len(trajectory.logs[0]) if next(turns) % 2 else 1.0",
            "the reward function failed: IndexError",
        ),
    ],
)
def test_a_reward_function_that_fails_ends_the_run(
    returned: str, said_: str, tmp_path: Path
) -> None:
    folder = adapted(
        "support_loop", tmp_path, "--reward", "rewards:broken", "--epochs", "1"
    )
    (folder / "rewards.py").write_text(
        "import itertools\n\nturns = itertools.count()\n\n\n"
        f"def broken(trajectory, scenario):\n    return {returned}\n"
    )
    with Engine([{"when": {"messages": "."}, "content": "yes"}]) as engine:
        said = train(folder, engine)
    assert said["steps"] == [] and said["closed"] == 1
    assert said_ in said["stopped"] and "Traceback" in said["stopped"]


@pytest.mark.slow
def test_the_agents_own_reward_is_used(tmp_path: Path) -> None:
    folder = adapted("game", tmp_path, "--epochs", "1")
    with Engine([{"content": "1"}]) as engine:
        engine.script.default = {"content": "7"}
        said = train(folder, engine)
    rewards = [
        episode["reward"]
        for groups in said["steps"]
        for group in groups
        for episode in group
    ]
    assert rewards and all(isinstance(reward, float) for reward in rewards)


def test_failures_of_the_agent_count_and_of_the_infrastructure_do_not(
    tmp_path: Path,
) -> None:
    """G8: an agent that raises leaves a trajectory; a server that fails leaves none."""
    folder = adapted(
        "support_loop",
        tmp_path,
        "--reward",
        "rewards:zero",
        "--epochs",
        "1",
        "--groups-per-step",
        "1",
    )
    (folder / "rewards.py").write_text(
        "import itertools\n\nturns = itertools.count()\n\n\n"
        "def zero(trajectory, scenario):\n    return next(turns) % 2\n"
    )
    (folder / "scenarios.jsonl").write_text('{"question": "unknown tool"}\n')
    bad_call = {"tool_calls": [{"name": "no_such_tool", "arguments": {}}]}
    with Engine(
        [bad_call, bad_call, bad_call, {"when": {"messages": "."}, "error": 500}]
    ) as engine:
        engine.script.replies = [bad_call, bad_call, bad_call]
        engine.script.default = {"error": 500}
        said = train(folder, engine)
    (group,) = said["steps"][0]
    assert len(group) == 3
    assert all(
        episode["metrics"]["failed"] == 1
        and episode["metrics"]["tool_errors"] == 1
        and episode["choices"] == 1
        for episode in group
    )
    assert all(episode["final_answer"] is None for episode in group)
    assert "1 episodes lost" in said["output"]


@pytest.mark.slow
def test_what_is_missing_is_said_before_anything_starts(tmp_path: Path) -> None:
    folder = adapted("support_loop", tmp_path)
    (folder / "scenarios.jsonl").write_text('{"question": "a"}\n{"wrong": 1}\n')
    with Engine() as engine:
        assert "scenarios.jsonl:2: " in train(folder, engine)["stopped"]
        (folder / "scenarios.jsonl").unlink()
        assert (
            "write one JSON object per line, with the keys question"
            in train(folder, engine)["stopped"]
        )
        (folder / "scenarios.jsonl").write_text('{"question": "a"}\n')
        assert (
            "WANDB_API_KEY is not set"
            in train(folder, engine, "--backend", "serverless")["stopped"]
        )
        assert engine.log == []


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_fixture_trains_a_step(name: str, tmp_path: Path) -> None:
    reward = () if name == "game" else ("--reward", "rewards:length")
    options = ("--epochs", "1", "--groups-per-step", "3", *reward)
    folder = adapted(name, tmp_path, *options)
    path = agent_file(folder).with_name("agent_train").relative_to(folder)
    replies = replies_of(folder)
    if name == "game":  # whose reward is its own: not all episodes may end alike
        replies = [{"content": "1"}, {"content": "7"}] * 100
        rows = "".join(f'{{"secret": {secret}}}\n' for secret in (1, 7) * 6)
        agent_file(folder).with_name("scenarios.jsonl").write_text(rows)
    with Engine(replies) as engine:
        engine.script.default = replies[-1]
        said = train(folder, engine, module=".".join(path.parts))
    assert "raised" not in said, said
    assert said["closed"] == 1
    episodes = [e for groups in said["steps"] for group in groups for e in group]
    assert len(episodes) >= 8 and all(episode["choices"] for episode in episodes)
