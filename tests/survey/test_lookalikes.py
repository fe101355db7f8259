"""Objects of a project that are called in the words of the OpenAI client, and are none."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import art_adapt

POST = "return requests.post('https://models.example.com/generate', json=asked).json()"
SAME = f"""\
import requests


class Model:
    def __init__(self):
        self.chat = self
        self.completions = self

    def create(self, **asked):
        {POST}
"""
NESTED = f"""\
import requests


class Completions:
    def create(self, **asked):
        {POST}


class Chat:
    def __init__(self):
        self.completions = Completions()


class Model:
    def __init__(self):
        self.chat = Chat()
"""
PROPERTIES = f"""\
import requests


class Model:
    @property
    def chat(self):
        return self

    @property
    def completions(self):
        return self

    def create(self, **asked):
        {POST}
"""
ASKING = """\
import os

from openai import OpenAI
from model import Model

{at_top}

def run(task: str) -> str:
{inside}
    asked = [{{"role": "user", "content": task}}]
    return client.chat.completions.create(model="m", messages=asked).choices[0].message.content
"""
LOCAL = ASKING.format(at_top="", inside="    client = Model()")
TOP = ASKING.format(at_top="client = Model()\n", inside="    print(task)")
MADE = ASKING.format(
    at_top="\ndef make():\n    return Model()\n", inside="    client = make()"
)
EITHER = ASKING.format(
    at_top="", inside="    client = Model() if 'TEST' in os.environ else OpenAI()"
)
BRANCHES = ASKING.format(
    at_top="",
    inside="    if 'TEST' in os.environ:\n        client = Model()\n    else:\n        client = OpenAI()",
)
WRAPPING = """\
from openai import OpenAI


class Model:
    def __init__(self):
        self.chat = OpenAI().chat
"""
ASKING_ITSELF = """\
from openai import OpenAI


class Model:
    def __init__(self):
        self.inner = OpenAI()
        self.chat = self
        self.completions = self

    def create(self, **asked):
        return self.inner.chat.completions.create(**asked)
"""


def adapted(folder: Path, model: str, agent: str) -> tuple[int, str]:
    (folder / "model.py").write_text(model)
    (folder / "agent.py").write_text(agent)
    done = art_adapt("--diff", "agent.py", cwd=folder)
    return done.returncode, (done.stdout + done.stderr).decode()


@pytest.mark.parametrize("model", [SAME, NESTED, PROPERTIES])
@pytest.mark.parametrize("agent", [LOCAL, TOP, MADE])
def test_another_service_in_the_clients_words_is_refused_by_name(
    model: str, agent: str, tmp_path: Path
) -> None:
    code, said = adapted(tmp_path, model, agent)
    assert code == 2
    assert "create() of model.py, a class of yours" in said


@pytest.mark.parametrize(
    ("model", "agent", "file"),
    [
        (SAME, EITHER, "agent.py"),
        (SAME, BRANCHES, "agent.py"),
        (WRAPPING, LOCAL, "agent.py"),
        (ASKING_ITSELF, LOCAL, "model.py"),
    ],
)
def test_what_asks_a_client_in_the_end_is_hooked_there(
    model: str, agent: str, file: str, tmp_path: Path
) -> None:
    code, said = adapted(tmp_path, model, agent)
    assert code == 1
    hooked = [
        line for line in said.splitlines() if "recorded(" in line and line[0] == "+"
    ]
    assert any("client" in line or "inner" in line for line in hooked)
    assert f"policy call {file}:" in said
