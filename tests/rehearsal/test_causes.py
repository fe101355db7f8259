"""A rehearsal says what is the cause, and a fix that fits it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_files import art_adapt, first_now

HEAD = "import json\nfrom openai import OpenAI\n\nclient = OpenAI()\n\n\n"
LOOP = (
    "def run(task: str) -> str:\n    messages = [{'role': 'user', 'content': task}]\n"
    "    for _ in range(LIMIT):\n"
    "        said = client.chat.completions.create(model='m', messages=messages, FORM).choices[0].message.content\n"
    "        messages.append({'role': 'assistant', 'content': SENT})\n"
    "        if DONE:\n            return said\n"
    "        messages.append({'role': 'user', 'content': 'Go on.'})\n    return said\n"
)
JSON = "response_format={'type': 'json_object'}"


def _agent(*, form: str = "", sent: str = "said", done: str, limit: int = 4) -> str:
    parts = {"FORM": form, "SENT": sent, "DONE": done, "LIMIT": str(limit)}
    text = HEAD + LOOP
    for name, value in parts.items():
        text = text.replace(name, value)
    return text.replace(", )", ")")


def _editor(edit: str, *fields: str, required: str) -> str:
    """An agent that runs ``edit()`` as its model asks."""
    return (
        f"{HEAD}{edit}\n\n"
        f"FIELDS = dict.fromkeys({fields!r}, {{'type': 'string'}})\n"
        f"SCHEMA = {{'type': 'object', 'properties': FIELDS, 'required': {required.split()!r}}}\n"
        "TOOLS = [{'type': 'function', 'function': {'name': 'edit', 'parameters': SCHEMA}}]\n\n\n"
        "def run(task: str) -> str:\n    messages = [{'role': 'user', 'content': task}]\n"
        "    for _ in range(4):\n"
        "        said = client.chat.completions.create(model='m', messages=messages, tools=TOOLS)\n"
        "        message = said.choices[0].message\n        messages.append(message)\n"
        "        for call in message.tool_calls or []:\n"
        "            done = edit(**json.loads(call.function.arguments))\n"
        "            messages.append({'role': 'tool', 'tool_call_id': call.id, 'content': done})\n"
        "        if not message.tool_calls:\n            return message.content\n    return ''\n"
    )


# An agent, what its rehearsal says, and what it does not.
CAUSES = {
    "a reply in another form": (
        _agent(form=JSON, sent="json.dumps(json.loads(said), indent=4)", done="'end' in said"),
        "in another form than the model wrote them",
        "changes messages that it has already sent",
    ),
    "messages that are changed": (
        _agent(sent="said[::-1]", done="False"),
        "changes the model's replies before it sends them back (assistant: '",
        "in another form",
    ),
    "instructions that a response id does not carry over": (
        HEAD
        + "def run(task: str) -> str:\n"
        "    first = client.responses.create(model='m', instructions='You plan.', input=task)\n"
        "    later = client.responses.create(model='m', input='Shorter.', previous_response_id=first.id)\n"
        "    return later.output_text\n",
        "leaves out the system message that it has sent before (system: 'You plan.', later user: '",
        "changes messages",
    ),
    "every episode at its limit": (
        _agent(done="'<answer>' in said", limit=12),
        "every episode took 12 turns and none ended by itself",
        "went round again",
    ),
    "a service at import": (
        "import urllib.request\n"
        "from openai import OpenAI\n\nclient = OpenAI()\n"
        "WORDS = urllib.request.urlopen('http://127.0.0.1:9/words').read()\n\n\n"
        "def run(task: str) -> str:\n"
        "    asked = [{'role': 'user', 'content': task}]\n"
        "    return client.chat.completions.create(model='m', messages=asked).choices[0].message.content\n",
        "fix",
        "return a low reward",
    ),
    "a name that nothing defines in a tool": (
        _editor("def edit(path):\n    return pathh\n", "path", required="path"),
        "correct agent.py:13, which no reply of a model can run",
        "catch ",
    ),
    "a name in code that the model wrote": (
        HEAD
        + "def run(task: str) -> str:\n    asked = [{'role': 'user', 'content': task}]\n"
        "    client.chat.completions.create(model='m', messages=asked)\n"
        "    exec('done = nothing_here')\n    return 'done'\n",
        "no line of the agent raised it",
        "which no reply of a model can run",
    ),
    "a tool that needs more than its schema requires": (
        _editor(
            "def edit(path, before, after):\n    return path + before + after\n",
            "path", "before", "after",
            required="path after",
        ),
        "the schema of edit does not require before, and the function does",
        "CONCURRENCY = 1",
    ),
    "a lock that one at a time may have": (
        "import asyncio\nfrom openai import AsyncOpenAI\n\nBUSY = []\n\n\n"
        "async def run(task: str) -> str:\n    if BUSY:\n        raise ConnectionError('database is locked')\n"
        "    BUSY.append(1)\n    try:\n        await asyncio.sleep(0.3)\n"
        "        asked = [{'role': 'user', 'content': task}]\n"
        "        reply = await AsyncOpenAI().chat.completions.create(model='m', messages=asked)\n"
        "        return str(reply.choices[0].message.content)\n    finally:\n        BUSY.clear()\n",
        "set CONCURRENCY = 1",
        "Nothing found",
    ),
    "a folder that rollouts share": (
        "import os, shutil, time\n" + HEAD
        + "def run(task: str) -> str:\n    if os.path.exists('work'):\n        shutil.rmtree('work')\n"
        "    os.makedirs('work')\n    open('work/task', 'w').write(task)\n    time.sleep(0.2)\n"
        "    asked = [{'role': 'user', 'content': open('work/task').read()}]\n"
        "    return client.chat.completions.create(model='m', messages=asked).choices[0].message.content\n",
        "if rollouts share this file or folder, give each its own copy with --isolate copy",
        "supply others with --replies",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", first_now(CAUSES, 2))
def test_a_rehearsal_says_the_cause(kind: str, tmp_path: Path) -> None:
    agent, said, unsaid = CAUSES[kind]
    (tmp_path / "agent.py").write_text(agent)
    tasks = ("count the apples in the basket", "name the rivers of France")
    rows = "\n".join(json.dumps({"task": task}) for task in tasks)
    (tmp_path / "scenarios.jsonl").write_text(rows)
    art_adapt("--isolated", "agent.py", "--isolate", "none", cwd=tmp_path)
    done = art_adapt("rehearse", "agent_train.py", cwd=tmp_path).stdout.decode()
    assert said in done, done
    assert unsaid not in done, done


REWARDS = {
    "return float(scenario.expectd in str(trajectory))": "did you mean expected, which the rows have?",
    "return float(scenario.level)": 'add "level" to every row of the scenarios',
    "return float(trajectory.answer == 1)": "a trajectory has no answer",
    None: "it is called with two arguments: def score(trajectory, scenario)",
}


@pytest.mark.parametrize("body", first_now(REWARDS, 1))
def test_a_reward_that_raises_gets_the_remedy_that_fits(
    body: str | None, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(_agent(done="True"))
    head = "def score(trajectory, scenario):\n    "
    (tmp_path / "rewards.py").write_text(f"{head}return 1\n")
    row = {"task": "count the apples", "expected": "seven"}
    (tmp_path / "scenarios.jsonl").write_text(json.dumps(row))
    art_adapt("--isolated", "agent.py", "--reward", "rewards:score", cwd=tmp_path)
    text = (
        f"{head}{body}" if body is not None else "def score(trajectory):\n    return 1"
    )
    (tmp_path / "rewards.py").write_text(f"{text}\n")
    for command in ("rehearse", "doctor"):
        done = art_adapt(command, "agent_train.py", cwd=tmp_path).stdout.decode()
        assert REWARDS[body] in " ".join(done.split()), done
