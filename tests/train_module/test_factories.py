"""An agent that nothing else can make is made by the function that the project has for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from agent_files import art_adapt

AGENT = """\
from openai import OpenAI


class Agent:
    def __init__(self, tools, prompt):
        self.tools, self.prompt = tools, prompt

    def run(self, question: str) -> str:
        messages = [{"role": "user", "content": self.prompt + question}]
        while True:
            reply = OpenAI().chat.completions.create(
                model="m", messages=messages, tools=self.tools.offered()
            )
            message = reply.choices[0].message
            messages.append(message)
            if not message.tool_calls:
                return message.content
            for call in message.tool_calls:
                out = self.tools.run(call.function.name, call.function.arguments)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": out})
"""
APP = """\
import functools
import json
from dataclasses import dataclass

from agent import Agent


class Tools:
    def __init__(self, text):
        self.text = text
        self.known = {}

    def register(self, function):
        self.known[function.__name__] = function

    def offered(self):
        return [{"type": "function", "function": {"name": name}} for name in self.known]

    def run(self, name, arguments):
        return str(self.known[name](**json.loads(arguments)))


@dataclass
class Settings:
    path: str = "rows.txt"


def opened(path):
    with open(path) as rows:
        return Tools(rows.read())


"""


def written(folder: Path, factory: str) -> str:
    (folder / "pyproject.toml").touch()
    (folder / "agent.py").write_text(AGENT)
    (folder / "app.py").write_text(APP + dedent(factory))
    done = art_adapt("--isolated", "agent.py", cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    return (folder / "agent_train.py").read_text()


@pytest.mark.parametrize(
    ("factory", "made"),
    [
        (
            """\
            def build(path: str = "rows.txt"):
                with open(path) as rows:
                    return Agent(Tools(rows.read()), "Be brief.")
            """,
            "agent = build()",
        ),
        (
            """\
            def build(path: str) -> Agent:
                tools = opened(path)
                agent = Agent(tools, prompt="Be brief.")
                tools.register(len)
                return agent
            """,
            "agent = build(path=scenario.path)",
        ),
        (
            """\
            def build(settings: Settings):
                with open(settings.path) as rows:
                    return Agent(Tools(rows.read()), "Be brief.")
            """,
            "agent = build(settings=Settings())",
        ),
        (
            """\
            def build(settings):
                with open(settings.path) as rows:
                    return Agent(Tools(rows.read()), "Be brief.")

            def main():
                settings = Settings(path="all.txt")
                print(build(settings).run(input()))
            """,
            "agent = build(settings=settings)",
        ),
    ],
    ids=["by itself", "by a name", "a record", "as it is called"],
)  # fmt: skip
def test_a_factory_makes_the_agent(factory: str, made: str, tmp_path: Path) -> None:
    module = written(tmp_path, factory)
    assert made in module
    assert "fill_in" not in module
    names = [line for line in module.splitlines() if line.startswith("from app ")]
    assert len(names) == 1 and "build" in names[0]
    assert "from agent import" not in module


def test_a_static_method_may_be_one(tmp_path: Path) -> None:
    module = written(
        tmp_path,
        """\
        class App:
            def bound(self, path):
                return Agent(opened(path), "Be brief.")

            @staticmethod
            def agent(path: str):
                return Agent(opened(path), "Be brief.")
        """,
    )
    assert "agent = App.agent(path=scenario.path)" in module
    assert "from app import App\n" in module


@pytest.mark.parametrize(
    "factory",
    [
        """\
        @functools.cache
        def build():
            with open("rows.txt") as rows:
                return Agent(Tools(rows.read()), "Be brief.")
        """,
        """\
        def build():
            global AGENT
            with open("rows.txt") as rows:
                AGENT = Agent(Tools(rows.read()), "Be brief.")
            return AGENT
        """,
        """\
        AGENTS = {}

        def build(path):
            if path in AGENTS:
                return AGENTS[path]
            with open(path) as rows:
                AGENTS[path] = Agent(Tools(rows.read()), "Be brief.")
            return AGENTS[path]
        """,
        """\
        def build():
            with open(input("Which file? ")) as rows:
                return Agent(Tools(rows.read()), "Be brief.")
        """,
        """\
        def build():
            with open("rows.txt") as rows:
                yield Agent(Tools(rows.read()), "Be brief.")
        """,
        """\
        def answer(path: str):
            with open(path) as rows:
                return Agent(Tools(rows.read()), "Be brief.").run("?")
        """,
        """\
        @functools.cache
        def kept():
            with open("rows.txt") as rows:
                return Agent(Tools(rows.read()), "Be brief.")

        def build():
            return kept()
        """,
        """\
        AGENT = None

        def kept():
            global AGENT
            if AGENT is None:
                with open("rows.txt") as rows:
                    AGENT = Agent(Tools(rows.read()), "Be brief.")
            return AGENT

        def build():
            agent = kept()
            return agent
        """,
        """\
        class Container:
            def __init__(self):
                with open("rows.txt") as rows:
                    self._agent = Agent(Tools(rows.read()), "Be brief.")

            def agent(self):
                return self._agent

        CONTAINER = Container()

        def build():
            return CONTAINER.agent()
        """,
    ],
    ids=[
        *("cached", "global", "kept", "asks", "lends", "runs"),
        *("cached behind", "global behind", "in a container"),
    ],
)
def test_what_keeps_lends_or_runs_the_agent_is_no_factory(
    factory: str, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "app.py").write_text(APP + dedent(factory))
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert "tools=training.fill_in(" in (tmp_path / "agent_train.py").read_text()


def test_what_a_factory_writes_is_kept_apart(tmp_path: Path) -> None:
    module = written(
        tmp_path,
        """\
        def build():
            with open("rows.txt", "a") as rows:
                rows.write("one more")
                return Agent(Tools(rows.read()), "Be brief.")
        """.replace("build", "agent_of"),
    )
    assert "agent = agent_of()" in module
    assert "Each episode works in a copy of the project's folder" in module


@pytest.mark.parametrize(
    ("body", "made"),
    [
        (
            "self._tools = Tools('rows')\n        self.agents = {}",
            '    tools = Tools("rows")\n    agent = Agent(tools=tools',
        ),
        ("self.tools = opened('rows')\n        self.tools.register(len)", None),
        ("self.tools = tools\n        self.agents = {}", None),
        (
            "self.text = str(3)\n        self.tools = Tools(self.text)",
            "    text = str(3)\n    tools = Tools(text)\n    agent = Agent(tools=tools",
        ),
    ],
)
def test_what_a_service_keeps_for_its_agents_is_made_anew(
    body: str, made: str | None, tmp_path: Path
) -> None:
    name = "self._tools" if "_tools" in body else "self.tools"
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "agent.py").write_text(AGENT)
    service = (
        f"class Service:\n    def __init__(self, tools=None):\n        {body}\n\n"
        "    def answer(self, session, question):\n"
        f"        self.agents[session] = Agent({name}, 'Be brief.')\n"
        "        return self.agents[session].run(question)\n"
    )
    (tmp_path / "app.py").write_text(APP + service)
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    module = (tmp_path / "agent_train.py").read_text()
    assert ("fill_in" in module) == (made is None)
    assert made is None or made in module


def test_a_factory_makes_an_agent_that_rehearses(tmp_path: Path) -> None:
    (tmp_path / "rows.txt").write_text("one")
    module = written(
        tmp_path,
        """\
        def clock():
            return "noon"


        def build(path: str = "rows.txt"):
            with open(path) as rows:
                tools = Tools(rows.read())
            tools.register(clock)
            return Agent(tools, "Be brief.")
        """,
    )
    assert "agent = build()" in module
    (tmp_path / "scenarios.jsonl").write_text(
        "".join(f'{{"question": "q{n}"}}\n' for n in range(4))
    )
    command = [sys.executable, "-m", "art_adapt", "rehearse", "agent_train.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


STORE = """\
from typing import Protocol
from openai import OpenAI


class Store:
    def __init__(self):
        self.rows = []

    def append(self, row):
        self.rows.append(row)


class Notifier(Protocol):
    def tell(self, text): ...


class Mail:
    def tell(self, text):
        print(text)


class Agent:
    def __init__(self, client: OpenAI, store: Store, notifier: Notifier):
        self.client, self.store, self.notifier = client, store, notifier

    def run(self, question: str) -> str:
        self.store.append(question)
        messages = [{"role": "user", "content": str(self.store.rows)}]
        reply = self.client.chat.completions.create(model="m", messages=messages)
        return reply.choices[0].message.content
"""
DEPENDENCIES = """\
from typing import Annotated
from fastapi import Depends, FastAPI
from openai import OpenAI
from agent import Agent, Mail, Notifier, Store

app = FastAPI()


def get_client() -> OpenAI:
    return OpenAI()


def get_store() -> Store:
    return Store()


def get_notifier() -> Notifier:
    return Mail()


def get_agent({client}, {store}, {notifier}) -> Agent:
    return Agent(client, store, notifier)
"""
TYPED = [("client", "OpenAI"), ("store", "Store"), ("notifier", "Notifier")]
SPELLINGS = {
    "annotated": "{0}: Annotated[{1}, Depends(get_{0})]",
    "default": "{0}: {1} = Depends(get_{0})",
    "no annotation": "{0}=Depends(get_{0})",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_dependencies_are_called_as_fastapi_does(spelling: str, tmp_path: Path) -> None:
    given = {name: SPELLINGS[spelling].format(name, kind) for name, kind in TYPED}
    (tmp_path / "agent.py").write_text(STORE)
    (tmp_path / "app.py").write_text(
        DEPENDENCIES.format(**given)
        + "\n\n@app.post('/ask')\ndef ask(question: str, agent: Annotated[Agent, Depends(get_agent)]):\n"
        "    return agent.run(question)\n"
    )
    command = ("--isolated", "-y", "--entry", "Agent.run", "agent.py", "app.py")
    done = art_adapt(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "agent_train.py").read_text()
    assert "store=get_store(), notifier=get_notifier()" in text, text
    assert "client=client" in text and "store: " not in text


def test_a_dependency_that_has_to_be_awaited_is_not_called(tmp_path: Path) -> None:
    given = {name: SPELLINGS["annotated"].format(name, kind) for name, kind in TYPED}
    (tmp_path / "agent.py").write_text(STORE)
    text = DEPENDENCIES.format(**given).replace("def get_store", "async def get_store")
    (tmp_path / "app.py").write_text(text)
    command = ("--isolated", "-y", "--entry", "Agent.run", "agent.py", "app.py")
    done = art_adapt(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "get_store()" not in (tmp_path / "agent_train.py").read_text()


def test_a_factory_that_callers_give_their_own_values_is_not_called_with_one_s(
    tmp_path: Path,
) -> None:
    (tmp_path / "agent.py").write_text(
        "from openai import OpenAI\n\n\nclass Agent:\n"
        "    def __init__(self, persona: str, key: str):\n"
        "        self.persona, self.key = persona, key\n\n"
        "    def run(self, text: str) -> str:\n"
        "        messages = [{'role': 'user', 'content': self.persona + text}]\n"
        "        client = OpenAI(api_key=self.key)\n"
        "        reply = client.chat.completions.create(model='m', messages=messages)\n"
        "        return reply.choices[0].message.content\n\n\n"
        "def make(persona: str, key: str) -> Agent:\n    return Agent(persona, key)\n\n\n"
        "def one():\n    print(make('a judge', 'sk-one').run(input()))\n\n\n"
        "def other(persona):\n    print(make(persona, 'sk-two').run(input()))\n"
    )
    assert art_adapt("--isolated", "-y", "agent.py", cwd=tmp_path).returncode == 0
    text = (tmp_path / "agent_train.py").read_text()
    assert 'Agent(persona=scenario.persona, key=endpoint["api_key"])' in text
    assert "sk-" not in text
