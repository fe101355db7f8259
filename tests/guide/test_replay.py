"""What is recommended for an agent that reaches outside follows from how it does."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import art_adapt

from art_adapt.guide.question import Situation
from art_adapt.guide.questions.replay import questions
from art_adapt.settings import Options
from art_adapt.source import read_source
from art_adapt.survey.survey import survey

AGENT = """\
IMPORT
from openai import OpenAI


def look(task):
    return TOOL


def run_agent(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    while True:
        reply = OpenAI().chat.completions.create(model="m", messages=messages).choices[0].message
        if not reply.tool_calls:
            return reply.content
        messages.append(reply)
        for call in reply.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": look(question)})
"""
# What a tool does, the first choice, and whether that one is recommended.
TOOLS = {
    "it reads": ("import requests", "requests.get('https://x.y').text", "yes, run it as it is", True),
    "it posts": ("import requests", "requests.post('https://x.y').text", "no, train on recorded requests", False),
    "it deletes": ("import httpx", "httpx.delete('https://x.y').text", "no, train on recorded requests", False),
    "it mails": ("import smtplib\n\nSERVER = smtplib.SMTP('h')", "SERVER.sendmail('a', 'b', task)", "no, train on recorded requests", False),
    "a shell": ("import subprocess", "subprocess.run(task, shell=True)", "yes, each in a copy of the project's folder", True),
    "a shell by its name": ("import os", "os.popen(task).read()", "yes, each in a copy of the project's folder", True),
    "a shell's words": ("import subprocess", "subprocess.run(['bash', '-c', task])", "yes, each in a copy of the project's folder", True),
    "a program": ("import subprocess", "subprocess.run(['git', 'log'])", "yes, run it as it is", True),
    "a fixed command": ("import subprocess", "subprocess.run('date', shell=True)", "yes, run it as it is", True),
    "code": ("", "exec(task)", "yes, each in a copy of the project's folder", True),
    "it writes a file": ("", "open('log.txt', 'a').write(task)", "yes, each in a copy of the project's folder", True),
}  # fmt: skip


@pytest.mark.parametrize("kind", TOOLS)
def test_what_is_sent_for_real_is_for_the_user_to_say(
    kind: str, tmp_path: Path
) -> None:
    imported, tool, first, recommended = TOOLS[kind]
    path = tmp_path / "agent.py"
    path.write_text(AGENT.replace("IMPORT", imported).replace("TOOL", tool))
    found = survey([read_source(path)])
    (asked,) = questions(Situation(found, Options(), (path,), found))
    assert asked.choices[0].says == first
    assert asked.open is not recommended
    # Whoever is not asked gets what keeps the project as it is, or is told.
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    said = done.stdout.decode()
    in_copy = "in a copy" in first
    assert ("each episode in a copy of the project's folder" in said) is in_copy
    is_real = kind not in (
        "it reads",
        "a program",
        "a fixed command",
        "it writes a file",
    )
    assert ("may hundreds of episodes do this for real?" in said) is is_real
