"""An agent that is filled after it is made has all that is added to it in its episodes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from agent_files import art_adapt

AGENT = """\
import json

from openai import OpenAI


class Agent:
    def __init__(self, name="helper"):
        self.name = name
        self.known = {}

    def add(self, function):
        self.known[function.__name__] = function

    def tool(self, function):
        self.add(function)
        return function

    def named(self, name):
        def register(function):
            self.known[name] = function
            return function

        return register

    def run(self, question: str) -> str:
        messages = [{"role": "user", "content": question}]
        tools = [
            {"type": "function", "function": {"name": n, "parameters": {"type": "object", "properties": {}}}}
            for n in self.known
        ]
        while True:
            reply = OpenAI().chat.completions.create(model="m", messages=messages, tools=tools)
            message = reply.choices[0].message
            messages.append(message)
            if not message.tool_calls:
                return message.content
            for call in message.tool_calls:
                out = self.known[call.function.name](**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": out})


def look_up(word="") -> str:
    return word


"""
MAIN = "\n\nif __name__ == '__main__':\n    main()\n"
RUN = "    print(agent.run(input()))\n"
SPELLINGS = {
    "decorated_at_top": "agent = Agent('top')\n\n\n@agent.tool\ndef search(word='') -> str:\n    return word\n\n\n"
    "if __name__ == '__main__':\n    print(agent.run(input()))\n",
    "named_at_top": "bot = Agent()\n\n\n@bot.named('search')\ndef find(word='') -> str:\n    return word\n\n\n"
    "def chat():\n    print(bot.run(input()))\n",
    "async_at_top": "bot = Agent()\n\n\n@bot.tool\nasync def search(word='') -> str:\n    return word\n",
    "decorated_in_main": "def main():\n    agent = Agent('main')\n    rows = {}\n\n    @agent.tool\n    def search(word='') -> str:\n"
    f"        rows[word] = word\n        return rows[word]\n\n{RUN}{MAIN}",
    "inner_function": "def main():\n    agent = Agent()\n\n    def search(word='') -> str:\n        return word\n\n"
    f"    for each in (search, look_up):\n        agent.add(each)\n{RUN}{MAIN}",
    "loop": f"def main():\n    agent = Agent('x')\n    for each in [look_up]:\n        agent.add(each)\n    agent.known['search'] = look_up\n{RUN}{MAIN}",
    "entries": f"def main():\n    agent = Agent()\n    agent.known['search'] = look_up\n{RUN}{MAIN}",
    "helper": f"def give_tools(agent):\n    agent.known['search'] = look_up\n\n\ndef main():\n    agent = Agent()\n    give_tools(agent)\n{RUN}{MAIN}",
    "factory": "def create(name='made'):\n    agent = Agent(name)\n\n    @agent.tool\n    def search(word='') -> str:\n        return word\n\n"
    "    return agent\n\n\ndef main():\n    print(create().run(input()))\n" + MAIN,
    "factory_calls": "def create():\n    agent = Agent()\n    agent.add(look_up)\n    agent.known.update(search=look_up)\n    return agent\n",
    "handed_on": "def main():\n    agent = Agent()\n    agent.add(look_up)\n    agent.known['search'] = look_up\n    chat(agent)\n\n\n"
    "def chat(agent):\n    while True:\n        print(agent.run(input()))\n" + MAIN,
    "under_a_guard": "if __name__ == '__main__':\n    agent = Agent()\n\n    @agent.tool\n    def search(word='') -> str:\n        return word\n\n"
    f"{RUN}",
}
CHILD = """\
import importlib, sys

for name in sys.argv[1:]:
    train = importlib.import_module(f"{name}_train")
    agent = importlib.import_module(name)
    agent.Agent.run = lambda self, question: sorted(self.known)
    print(name, *train.episode(train.Scenario(question="?")))
"""


def test_what_is_added_to_an_agent_is_there_in_episodes(tmp_path: Path) -> None:
    """Each spelling gives the agent a tool called search, which episode() gives it as well."""
    (tmp_path / "pyproject.toml").touch()
    for name, text in SPELLINGS.items():
        (tmp_path / f"{name}.py").write_text(AGENT + text)
        done = art_adapt("-y", f"{name}.py", cwd=tmp_path)
        assert done.returncode == 0, (name, done.stderr)
    child = [sys.executable, "-c", CHILD, *SPELLINGS]
    run = subprocess.run(
        child, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    said = dict(line.split(maxsplit=1) for line in run.stdout.splitlines())
    assert {name for name in SPELLINGS if "search" in said.get(name, "")} == {
        *SPELLINGS
    }, run.stderr
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--ignore", "E501"]
    trains = [f"{name}_train.py" for name in SPELLINGS]
    assert subprocess.run([*ruff, *trains], cwd=tmp_path, check=False).returncode == 0
    layout = [sys.executable, "-m", "ruff", "format", "--isolated", "--diff"]
    assert subprocess.run([*layout, *trains], cwd=tmp_path, check=False).returncode == 0


def test_what_one_episode_changes_in_a_modules_agent_the_next_one_finds(
    tmp_path: Path,
) -> None:
    """All episodes run the module's own agent, which its decorators have filled."""
    keeps = AGENT.replace(
        'messages = [{"role": "user", "content": question}]',
        'self.messages += [{"role": "user", "content": question}]\n        messages = self.messages',
    ).replace("self.known = {}", "self.known = {}\n        self.messages = []")
    (tmp_path / "agent.py").write_text(keeps + SPELLINGS["decorated_at_top"])
    shared = ("--isolated", "--diff", "--isolate", "none", "agent.py")
    done = art_adapt(*shared, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert b"the module-level agent, which Agent.run changes" in done.stdout
    (tmp_path / "agent.py").write_text(AGENT + SPELLINGS["decorated_at_top"])
    done = art_adapt(*shared, cwd=tmp_path)
    assert b"which Agent.run changes" not in done.stdout


@pytest.mark.parametrize(
    "app",
    [
        # What is added belongs to the application's object.
        "class App:\n    def __init__(self):\n        self.agent = Agent()\n        self.agent.add(self.search)\n\n"
        "    def search(self, word=''):\n        return word\n\n    def chat(self):\n        print(self.agent.run(input()))\n",
        # It is added only sometimes.
        "def main(kind):\n    agent = Agent()\n    if kind:\n        agent.known['search'] = look_up\n    print(agent.run(input()))\n",
    ],
)
def test_what_cannot_be_added_again_has_to_be_filled_in(
    app: str, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(AGENT + app)
    done = art_adapt("--isolated", "--diff", "agent.py", cwd=tmp_path)
    assert b'agent = training.fill_in("agent: Agent, as in agent.py:' in done.stdout


REGISTRY = "TABLE = {}\n\n\ndef tool(function):\n    TABLE[function.__name__] = function\n    return function\n"
LOOKS_UP = (
    AGENT.replace("import json\n", "import json\n\nfrom registry import TABLE", 1)
    .replace("self.known = {}", "self.known = TABLE")
    .replace("for n in self.known", "for n in TABLE")
)


@pytest.mark.parametrize(
    "tools",
    [
        "from registry import tool\n\n\n@tool\ndef search(word='') -> str:\n    return word\n",
        "import registry\n\n\n@registry.tool\ndef search(word='') -> str:\n    return word\n",
        "from registry import TABLE\n\n\ndef search(word='') -> str:\n    return word\n\n\nTABLE['search'] = search\n",
        "from registry import tool\n\n\ndef search(word='') -> str:\n    return word\n\n\ntool(search)\n",
    ],
)
def test_modules_that_register_tools_are_imported(tools: str, tmp_path: Path) -> None:
    """Only main.py imports them, for that alone."""
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "agent.py").write_text(LOOKS_UP)
    (tmp_path / "registry.py").write_text(REGISTRY)
    (tmp_path / "search_tools.py").write_text(tools)
    main = "import search_tools  # noqa: F401\nfrom agent import Agent\n\n\nif __name__ == '__main__':\n    print(Agent().run(input()))\n"
    (tmp_path / "main.py").write_text(main)
    done = art_adapt("-y", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    written = (tmp_path / "agent_train.py").read_text()
    assert "import search_tools  # noqa: F401\n" in written
    check = [sys.executable, "-m", "ruff", "check", "--isolated", "--ignore", "E501"]
    ruff = subprocess.run([*check, "agent_train.py"], cwd=tmp_path, check=False)
    assert ruff.returncode == 0


BUS = """\
class Bus:
    def __init__(self):
        self.handlers = {}

    def on(self, name):
        def keep(function):
            self.handlers[name] = function
            return function

        return keep

    def emit(self, name, data):
        if name in self.handlers:
            self.handlers[name](data)


bus = Bus()
"""
EMITTING = """\
from openai import OpenAI

from bus import bus

client = OpenAI()


def run(task: str):
    messages = [{"role": "user", "content": task}]
    while True:
        reply = client.chat.completions.create(model="m", messages=messages).choices[0].message
        messages.append(reply)
        bus.emit("said", reply.content)
        if "DONE" in reply.content:
            return reply.content
        messages.append({"role": "user", "content": "Go on."})
"""
HANDLERS = {
    "in a thread": "    thread = Thread(target=lambda: run(data))\n    thread.start()\n",
    "itself": "    return run(data)\n",
    "by another function": "    return begin(data)\n\n\ndef begin(data):\n    Thread(target=run, args=(data,)).start()\n",
}


@pytest.mark.parametrize("handler", HANDLERS.values(), ids=HANDLERS)
def test_what_serves_the_agent_registers_no_tools(handler: str, tmp_path: Path) -> None:
    """A train module that imported it would start the server, and edit its file."""
    (tmp_path / "bus.py").write_text(BUS)
    (tmp_path / "agent.py").write_text(EMITTING)
    (tmp_path / "server.py").write_text(
        "from threading import Thread\n\nfrom agent import run\nfrom bus import bus\n\n\n"
        f'@bus.on("ask")\ndef handle(data):\n{handler}'
    )
    (tmp_path / "pyproject.toml").touch()
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert "import server" not in (tmp_path / "agent_train.py").read_text()
    assert b"server.py" not in done.stdout
    assert (
        b"Nothing to change" in art_adapt("--isolated", "agent.py", cwd=tmp_path).stdout
    )


def test_a_thread_in_a_file_that_registers_tools_is_carried_once(
    tmp_path: Path,
) -> None:
    """That file is only read for what it registers: its own hooks are known again."""
    call = "client.chat.completions.create(model='m', messages=messages).choices[0].message"
    files = {
        "bus": BUS,
        "deep": "from openai import OpenAI\n\nclient = OpenAI()\n\n\ndef think(text):\n"
        f"    messages = [{{'role': 'user', 'content': text}}]\n    return {call}.content\n",
        "agent": EMITTING.replace(
            "from bus", "from deep import think\nfrom bus"
        ).replace('"content": "Go on."', '"content": think(reply.content)'),
        "look": "from threading import Thread\n\nfrom bus import bus\nfrom deep import think\n\n\n"
        "@bus.on('said')\ndef said(data):\n    work = Thread(target=lambda: think(data))\n    work.start()\n",
        "main": "import look\nfrom agent import run\n\nrun('Begin.')\n",
        "pyproject": "",
    }
    for name, text in files.items():
        suffix = "toml" if name == "pyproject" else "py"
        (tmp_path / f"{name}.{suffix}").write_text(text)
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert "target=carried(" in (tmp_path / "look.py").read_text()
    again = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert b"Nothing to change" in again.stdout, again.stderr.decode()
