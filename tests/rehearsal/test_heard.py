"""A form that only the agent's code knows: the model of a watched run shows it to a rehearsal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from agent_files import art_adapt, first_now
from scripted_engine import Engine

HEAD = """\
import json
import sys

from openai import OpenAI

client = OpenAI()


def sort_mail(mail: str) -> str:
    asked = [{"role": "user", "content": f"Sort this mail: {mail}"}]
"""
END = """\
    return f"to {queue}"


if __name__ == "__main__":
    for each in sys.argv[1:]:
        print(sort_mail(each))
"""
ASK = 'client.chat.completions.create(model="m", messages=asked).choices[0].message.content'
# How an agent reads what its model says, and replies that it takes.
READS = {
    "JSON": (
        f"    said = json.loads({ASK})\n    queue = said['queue']\n"
        "    if queue not in ('billing', 'support') or not 0 < said['urgency'] < 6:\n"
        "        raise ValueError(queue)\n",
        ['{"queue": "billing", "urgency": 2}', '```json\n{"queue": "support", "urgency": 5}\n```'],
    ),
    "JSON that it asks for again": (
        f"    said = json.loads({ASK})\n    if said['urgency'] > 5:\n"
        "        asked += [{'role': 'assistant', 'content': json.dumps(said)}, {'role': 'user', 'content': 'Up to 5!'}]\n"
        f"        said = json.loads({ASK})\n    if said['urgency'] > 5:\n        raise ValueError(said)\n"
        "    queue = said['queue']\n",
        ['{"queue": "billing", "urgency": 9}', '{"queue": "billing", "urgency": 5}', '{"queue": "support", "urgency": 1}'],
    ),
    "JSON of another form for each role": (
        "    system = {'role': 'system', 'content': 'You sort the mail of a large shop for its two desks.'}\n"
        "    ask = lambda text: json.loads(client.chat.completions.create(model='m', messages=[\n"
        "        system, {'role': 'user', 'content': f'Mail: {mail}\\n{text}\\nReturn JSON only.'}\n"
        "    ]).choices[0].message.content)\n"
        "    first = ask('Name the queue.')['queue']\n"
        "    queue = ask('Say whether that fits.')['fits'] and first\n",
        ['{"queue": "billing"}', '{"fits": true}', '{"queue": "support"}', '{"fits": true}'],
    ),
    "a query in JSON, in prose at times": (
        f"    text = {ASK}\n    queue = json.loads(text[text.index('{{'):])['sql']\n"
        "    if not queue.startswith('SELECT'):\n        raise ValueError(queue)\n",
        ['{"sql": "SELECT name FROM mails"}', 'Here it is: {"sql": "SELECT count(*) FROM mails"}'],
    ),
    "a move, of which some games never see one": (
        f"    queue = 'nobody'\n    for _ in range(9):\n        said = {ASK}\n"
        "        if said.startswith('->'):\n            queue = said[2:]\n            break\n"
        "    else:\n        raise ValueError(said)\n",
        ["->billing", "->support"],
    ),
}  # fmt: skip


@pytest.mark.wide
@pytest.mark.parametrize("form", first_now(READS, 3))
def test_replies_have_the_form_of_the_watched_ones(form: str, tmp_path: Path) -> None:
    body, replies = READS[form]
    if "```" in "".join(replies):
        body = body.replace(ASK, f"{ASK}.strip('`').removeprefix('json')")
    (tmp_path / "agent.py").write_text(HEAD + body + END)
    with Engine([{"content": each} for each in replies]) as engine:
        address = {"OPENAI_BASE_URL": engine.base_url, "OPENAI_API_KEY": "k"}
        seen = subprocess.run(
            [sys.executable, "-m", "art_adapt", "capture", "--", sys.executable, "agent.py",
             "Where is my invoice?", "The app does not start"],
            cwd=tmp_path, capture_output=True, check=False, env={**os.environ, **address},
        )  # fmt: skip
    assert seen.returncode == 0, seen.stderr.decode()
    assert art_adapt("-y", "agent.py", cwd=tmp_path).returncode == 0
    done = art_adapt("rehearse", "--json", "agent_train.py", cwd=tmp_path)
    found = json.loads(done.stdout)["findings"]
    assert not [each for each in found if each["name"] in ("failed", "answer")], found
