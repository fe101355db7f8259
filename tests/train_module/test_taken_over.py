"""What is taken over from the agent's code gets names that are free in a train module."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from agent_files import art_adapt

AGENT = """\
from openai import OpenAI


class Persona:
    def __init__(self, name, text=""):
        self.name = name
        self.text = text

    def prompt(self):
        return self.text


class Runner:
    def run(self, question: str, persona):
        messages = [
            {"role": "system", "content": persona.prompt()},
            {"role": "user", "content": question},
        ]
        reply = OpenAI().chat.completions.create(model="m", messages=messages)
        return reply.choices[0].message.content


def main():
"""


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            [
                'agent = Persona("agent", text="the agent")',
                "print(Runner().run(input(), agent))",
            ],
            [
                '    given_agent = Persona("agent", text="the agent")',
                "persona=given_agent",
            ],
        ),
        (
            [
                'score = "agent"',
                'agent = Persona(f"{score} é", text=score)',
                "print(Runner().run(input(), persona=agent))",
            ],
            ["given_agent = Persona(f'{given_score} é', text=given_score)"],
        ),
        (
            [
                "import asyncio as art",
                "print(Runner().run(input(), Persona(art.__name__)))",
            ],
            ["import asyncio as given_art", "Persona(given_art.__name__)"],
        ),
    ],
)
def test_names_of_the_train_module_stay_its_own(
    lines: list[str], expected: list[str], tmp_path: Path
) -> None:
    body = "".join(f"    {line}\n" for line in lines)
    start = AGENT
    if "import" in lines[0]:
        start, body = f"{lines[0]}\n{AGENT}", f"    {lines[1]}\n"
    (tmp_path / "agent.py").write_text(start + body)
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "agent_train.py").read_text()
    ast.parse(text)
    for each in expected:
        assert each in text, text
    assert "fill_in" not in text


def test_a_record_comes_from_the_file_that_defines_it(tmp_path: Path) -> None:
    """The agent's file knows neither the provider's class nor what that is given."""
    package = tmp_path / "app"
    package.mkdir()
    files = {
        "__init__": "",
        "base": "from abc import ABC, abstractmethod\n\nclass Backend(ABC):\n    @abstractmethod\n    def reply(self, messages): ...\n",
        "settings": "from dataclasses import dataclass\n\n@dataclass\nclass ProviderConfig:\n    name: str\n    limit: int\n",
        "gpt": (
            "from openai import OpenAI\n\nfrom .base import Backend\nfrom .settings import ProviderConfig\n\n"
            "class GptBackend(Backend):\n    def __init__(self, config: ProviderConfig):\n        self.config = config\n\n"
            "    def reply(self, messages):\n        created = OpenAI().chat.completions.create(model='m', messages=messages)\n"
            "        return created.choices[0].message.content\n"
        ),
        "agent": (
            "from .base import Backend\n\nclass Agent:\n    def __init__(self, backend: Backend):\n        self.backend = backend\n\n"
            "    def run(self, task: str):\n        messages = [{'role': 'user', 'content': task}]\n        for _ in range(3):\n"
            "            messages.append({'role': 'assistant', 'content': self.backend.reply(messages)})\n        return messages[-1]['content']\n"
        ),
    }
    for name, text in files.items():
        (package / f"{name}.py").write_text(text)
    (tmp_path / "pyproject.toml").touch()
    done = art_adapt("--isolated", "app", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    text = (package / "agent_train.py").read_text()
    assert "from .agent import Agent\n" in text
    assert re.search(r"from (app|)\.settings import ProviderConfig\n", text)


LONG = """\
        Runner(
                tools=[search_the_catalogue_of_the_shop, cancel_an_order_of_somebody,
                       send_a_message_to_somebody],
                limits={'turns': 10, 'tokens': 'as many as it takes to answer the question, and no more'},
            # who it is
            persona=Persona('a helpful person of the shop', text=some_text_about_the_person,)
        ).run(input())
"""


def test_what_is_taken_over_is_laid_out_as_formatters_do(tmp_path: Path) -> None:
    agent = AGENT.replace(
        "class Runner:\n",
        "class Runner:\n    def __init__(self, tools, limits, persona):\n"
        "        self.tools, self.limits, self.persona = tools, limits, persona\n\n",
    ).replace("question: str, persona", "question: str")
    agent = agent.replace("persona.prompt()", "self.persona.prompt()")
    start = (
        "from shop import (cancel_an_order_of_somebody, search_the_catalogue_of_the_shop,\n"
        "    send_a_message_to_somebody, some_text_about_the_person)\n"
    )
    (tmp_path / "shop.py").write_text(
        "def search_the_catalogue_of_the_shop(): ...\ndef cancel_an_order_of_somebody(): ...\n"
        "def send_a_message_to_somebody(): ...\nsome_text_about_the_person = ''\n"
    )
    (tmp_path / "agent.py").write_text(
        f"{start}{agent}{LONG.replace('        ', '    ', 1)}"
    )
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "agent_train.py").read_text()
    assert "        tools=[\n            search_the_catalogue_of_the_shop,\n" in text, (
        text
    )
    ruff = [sys.executable, "-m", "ruff", "format", "--diff", "agent_train.py"]
    stable = subprocess.run(ruff, cwd=tmp_path, capture_output=True, check=False)
    assert stable.returncode == 0, stable.stdout.decode()


DEMONSTRATED = """\
from openai import OpenAI

client = OpenAI()


def look(item):
    return item


def run_loop(question, tools):
    known = {tool["function"].__name__: tool["function"] for tool in tools}
    messages = [{"role": "user", "content": question}]
    for _ in range(5):
        reply = client.chat.completions.create(model="m", messages=messages)
        name, _, given = reply.choices[0].message.content.partition(" ")
        messages.append({"role": "user", "content": str(known[name](given))})
    return messages[-1]["content"]


if __name__ == "__main__":
    tools = [{"function": look}]
"""
RUNS = {
    "several lines": '    run_loop(\n        "Can I?",\n        tools=tools,\n    )\n',
    "one line": '    run_loop("Can I?", tools=tools)\n',
    "printed": '    print(\n        run_loop(\n            "Can I?",\n            tools,\n        )\n    )\n',
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_a_demonstration_is_no_preparation(run: str, tmp_path: Path) -> None:
    again = '    run_loop("May I?", tools=tools)\n'
    (tmp_path / "agent.py").write_text(DEMONSTRATED + run + again)
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    module = (tmp_path / "agent_train.py").read_text()
    assert module.count("run_loop(") == 1 and "Can I?" not in module
    assert 'tools = [{"function": look}]' in module


STOCK = """\
from openai import OpenAI

client = OpenAI()
stock = {"P-01": 34, "P-02": 210}
GOAL = "clear it"


def suggest(sku, goal="margin"):
    messages = [{"role": "user", "content": f"A price for {sku}. The goal is {goal}."}]
    reply = client.chat.completions.create(model="m", messages=messages)
    return reply.choices[0].message.content


"""


@pytest.mark.parametrize(
    ("run", "passed"),
    [
        ("for sku in stock:\n    print(suggest(sku, goal=str(stock[sku])))\n", False),
        ("for sku in stock:\n    how = f'sell {sku}'\n    print(suggest(sku, how))\n", False),
        ("while stock:\n    sku, n = stock.popitem()\n    print(suggest(sku, goal=n))\n", False),
        ("for sku in stock:\n    print(suggest(sku, goal=GOAL))\n", True),
    ],
)  # fmt: skip
def test_what_a_modules_own_loop_sets_is_not_imported(
    run: str, passed: bool, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(STOCK + run)
    command = ("--isolated", "-y", "--entry", "suggest", "agent.py")
    done = art_adapt(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    module = (tmp_path / "agent_train.py").read_text()
    assert ("goal=GOAL" in module) == passed and "stock" not in module, module


MODELS = """\
from openai import OpenAI


class Agent:
    def __init__(self, tools, limit=2, model="m-1"):
        self.tools, self.limit, self.model = tools, limit, model
        self.client = OpenAI()

    def run(self, query):
        messages = [{"role": "user", "content": f"{list(self.tools)} {query}"}]
        for _ in range(self.limit):
            reply = self.client.chat.completions.create(model=self.model, messages=messages)
            if said := reply.choices[0].message.content:
                return said


def look(item):
    return item


if __name__ == "__main__":
    agent = Agent({"look": look}, limit=2, model="org/m-2")
    for query in ("a", "b"):
        print(agent.run(query))
"""


def test_the_models_name_is_passed_and_an_equal_default_is_no_note(
    tmp_path: Path,
) -> None:
    (tmp_path / "agent.py").write_text(MODELS)
    done = art_adapt("--isolated", "-y", "agent.py", cwd=tmp_path)
    said = done.stdout.decode() + done.stderr.decode()
    assert "cannot be copied" not in said and "limit" not in said.partition("Decided")[
        0
    ].replace("self.limit", "")
    assert 'model="org/m-2"' in (tmp_path / "agent_train.py").read_text()


def test_calls_that_name_different_models_leave_the_default(tmp_path: Path) -> None:
    other = '\n\nclass Judge:\n    def __init__(self):\n        self.agent = Agent({"look": look}, model="tiny")\n'
    (tmp_path / "agent.py").write_text(
        MODELS.replace("\n\nif __name__", f"{other}\n\nif __name__")
    )
    done = art_adapt("--isolated", "-y", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (
        "model="
        not in (tmp_path / "agent_train.py")
        .read_text()
        .partition("def episode")[2][:400]
    )


COMMAND = """\
import argparse
import json
from pathlib import Path
from openai import OpenAI


def load_config(path):
    return json.loads(Path(path).read_text())


class Session:
    def __init__(self, config: dict):
        self.config, self.client = config, OpenAI()

    def handle(self, line: str) -> str:
        messages = [{"role": "system", "content": self.config["system"]}, {"role": "user", "content": line}]
        reply = self.client.chat.completions.create(model="m", messages=messages)
        return reply.choices[0].message.content


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default=DEFAULT)
    arguments = parser.parse_args()
    session = Session(load_config(arguments.config))
    while True:
        print(session.handle(input("> ")))


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("default", "taken"),
    [
        ('str(Path(__file__).with_name("c.json"))', True),
        ('Path(__file__).parent / "c.json"', True),
        ('Path(__file__).resolve().parents[0] / "c.json"', True),
        ('Path.home() / "c.json"', True),
        ("Path(__file__).stem", False),  # the train module has another name
    ],
)
def test_a_computed_default_of_the_command_line_is_taken_over(
    default: str, taken: bool, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(COMMAND.replace("DEFAULT", default))
    done = art_adapt(
        "--isolated", "-y", "--entry", "Session.handle", "agent.py", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    module = (tmp_path / "agent_train.py").read_text()
    assert ("config=load_config(" in module) == taken, module
    assert ("config: dict" in module) != taken


ASKED = """\
import argparse
import sys

from openai import OpenAI

SYSTEM = "You are a shell assistant."


def query(text: str, model: str, messages: list[dict]) -> str:
    messages.append({"role": "user", "content": text})
    reply = OpenAI().chat.completions.create(model=model, messages=messages)
    return reply.choices[0].message.content


"""
BEGUN = '[{"role": "system", "content": SYSTEM}]'
# What a person says is the task; the rest comes from somewhere else.
THROUGH = {
    "at the call": f"while True:\n    print(query(input(), 'small', {BEGUN}))",
    "through a main": (
        "def main(model, messages):\n    while True:\n        print(query(input('> '), model, messages))\n\n\n"
        f"if __name__ == '__main__':\n    main('small', {BEGUN})"
    ),
    "through a loop of main": (
        "def loop(model, begun):\n    while True:\n        print(query(input(), model=model, messages=begun))\n\n\n"
        f"def main(model, begun):\n    loop(model, begun)\n\n\nmain('small', {BEGUN})"
    ),
    "from the command line": (
        "def main(text, model, messages):\n    print(query(text, model, messages))\n\n\n"
        f"if __name__ == '__main__':\n    main(sys.argv[1], 'small', {BEGUN})"
    ),
    "by a default of it": (
        "def main(text, model):\n    print(query(text, model, " + BEGUN + "))\n\n\n"
        "if __name__ == '__main__':\n    parser = argparse.ArgumentParser()\n    parser.add_argument('text')\n"
        "    parser.add_argument('--model', default='small')\n    args = parser.parse_args()\n    main(args.text, args.model)"
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", THROUGH)
def test_what_a_person_does_not_say_is_the_agents(way: str, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(f"{ASKED}{THROUGH[way]}\n")
    options = ("--isolated", "--entry", "query", "agent.py")
    done = art_adapt(*options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    written = " ".join((tmp_path / "agent_train.py").read_text().split())
    assert f"messages={BEGUN}" in written, written
    assert 'model="small"' in written
    scenario = written.partition("class Scenario")[2].partition("def episode")[0]
    assert "text: str" in scenario and "messages" not in scenario


@pytest.mark.parametrize(
    "call",
    [
        "query(input(), 'small', KEPT)",  # a list that all episodes would share
        "query(input(), 'small', begin())",  # who knows what
        "query(input('Tone: '), 'small', [{'role': 'user', 'content': input()}])",
        "query(args.tone, 'small', [{'role': 'user', 'content': TASK}])",  # an option
    ],
)
def test_what_may_be_the_task_or_is_shared_stays_open(
    call: str, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(
        f"{ASKED}KEPT = []\nTASK = 'Why?'\n\n\ndef begin():\n    return KEPT\n\n\ndef main():\n"
        "    parser = argparse.ArgumentParser()\n    parser.add_argument('--tone', default='dry')\n"
        f"    args = parser.parse_args()\n    print({call})\n"
    )
    done = art_adapt("--isolated", "--entry", "query", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert "    messages: list[dict]\n" in (tmp_path / "agent_train.py").read_text()


@pytest.mark.parametrize(
    "calls",
    [
        f"print(query('Why?', 'small', {BEGUN}))",  # a demo's task may be any of them
        f"print(query(input(), 'small', {BEGUN}))\nprint(query(input(), 'small', []))",
    ],
)
def test_what_calls_give_differently_or_nobody_says_stays_open(
    calls: str, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(
        f"{ASKED}def main():\n    {calls.replace(chr(10), chr(10) + '    ')}\n"
    )
    done = art_adapt("--isolated", "--entry", "query", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert "    messages: list[dict]\n" in (tmp_path / "agent_train.py").read_text()
