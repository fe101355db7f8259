"""What works in the main thread only works in the process of an episode."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_files import art_adapt
from test_rehearse import rehearse

HEAD = """\
import asyncio
import json
import signal
import threading

from openai import OpenAI

client = OpenAI()
TOOLS = [{"type": "function", "function": {"name": "run", "parameters": {
    "type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}}}]


def too_long(number, frame):
    raise TimeoutError("the code took too long")


"""
LOOP = """

def solve(task: str) -> str:
    messages = [{"role": "user", "content": task}]
    for _ in range(20):
        reply = client.chat.completions.create(model="m", messages=messages, tools=TOOLS)
        message = reply.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            try:
                result = run(**json.loads(call.function.arguments))
            except Exception as error:
                result = repr(error)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return "gave up"
"""
LIMITED = """\
def run(code: str) -> str:
    signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, 5)
    try:
        return "ran " + code
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
"""
GUARDED = LIMITED.replace(
    "    signal.signal(signal.SIGALRM, too_long)\n",
    "    if threading.current_thread() is threading.main_thread():\n"
    "        signal.signal(signal.SIGALRM, too_long)\n",
)
LOOPING = """\
async def ran(code: str) -> str:
    return "ran " + code


def run(code: str) -> str:
    return asyncio.get_event_loop().run_until_complete(ran(code))
"""


def told(folder: Path, tool: str, *options: str) -> tuple[object, list[str], list[str]]:
    """Return how episodes are kept apart, what a rehearsal finds, and which tools ran."""
    (folder / "agent.py").write_text(HEAD + tool + LOOP)
    rows = [json.dumps({"task": f"Print {n}."}) for n in range(4)]
    (folder / "scenarios.jsonl").write_text("\n".join(rows) + "\n")
    done = art_adapt("agent.py", "-y", "--json", *options, cwd=folder)
    isolate = json.loads(done.stdout)["decisions"]["isolate"]["value"]
    _, out, errors = rehearse("agent_train.py", "--json", cwd=folder)
    assert out, errors
    said = json.loads(out)
    return isolate, [f["name"] for f in said["findings"]], said["witnessed"]


@pytest.mark.wide
def test_a_tool_that_sets_a_signal_runs_in_a_process_of_the_episode(
    tmp_path: Path,
) -> None:
    isolate, findings, witnessed = told(tmp_path, LIMITED)
    assert (isolate, findings) == ("process", [])
    assert any(each.startswith("the tool run was called and answered") for each in witnessed)  # fmt: skip


@pytest.mark.wide
def test_what_sets_no_signal_elsewhere_needs_no_process(tmp_path: Path) -> None:
    assert told(tmp_path, GUARDED)[:2] == (None, [])


@pytest.mark.wide
@pytest.mark.parametrize(("isolate", "findings"), [("none", ["threads", "tool fails"]), ("process", [])])  # fmt: skip
def test_an_event_loop_is_there_in_the_main_thread(
    isolate: str, findings: list[str], tmp_path: Path
) -> None:
    _, found, _ = told(tmp_path, LOOPING, "--isolate", isolate)
    assert found == findings
