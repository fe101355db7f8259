"""What an episode does that outlives it, or needs somebody, whatever file it stands in."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from agent_files import art_adapt
from looking_agent import effects_of, looking_agent

from art_adapt.source import Source, read_source
from art_adapt.survey.side_effects.harm import Harm
from art_adapt.survey.survey import survey

EFFECTS = [
    ("", "client.images.generate(model='i', prompt=text)", Harm.NETWORK),
    ("", "speech = client.audio.speech\nclient.audio.speech.create(input=text)", Harm.NETWORK),
    ("", "client.conversations.create()", Harm.NETWORK),
    ("", "[m.id for m in client.models.list()]", Harm.NETWORK),
    ("import os", "os.makedirs(text)", Harm.WRITES),
    ("import aiohttp", "aiohttp.ClientSession()", Harm.NETWORK),
    ("import requests", "reply = requests.get(text)\nreply.json()", Harm.NETWORK),
    ("from pymongo import MongoClient\norders = MongoClient()['shop']['orders']", "orders.count({})", Harm.NETWORK),
    ("from github import Github\nrepository = Github('t').get_repo('a')", "repository.create_issue(title=text)", Harm.NETWORK),
    ("from pinecone import Pinecone\nstore = Pinecone()\nindex = store.Index('notes')", "index.upsert([text])", Harm.NETWORK),
    ("import docker\nmachine = docker.from_env()", "machine.containers.run(text)", Harm.PROCESS),
    ("from mem0 import Memory\nmemory = Memory()", "memory.add(text)", Harm.UNKNOWN),
    ("from mem0 import Memory\nmemory = Memory()\nclass Kept:\n    def __init__(self):\n        self.kept = memory\n    def keep(self, text):\n        return self.kept.add(text)", "Kept().keep(text)", Harm.UNKNOWN),
    ("def keep(collection, text):\n    collection.delete_many({'a': text})", "keep([], text)", Harm.NETWORK),
    ("from rich.console import Console\nconsole = Console()", "console.input('ok?')", Harm.ASKS),
]  # fmt: skip


@pytest.mark.parametrize(("before", "look", "harm"), EFFECTS)
def test_it_is_said_once(before: str, look: str, harm: Harm) -> None:
    assert [effect.harm for effect in effects_of(looking_agent(look, before))] == [harm]


@pytest.mark.parametrize(
    ("before", "look"),
    [
        (
            "import subprocess\nversion = subprocess.run(['v']).stdout",
            "version.split()",
        ),
        ("import random\nnames = random.sample('abc', 2)", "names.index(text)"),
        ("import yaml\nknown = yaml.safe_load('a: 1')", "known.get(text)"),
        ("import pymongo\nVERSION = pymongo.version", "VERSION.split('.')"),
        ("import redis\nnames = redis.Redis().hgetall('n')", "names.items()"),
        ("from collections import Counter\nknown = Counter()", "known.most_common()"),
    ],
)
def test_data_that_a_module_holds_reaches_nothing(before: str, look: str) -> None:
    assert effects_of(looking_agent(look, before)) == []


def test_each_method_of_an_object_that_is_kept_is_said() -> None:
    """What reads may be followed by what writes."""
    before = "from airtable import Airtable\ntalks = Airtable()"
    agent = looking_agent("talks.get_all()\ntalks.insert({})", before)
    said = [effect.what for effect in effects_of(agent)]
    assert said == ["talks.get_all() of airtable", "talks.insert() of airtable"]


@pytest.mark.parametrize(
    ("opened", "written"),
    [
        ("with db:\n    db.execute('update stock set n = 0')", True),
        (
            "with db as cursor:\n    cursor.execute(f'INSERT INTO stock values ({text})')",
            True,
        ),
        (
            "with sqlite3.connect('a.db') as own:\n    own.execute('delete from stock')",
            True,
        ),
        ("with db:\n    db.execute('select * from stock')", False),
        ("with open('update stock') as file:\n    file.read()", False),
    ],
)
def test_a_connection_commits_at_the_end_of_its_block(
    opened: str, written: bool
) -> None:
    agent = looking_agent(opened, "import sqlite3\ndb = sqlite3.connect('shop.db')")
    commits = [e.what for e in effects_of(agent) if e.harm is Harm.COMMITS]
    assert any(what.startswith("with ") for what in commits) is written, commits


def test_a_console_that_an_object_is_given_asks() -> None:
    before = """
        from rich.console import Console

        class Gate:
            def __init__(self, console: Console | None = None):
                self.console = console or Console()

            def confirm(self, text):
                return self.console.input(text) == "y"
    """
    (effect,) = effects_of(looking_agent("Gate().confirm(text)", before))
    assert (effect.harm, effect.what) == (Harm.ASKS, "self.console.input()")


def test_what_a_base_class_could_do_is_no_effect_of_what_runs() -> None:
    before = """
        class Base:
            def setup(self):
                self.name = input("Your name: ")

        class Eyes(Base):
            def look(self, text):
                return text
    """
    assert effects_of(looking_agent("Eyes().look(text)", before)) == []
    (effect,) = effects_of(looking_agent("Eyes().setup()", before))
    assert effect.harm is Harm.ASKS


AT_IMPORT = {
    "print('first', solve('What?'))": "solve()",
    "import asyncio\nasyncio.run(asyncio.to_thread(solve, 'What?'))": "asyncio.to_thread()",
    "import gradio as gr\npage = gr.ChatInterface(fn=solve)\npage.launch()": "page.launch()",
    "import gradio as gr\npage = gr.ChatInterface(fn=solve)": None,
    "import functools\nask = functools.partial(client.chat.completions.create, model='m')": None,
    "first = client.chat.completions.create(model='m', messages=[])": "client.chat.completions.create()",
    "from art_recording import recorded\nfirst = recorded(client.chat.completions.create)(model='m', messages=[])": "client.chat.completions.create()",
}


@pytest.mark.parametrize("after", AT_IMPORT)
def test_what_runs_when_it_is_imported_is_named(after: str) -> None:
    found = [
        e.what for e in effects_of(looking_agent(after=after)) if e.harm is Harm.IMPORT
    ]
    assert found == [each for each in [AT_IMPORT[after]] if each]


def test_a_command_line_that_an_imported_file_reads_is_named(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "options.py").write_text(
        "import argparse\nparser = argparse.ArgumentParser()\nargs = parser.parse_args()\n"
    )
    file = tmp_path / "agent.py"
    file.write_text(looking_agent("print(args)", "from options import args"))
    found = survey([read_source(file)])
    said = [(e.place.path.name, e.harm) for each in found.files for e in each.effects]
    assert said == [("options.py", Harm.IMPORT)]


def test_azures_url_with_its_query_is_told_apart() -> None:
    text = """
        import requests

        URL = "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=1"

        def ask(prompt):
            return requests.post(URL, json={"messages": [{"role": "user", "content": prompt}]})
    """
    found = survey([Source(Path("/nowhere/agent.py"), dedent(text).encode())])
    (obstacle,) = found.files[0].obstacles
    assert obstacle.what == "a completion over raw HTTP"
    assert "?" not in obstacle.edit


def test_a_field_called_input_does_not_hide_the_builtin() -> None:
    before = """
        class Step:
            kind: str = ""
            input: str = ""
    """
    (effect,) = effects_of(looking_agent("text = input(text)", before))
    assert effect.harm is Harm.ASKS


def test_the_train_module_names_the_worst_first_and_counts_the_rest(
    tmp_path: Path,
) -> None:
    lines = [f"open(text + '{n}', 'w')" for n in range(12)]
    look = "\n".join([*lines, "subprocess.run(text)"])
    (tmp_path / "agent.py").write_text(looking_agent(look, "import subprocess"))
    options = ("--isolated", "--isolate", "none", "agent.py")
    assert art_adapt(*options, cwd=tmp_path).returncode == 0
    module = (tmp_path / "agent_train.py").read_text()
    said = [line for line in module.splitlines() if line.startswith("* ")]
    assert said == [
        "* agent.py: subprocess.run() starts a process",
        "* agent.py: open() writes outside the episode",
    ]


def test_more_effects_than_fit_are_counted(tmp_path: Path) -> None:
    names = [f"LONG_NAME_OF_A_LIST_NUMBER_{n:02}_OF_THE_MODULE" for n in range(12)]
    before = "\n".join(f"{name} = []" for name in names)
    look = "\n".join(f"{name}.append(text)" for name in names)
    (tmp_path / "agent.py").write_text(looking_agent(look, before))
    options = ("--isolated", "--isolate", "none", "agent.py")
    assert art_adapt(*options, cwd=tmp_path).returncode == 0
    module = (tmp_path / "agent_train.py").read_text()
    said = [line for line in module.splitlines() if line.startswith("* ")]
    assert len(said) == 9 and said[-1] == "* and 4 more: art-adapt --json lists them"
    assert all(len(line) <= 88 for line in said)
    assert said[0].endswith("...")


LOOKED_UP = """\
import json
import sys

from openai import OpenAI

client = OpenAI()


def weather(city):
    return open("seen.txt", "a").write(city)


def dispatch(call):
    return {found}(**json.loads(call.function.arguments))


def chat(question):
    messages = [{{"role": "user", "content": question}}]
    while True:
        reply = client.chat.completions.create(model="m", messages=messages, tools=[]).choices[0].message
        messages.append(reply)
        if not reply.tool_calls:
            return reply.content
        for call in reply.tool_calls:
            messages.append({{"role": "tool", "tool_call_id": call.id, "content": dispatch(call)}})


def main():
    print(chat(input("> ")))


{start}
"""


@pytest.mark.parametrize(
    "found",
    [
        "globals()[call.function.name]",
        "globals().get(call.function.name)",
        "getattr(sys.modules[__name__], call.function.name)",
    ],
)
@pytest.mark.parametrize("start", ["main()", "if __name__ == '__main__':\n    main()"])
def test_a_tool_that_is_looked_up_is_not_what_starts_the_program(
    found: str, start: str
) -> None:
    text = LOOKED_UP.format(found=found, start=start)
    surveyed = survey(
        [Source(Path("/nowhere/agent.py"), text.encode())], entry="agent:chat"
    )
    assert not surveyed.effects(Harm.ASKS)
    assert surveyed.effects(Harm.WRITES)


STORE = """\
from openai import OpenAI


class Store:
    def __init__(self):
        self.said = []

    def put(self, text):
        self.said.append(text)


class Plain:
    def put(self, text):
        print(text)


class Chat:
    def __init__(self, store):
        self.store, self.client = store, OpenAI()

    def handle(self, text: str) -> str:
        asked = [{"role": "user", "content": text}]
        reply = self.client.chat.completions.create(model="m", messages=asked)
        self.store.put(text)
        return reply.choices[0].message.content
"""


@pytest.mark.parametrize(
    ("decorator", "made", "is_shared"),
    [
        ("@lru_cache", "Store", True),
        ("@functools.lru_cache(maxsize=1)", "Store", True),
        ("@cache", "Store", True),
        ("", "Store", False),
        ("@cache", "Plain", False),
    ],
)
def test_what_a_cached_function_made_is_shared(
    decorator: str, made: str, is_shared: bool, tmp_path: Path
) -> None:
    """Its class is in another file."""
    (tmp_path / "chat.py").write_text(STORE)
    (tmp_path / "deps.py").write_text(
        "import functools\nfrom functools import cache, lru_cache\n\n"
        f"from chat import Chat, {made}\n\n\n{decorator}\ndef get_store():\n    return {made}()\n\n\n"
        "def get_chat() -> Chat:\n    return Chat(get_store())\n"
    )
    (tmp_path / "app.py").write_text(
        "import sys\n\nfrom deps import get_chat\n\nprint(get_chat().handle(sys.argv[1]))\n"
    )
    done = art_adapt("--isolated", "chat.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = b"what get_store() keeps, which Store.put changes"
    assert (said in done.stdout) == is_shared
    module = (tmp_path / "chat_train.py").read_text()
    assert ("@training.isolated(" in module) == is_shared


DECORATED = {
    "a factory that fills a registry": (
        "def tool(name):\n    def decorator(func):\n        REGISTRY.add(Tool(name, execute=func))\n"
        "        return func\n    return decorator\n",
        '@tool("shell")',
        True,
    ),
    "a decorator that fills a table": (
        "def tool(func):\n    REGISTRY.tools[func.__name__] = func\n    return func\n",
        "@tool",
        True,
    ),
    "a method of the registry": ("", "@REGISTRY.tool('shell')", True),
    "a wrapper": (
        "from functools import wraps\n\ndef timed(func):\n    @wraps(func)\n    def inner(*a):\n"
        "        print(func.__name__)\n        return func(*a)\n    return inner\n",
        "@timed",
        False,
    ),
    "a wrapper that hands its own arguments on": (
        "def counted(func):\n    def inner(self, *a):\n        log(self)\n"
        "        return func(self, *a)\n    return inner\n",
        "@counted",
        False,
    ),
    "a wrapper that runs it elsewhere": (
        "import asyncio\n\ndef aside(func):\n    async def inner(*a):\n"
        "        return await asyncio.to_thread(func, *a)\n    return inner\n",
        "@aside",
        False,
    ),
}


@pytest.mark.parametrize("kind", DECORATED)
def test_a_tool_that_a_decorator_registers_is_run(kind: str, tmp_path: Path) -> None:
    """It is looked up in the registry of its module, which the agent reads."""
    decorator, above, is_run = DECORATED[kind]
    (tmp_path / "kit.py").write_text(
        "import subprocess\nfrom dataclasses import dataclass\nfrom typing import Callable\n\n\n"
        "@dataclass\nclass Tool:\n    name: str\n    execute: Callable\n\n\nclass Registry:\n"
        "    def __init__(self):\n        self.tools = {}\n\n"
        "    def add(self, tool):\n        self.tools[tool.name] = tool\n\n"
        "    def get(self, name):\n        return self.tools[name]\n\n"
        "    def tool(self, name):\n        def decorator(func):\n"
        "            self.tools[name] = Tool(name, func)\n            return func\n"
        "        return decorator\n\n\nREGISTRY = Registry()\n\n\n"
        f"{decorator}\n\n{above}\ndef shell(command):\n    return subprocess.run(command).stdout\n"
    )
    (tmp_path / "agent.py").write_text(
        "import json\nfrom openai import OpenAI\nfrom kit import REGISTRY\n\n\n"
        "def run(task: str) -> str:\n    messages = [{'role': 'user', 'content': task}]\n"
        "    while True:\n        message = OpenAI().chat.completions.create(\n"
        "            model='m', messages=messages, tools=[]).choices[0].message\n"
        "        messages.append(message)\n        if not message.tool_calls:\n"
        "            return message.content\n        for call in message.tool_calls:\n"
        "            tool = REGISTRY.get(call.function.name)\n"
        "            said = tool.execute(**json.loads(call.function.arguments))\n"
        "            messages.append({'role': 'tool', 'tool_call_id': call.id, 'content': said})\n"
    )
    found = survey([read_source(tmp_path / "agent.py")])
    harms = {effect.harm for file in found.files for effect in file.effects}
    assert (Harm.PROCESS in harms) is is_run
