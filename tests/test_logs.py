"""``art-adapt logs``: exports of what production asked become scenarios.

The rows are what langsmith 0.15.0 and langfuse 5.0.4 send, cut down to what matters.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from agent_files import art_adapt, copy_of

from art_adapt.secret_texts import secrets_in

TOOLS = [{"type": "function", "function": {"name": "lookup", "parameters": {}}}]
SYSTEM = {"role": "system", "content": "You are support."}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {
            "id": "c1",
            "type": "function",
            "function": {"name": "lookup", "arguments": "{}"},
        }
    ],
}


def asked(question: str) -> list[dict[str, Any]]:
    return [SYSTEM, {"role": "user", "content": question}]


def later(question: str) -> list[dict[str, Any]]:
    return [
        *asked(question),
        CALL,
        {"role": "tool", "tool_call_id": "c1", "content": "Friday"},
    ]


def answered(message: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1_760_000_000,
        "model": "gpt-4o",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }


def stored(question: str) -> list[dict[str, Any]]:
    first = {**answered(CALL), "tools": TOOLS, "messages": asked(question)}
    said = {"role": "assistant", "content": "On Friday."}
    return [first, {**answered(said), "tools": TOOLS, "input": later(question)}]


def langsmith(question: str) -> list[dict[str, Any]]:
    root = {"id": f"r-{question}", "trace_id": question, "parent_run_id": None}
    inputs = {"messages": asked(question), "model": "gpt-4o", "tools": TOOLS}
    return [
        {
            "id": "c",
            "trace_id": question,
            "parent_run_id": root["id"],
            "run_type": "llm",
            "name": "ChatOpenAI",
            "start_time": "2026-11-23T05:02:35",
            "inputs": inputs,
            "outputs": answered(CALL),
        },
        {
            **root,
            "run_type": "chain",
            "name": "answer",
            "start_time": "2026-11-23T05:02:34",
            "inputs": {"question": question},
            "outputs": {"output": "On Friday."},
        },
    ]


def langfuse(question: str) -> list[dict[str, Any]]:
    given = {"messages": asked(question), "tools": TOOLS}
    return [
        {
            "id": "s",
            "traceId": question,
            "parentObservationId": None,
            "type": "SPAN",
            "name": "answer",
            "startTime": "2026-11-23T05:02:34Z",
            "input": {"args": [question], "kwargs": {}},
            "output": "On Friday.",
        },
        {
            "id": "g",
            "traceId": question,
            "parentObservationId": "s",
            "type": "GENERATION",
            "name": "OpenAI-generation",
            "model": "gpt-4o",
            "startTime": "2026-11-23T05:02:35Z",
            "input": given,
            "output": CALL,
        },
    ]


def chat(question: str) -> list[dict[str, Any]]:
    return [{"messages": [*asked(question), CALL], "tools": TOOLS}]


def batch(question: str) -> list[dict[str, Any]]:
    body = {"model": "gpt-4o", "messages": asked(question), "tools": TOOLS}
    return [
        {
            "custom_id": "1",
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": body,
        }
    ]


FORMATS = {
    "OpenAI stored completions": stored,
    "LangSmith": langsmith,
    "Langfuse": langfuse,
    "chat": chat,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = copy_of("support_loop", tmp_path)
    assert art_adapt("--isolated", "agent.py", cwd=folder).returncode == 0
    (folder / "scenarios.jsonl").unlink(missing_ok=True)
    return folder


def write(path: Path, rows: list[Any]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def logs(folder: Path, *arguments: str) -> tuple[int, str]:
    done = art_adapt("logs", *arguments, cwd=folder)
    return done.returncode, (done.stdout + done.stderr).decode()


def rows_of(folder: Path, name: str = "scenarios.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def questions(folder: Path) -> list[str]:
    return [row["question"] for row in rows_of(folder)]


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_becomes_scenarios(name: str, folder: Path) -> None:
    """Later turns of a conversation are no episodes of their own, and a log read twice adds none."""
    rows = [row for q in ("When?", "Where?") for row in FORMATS[name](q)]
    write(folder / "export.jsonl", rows)
    code, said = logs(folder, "export.jsonl")
    assert code == 0, said
    assert (
        f"{name}: {len(rows)} rows" in said and "2 new rows in scenarios.jsonl" in said
    )
    assert questions(folder) == ["When?", "Where?"]
    code, said = logs(folder, "export.jsonl")
    assert code == 0 and "0 new rows" in said and len(questions(folder)) == 2
    assert art_adapt("scenarios", cwd=folder).returncode == 0


@pytest.mark.parametrize("name", FORMATS)
def test_pages_of_an_api_and_lists(name: str, folder: Path) -> None:
    rows = [row for q in ("When?", "Where?") for row in FORMATS[name](q)]
    (folder / "page.json").write_text(json.dumps({"object": "list", "data": rows}))
    (folder / "list.json").write_text(json.dumps(rows, indent=2))
    assert logs(folder, "page.json")[0] == 0 and questions(folder) == [
        "When?",
        "Where?",
    ]
    assert "0 new rows" in logs(folder, "list.json")[1]


def test_a_table_of_langfuse(folder: Path) -> None:
    """Exports as CSV hold inputs as text."""
    with (folder / "export.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, [*langfuse("")[1]])
        table.writeheader()
        for row in [row for q in ("When?", "Where?") for row in langfuse(q)]:
            held = {k: json.dumps(row.get(k)) for k in ("input", "output")}
            table.writerow({**row, **held})
    code, said = logs(folder, "export.csv")
    assert code == 0, said
    assert questions(folder) == ["When?", "Where?"]


def test_what_is_kept_of_a_trace(folder: Path) -> None:
    write(folder / "export.jsonl", langsmith("When?"))
    logs(folder, "export.jsonl")
    logged = {"at": "2026-11-23T05:02:34", "trace": "When?", "answer": "On Friday."}
    assert rows_of(folder) == [{"question": "When?", "logged": logged}]


def test_without_traced_functions_it_is_what_the_user_said_first(folder: Path) -> None:
    write(
        folder / "export.jsonl", [row for row in langfuse("When?") if row["id"] == "g"]
    )
    code, said = logs(folder, "export.jsonl")
    assert code == 0 and questions(folder) == ["When?"]
    assert "what the user said first" in said


def summary(question: str) -> dict[str, Any]:
    text = {"role": "system", "content": "Summarise the conversation."}
    return {"messages": [text, {"role": "user", "content": f"{question} On Friday."}]}


def test_requests_beside_the_agents_own_turns(folder: Path) -> None:
    rows = [*chat("When?"), *(summary(str(n)) for n in range(5))]
    write(folder / "export.jsonl", rows)
    code, said = logs(folder, "export.jsonl")
    assert code == 0 and questions(folder) == ["When?"]
    assert (
        '5  "Summarise the conversation."  no tools  (not taken; --only takes it)'
        in said
    )
    code, said = logs(
        folder, "export.jsonl", "--only", "Summarise", "-o", "other.jsonl"
    )
    assert code == 0 and len(rows_of(folder, "other.jsonl")) == 5


def test_requests_of_a_single_turn_module(tmp_path: Path) -> None:
    folder = copy_of("support_loop", tmp_path)
    assert (
        art_adapt("--isolated", "--single-turn", "agent.py", cwd=folder).returncode == 0
    )
    (folder / "scenarios.jsonl").unlink(missing_ok=True)
    write(folder / "export.jsonl", [*stored("When?"), *batch("Where?")])
    code, said = logs(folder, "export.jsonl")
    assert code == 0, said
    first, second, third = rows_of(folder)
    assert first["messages"] == asked("When?") and first["tools"] == TOOLS
    assert first["reference"] == CALL and second["messages"] == later("When?")
    assert third["model"] == "gpt-4o" and "reference" not in third
    assert art_adapt("scenarios", cwd=folder).returncode == 0


def test_secrets_are_left_out(folder: Path) -> None:
    key = "sk-" + "a" * 20
    rows = [*chat(f"use {key}"), *chat("When?"), *langsmith("Who?")]
    rows[-1]["outputs"] = {"output": f"the key is {key}"}
    write(folder / "export.jsonl", rows)
    code, said = logs(folder, "export.jsonl")
    assert code == 0 and "question looks like a secret (sk-a...)" in said
    assert key not in said and key not in (folder / "scenarios.jsonl").read_text()
    assert sorted(questions(folder)) == ["Who?", "When?"][::-1]
    logs(folder, "export.jsonl", "--allow", "question")
    assert len(questions(folder)) == 3


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ('{"a": 1}\n', 1, "no known format, the first is export.jsonl"),
        ("{broken\n", 2, "export.jsonl:1"),
        ("", 1, "no row has what a scenario needs: question"),
        (json.dumps(answered(CALL)), 1, "messages.list(id)"),
        (
            json.dumps({"messages": [{"role": "system", "content": "x"}]}),
            1,
            "no row has",
        ),
        (
            json.dumps({"messages": ["x"], "run_type": 3, "inputs": 4}),
            1,
            "no known format",
        ),
        (
            json.dumps({"type": "SPAN", "traceId": 1, "input": "{", "output": None}),
            1,
            "no row",
        ),
    ],
)
def test_what_is_no_log(text: str, code: int, words: str, folder: Path) -> None:
    (folder / "export.jsonl").write_text(text)
    exit_code, said = logs(folder, "export.jsonl")
    assert exit_code == code and words in said, said
    assert "Traceback" not in said and not (folder / "scenarios.jsonl").exists()


def test_a_missing_file_and_a_missing_module(folder: Path, tmp_path: Path) -> None:
    code, said = logs(folder, "none.jsonl")
    assert code == 2 and "none.jsonl" in said
    write(folder / "export.jsonl", chat("When?"))
    (folder / "agent_train.py").unlink()
    code, said = logs(folder, "export.jsonl")
    assert code == 2 and "no train module in this folder" in said


ODD = [
    {"object": "chat.completion", "created": "2024-05-01", "messages": asked("a")},
    {"object": "chat.completion", "created": 1e20, "messages": asked("b")},
    {"traceId": "t", "type": "SPAN", "input": {"args": None, "kwargs": None}},
    {"trace_id": ["a"], "run_type": "chain", "inputs": {"q": 1}, "outputs": {}},
    {"messages": asked("c"), "tools": ["search"]},
    {"messages": asked("d"), "tools": [{"type": "function", "function": None}]},
    {"messages": asked("e"), "items": [1, 2]},
    {"messages": asked("f"), "request": {"id": "r"}, "kwargs": {"temperature": 0}},
    {"id": "t", "traceId": "t", "input": "x", "observations": ["o1", "o2"]},
]


@pytest.mark.parametrize("row", ODD, ids=range(len(ODD)))
def test_an_odd_row_stops_no_export(row: dict[str, Any], folder: Path) -> None:
    write(folder / "export.jsonl", [row, *chat("Who is \ud83d?")])
    (folder / "scenarios.jsonl").write_text("[1]\n")
    code, said = logs(folder, "export.jsonl", "--only", "")
    assert code == 0 and "internal error" not in said, said
    *_, last = rows_of(folder)
    assert last["question"] == "Who is \ud83d?"
    if row.get("tools") is None and "messages" in row and "object" not in row:
        assert "no known format" not in said


def test_a_byte_order_mark_and_a_missing_folder(folder: Path) -> None:
    text = json.dumps(chat("When?")[0])
    (folder / "export.jsonl").write_text(text, encoding="utf-8-sig")
    assert logs(folder, "export.jsonl")[0] == 0 and questions(folder) == ["When?"]
    code, said = logs(folder, "export.jsonl", "-o", "no/such/out.jsonl")
    assert code == 2 and "the folder of this file does not exist" in said


@pytest.mark.parametrize(
    ("fields", "rows"),
    [
        # What handles a request is traced, and given something else than the question.
        ({"args": ["user_42"], "kwargs": {}}, ["When?"]),
        ({"args": ["When?"], "kwargs": {}}, ["When?"]),
        ({"args": ["user_42", "When?"], "kwargs": {}}, ["When?"]),
    ],
)
def test_an_argument_without_a_name(
    fields: dict[str, Any], rows: list[str], folder: Path
) -> None:
    span, generation = langfuse("When?")
    write(folder / "export.jsonl", [{**span, "input": fields}, generation])
    code, said = logs(folder, "export.jsonl")
    assert code == 0 and questions(folder) == rows, said


KEY = "a" * 24
HIDDEN = {
    "behind a line end": {"role": "user", "content": f"The key is\nsk-{KEY}"},
    "behind a tab": {"role": "user", "content": f"key\tAKIA{KEY[:16].upper()}"},
    "in arguments": {
        "role": "assistant",
        "tool_calls": [{"function": {"arguments": json.dumps({"password": KEY})}}],
    },
    "in a result": {"role": "tool", "content": json.dumps({"access_token": KEY})},
    "in a list in a result": {
        "role": "tool",
        "content": json.dumps([{"api_key": KEY}]),
    },
    "of a key of its own": {"role": "user", "content": [{"password": KEY}]},
    "of GitHub": {"role": "user", "content": f"github_pat_{KEY}"},
    "of Stripe": {"role": "user", "content": f"sk_live_{KEY}"},
    "of Google": {"role": "user", "content": f"AIza{KEY}{KEY}"},
}


@pytest.mark.parametrize("where", HIDDEN)
def test_secrets_in_conversations(where: str) -> None:
    assert list(secrets_in([SYSTEM, HIDDEN[where]]))
    assert not list(secrets_in([SYSTEM, *later("What is a password, and an api_key?")]))
