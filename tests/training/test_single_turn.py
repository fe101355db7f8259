"""Test single-turn training: one completion on each recorded request, and nothing else."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import art
import pytest
from agent_files import agent_file, art_adapt, copy_of
from scripted_engine import Engine

from art_adapt import training
from art_adapt.recording import RecordingError

USER = {"role": "user", "content": "When does HO-1042 arrive?"}
CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "look_up", "arguments": '{"order": "HO-1042"}'},
}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "look_up",
            "description": "Status of an order.",
            "parameters": {
                "type": "object",
                "properties": {"order": {"type": "string"}},
            },
        },
    }
]


@pytest.mark.parametrize(
    ("row", "messages", "reference"),
    [
        pytest.param({"messages": [USER]}, [USER], None, id="a request"),
        pytest.param(
            {"messages": [USER, {"role": "assistant", "content": "Friday"}]},
            [USER],
            {"role": "assistant", "content": "Friday"},
            id="and its answer",
        ),
        pytest.param(
            {
                "messages": [USER, {"role": "assistant", "tool_calls": [CALL]}],
                "reference": "it looks HO-1042 up",
            },
            [USER],
            "it looks HO-1042 up",
            id="a reference of its own",
        ),
        pytest.param(
            {"messages": [USER, {"role": "assistant", "content": "?"}, USER]},
            [USER, {"role": "assistant", "content": "?"}, USER],
            None,
            id="in the middle of a conversation",
        ),
    ],
)
def test_rows_are_requests_with_or_without_their_answers(
    row: Any, messages: Any, reference: Any
) -> None:
    request = training.RecordedRequest.model_validate(row)
    assert request.messages == messages and request.reference == reference


@pytest.mark.parametrize("row", [{}, {"messages": []}, {"messages": "hello"}])
def test_other_rows_are_refused_with_their_place(row: Any, tmp_path: Path) -> None:
    file = tmp_path / "scenarios.jsonl"
    file.write_text(json.dumps(row))
    with pytest.raises(SystemExit, match=r"scenarios\.jsonl:1"):
        training.load_scenarios(training.RecordedRequest, str(file))


def test_an_episode_is_one_completion() -> None:
    request = training.RecordedRequest(messages=[USER], tools=TOOLS, model="gpt-4.1")
    called = {"name": "look_up", "arguments": {"order": "HO-1042"}}
    with Engine([{"tool_calls": [called]}]) as engine:
        model: art.Model[Any] = art.Model(
            name="policy",
            project="tests",
            inference_base_url=engine.base_url,
            inference_api_key="sk-rollout",
            inference_model_name="policy@3",
        )
        recorded = asyncio.run(training.record(model, request, training.complete))
    (exchange,) = engine.log
    assert exchange.request["messages"] == [USER]
    assert exchange.request["tools"] == TOOLS
    assert exchange.request["model"] == "policy@3"
    (call,) = recorded.final_answer["tool_calls"]
    assert call["function"]["name"] == "look_up"
    assert len(recorded.messages_and_choices) == 2


def test_production_is_asked_for_the_model_that_the_row_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    production = art.Model(name="production", project="test")
    with Engine([{"content": "Friday"}]) as engine:
        monkeypatch.setenv("OPENAI_BASE_URL", engine.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")

        def ask(**more: Any) -> Any:
            request = training.RecordedRequest(messages=[USER], **more)
            return asyncio.run(training.record(production, request, training.complete))

        assert ask(model="gpt-4.1").final_answer["content"] == "Friday"
        with pytest.raises(RecordingError, match="has no `model`"):
            ask()
    (exchange,) = engine.log
    assert exchange.request["model"] == "gpt-4.1"


@pytest.mark.slow
def test_a_train_module_for_recorded_requests_rehearses(tmp_path: Path) -> None:
    folder = copy_of("support_loop", tmp_path)
    agent = agent_file(folder)
    before = agent.read_bytes()
    done = art_adapt("--isolated", "--single-turn", agent.name, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert agent.read_bytes() == before and not list(folder.glob("art_recording*"))
    answered = {"role": "assistant", "content": "Friday"}
    rows = [
        {"messages": [{"role": "user", "content": f"Question {n}"}, answered]}
        for n in range(5)
    ]
    (folder / "scenarios.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = art_adapt("rehearse", "agent_train.py", "--json", cwd=folder)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert json.loads(done.stdout)["figures"]["turns"] == 1


def test_nothing_would_be_written(tmp_path: Path) -> None:
    folder = copy_of("support_loop", tmp_path)
    options = ("--isolated", "--single-turn", "--no-train-module", "agent.py")
    done = art_adapt(*options, cwd=folder)
    assert done.returncode == 2 and b"leave nothing to write" in done.stderr


def test_an_agent_that_hooks_would_not_fit_is_trained_on_its_requests(
    tmp_path: Path,
) -> None:
    folder = copy_of("support_loop", tmp_path)
    (folder / "art_recording.py").write_text("MINE = True\n")
    done = art_adapt("--isolated", "agent.py", cwd=folder)
    assert done.returncode == 2 and b"name conflict with a file of yours" in done.stderr
    done = art_adapt("--isolated", "--single-turn", "agent.py", cwd=folder)
    assert done.returncode == 0, done.stderr
