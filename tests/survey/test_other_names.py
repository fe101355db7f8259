"""Functions by another name, in a table or in an object are those that are run."""

from __future__ import annotations

from pathlib import Path

import pytest

from art_adapt.source import Source, read_source
from art_adapt.survey.model import Survey
from art_adapt.survey.survey import survey

LOOP = """\
import functools
import json
import subprocess

from openai import OpenAI

client = OpenAI()


class Todo:
    def __init__(self):
        self.items = []

    def update(self, items):
        self.items = items


def shell(command):
    return subprocess.run(command, shell=True).stdout


def delegate(task: str) -> str:
    messages = [{{"role": "user", "content": task}}]
    for _ in range(30):
        message = client.chat.completions.create(model="m", messages=messages).choices[0].message
        messages.append(message)
        if "DONE" in message.content:
            break
    return message.content


TODO = Todo()
{tools}


def solve(task: str) -> str:
    messages = [{{"role": "user", "content": task}}]
    while True:
        message = client.chat.completions.create(model="m", messages=messages).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            out = HANDLERS[call.function.name](**json.loads(call.function.arguments))
            messages.append({{"role": "tool", "tool_call_id": call.id, "content": out}})
"""


def of(text: str) -> Survey:
    return survey([Source(Path("/nowhere/agent.py"), text.encode())])


@pytest.mark.parametrize(
    "tools",
    [
        'HANDLERS = {"task": lambda **given: delegate(given["task"])}',
        'HANDLERS = dict(task=lambda task: delegate(task))',
        'HANDLERS = {"task": functools.partial(delegate)}',
        'task = lambda **given: delegate(**given)\nHANDLERS = {"task": task}',
        'task = functools.partial(delegate)\nHANDLERS = {"task": task}',
        'HANDLERS = {}\nHANDLERS["task"] = lambda task: delegate(task)',
    ],
)  # fmt: skip
def test_a_tool_that_is_an_agent_is_not_the_episode(tools: str) -> None:
    assert of(LOOP.format(tools=tools)).entry_points[0].name == "solve"


@pytest.mark.parametrize(
    ("tools", "what"),
    [
        ('HANDLERS = {"sh": lambda **given: shell(given["command"])}', "subprocess.run()"),
        ('HANDLERS = {"sh": functools.partial(shell)}', "subprocess.run()"),
        ('run = functools.partial(shell)\nHANDLERS = {"sh": run}', "subprocess.run()"),
        ('HANDLERS = {"sh": lambda command: subprocess.run(command)}', "subprocess.run()"),
        ('HANDLERS = {"todo": lambda **given: TODO.update(given["items"])}', "the module-level TODO, which Todo.update changes"),
        ('ROWS = []\nHANDLERS = {"add": lambda row: ROWS.append(row)}', "the module-level ROWS, which a lambda changes"),
    ],
)  # fmt: skip
def test_what_a_tool_in_a_lambda_or_a_partial_does_is_an_obstacle(
    tools: str, what: str
) -> None:
    effects = of(LOOP.format(tools=tools)).files[0].effects
    assert what in [each.what for each in effects]


def test_what_a_lambda_starts_is_not_run_at_import() -> None:
    tools = 'HANDLERS = {"task": lambda task: delegate(task)}'
    effects = of(LOOP.format(tools=tools)).files[0].effects
    assert not [each for each in effects if each.calls]


def project(folder: Path, **texts: str) -> Survey:
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    return survey([read_source(folder / "main.py")])


LLM = (
    "from openai import OpenAI\n\n\ndef run(task: str) -> str:\n"
    "    messages = [{'role': 'user', 'content': task}]\n"
    "    return OpenAI().chat.completions.create(model='m', messages=messages).choices[0].message.content\n\n\n"
)


@pytest.mark.parametrize(
    ("alias", "main"),
    [
        ("go = run", "from llm import go\n\n\ndef main():\n    print(go(input()))\n"),
        ("go = run", "import llm\n\n\ndef main():\n    print(llm.go(input()))\n"),
        ("import functools\ngo = functools.partial(run)", "from llm import go\n\n\ndef main():\n    print(go(input()))\n"),
        ("import functools\ngo = functools.lru_cache(run)", "from llm import go\n\n\ndef main():\n    print(go(input()))\n"),
        ("go = lambda task: run(task)", "from llm import go\n\n\ndef main():\n    print(go(input()))\n"),
        ("", "from llm import run\n\n\ndef main():\n    go = run\n    print(go(input()))\n"),
    ],
)  # fmt: skip
def test_a_function_by_another_name_is_found(
    alias: str, main: str, tmp_path: Path
) -> None:
    found = project(tmp_path, main=main, llm=f"{LLM}{alias}\n")
    assert "run" in [each.name for each in found.entry_points]


RECORD = """\
import subprocess
from dataclasses import dataclass
from typing import Callable


@dataclass
class Tool:
    name: str
    fn: Callable

    def run(self, **given):
        return self.fn(**given)


def shell(command):
    return subprocess.run(command, shell=True).stdout


"""
READS = """\
import json

from openai import OpenAI
{imports}


def solve(task: str) -> str:
    messages = [{{"role": "user", "content": task}}]
    while True:
        message = OpenAI().chat.completions.create(model="m", messages=messages).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            out = {call}(**json.loads(call.function.arguments))
            messages.append({{"role": "tool", "tool_call_id": call.id, "content": out}})
"""


@pytest.mark.parametrize(
    ("table", "imports", "call"),
    [
        ('TOOLS = {"sh": Tool("sh", shell)}', "from tools import TOOLS", "TOOLS[call.function.name].fn"),
        ('TOOLS = {"sh": Tool(name="sh", fn=shell)}', "import tools", "tools.TOOLS[call.function.name].fn"),
        ('TOOLS = [Tool("sh", shell)]', "from tools import TOOLS", "next(t for t in TOOLS if t.name == call.function.name).run"),
        ('SHELL = Tool("sh", shell)', "from tools import SHELL", "SHELL.fn"),
        ('TOOLS = []\nTOOLS.append(Tool("sh", shell))', "from tools import TOOLS", "TOOLS[0].fn"),
    ],
)  # fmt: skip
def test_what_a_tool_in_a_record_does_is_an_obstacle(
    table: str, imports: str, call: str, tmp_path: Path
) -> None:
    main = READS.format(imports=imports, call=call)
    found = project(tmp_path, main=main, tools=f"{RECORD}{table}\n")
    effects = [each.what for file in found.files for each in file.effects]
    assert "subprocess.run()" in effects


def told(folder: Path, **texts: str) -> list[str]:
    found = project(folder, **texts)
    return [each.what for file in found.files for each in file.effects]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """It may be in the syntax of a newer Python: what its tools do is not known."""
    main = READS.format(
        imports="from tools import TOOLS", call="TOOLS[call.function.name]"
    )
    assert told(tmp_path, main=main, tools="TOOLS = {\n") == [
        "tools.py, which could not be read,"
    ]


@pytest.mark.parametrize(
    ("loader", "imports"),
    [
        ("def load():\n    return [importlib.import_module(n).run for n in NAMES]\n", "from loader import load\n\nTOOLS = load()"),
        ("TOOLS = [importlib.import_module(n).run for n in NAMES]\n", "from loader import TOOLS"),
    ],
)  # fmt: skip
def test_tools_that_are_loaded_by_their_names_are_not_known(
    loader: str, imports: str, tmp_path: Path
) -> None:
    main = READS.format(imports=imports, call="TOOLS[call.function.name]")
    loader = f"import importlib\n\nNAMES = ('a', 'b')\n\n\n{loader}"
    effects = told(tmp_path, main=main, loader=loader)
    assert effects == ["a module that is loaded by its name"]
