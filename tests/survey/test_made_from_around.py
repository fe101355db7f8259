"""What episodes are given that the agent's own file does not say: what its callers make and fill."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from agent_files import art_adapt

ASKS = 'create(model="m", messages=messages).choices[0].message.content'
SERVICE = f"""\
from openai import OpenAI
from schemas import AskRequest


class AskService:
    def __init__(self, client: OpenAI):
        self.client = client

    def reply(self, request: AskRequest) -> str:
        messages = [m.model_dump() for m in request.messages]
        return self.client.chat.completions.{ASKS}
"""
SCHEMAS = """\
{import_}


{decorator}class Message{base}:
    role: str
    content: str


{decorator}class AskRequest{base}:
    messages: {kind}
    model: str = "gpt-4o-mini"
"""
A_TEST = """\
from schemas import AskRequest, Message
from service import AskService

SAMPLE = AskRequest(messages=[Message(role="user", content="What is the weather?")])


def test_reply(mocker):
    assert AskService(client=mocker.Mock()).reply(SAMPLE)
"""
APP = """\
from fastapi import Depends, FastAPI
from openai import OpenAI
from schemas import AskRequest
from service import AskService

app = FastAPI()


def get_service() -> AskService:
    return AskService(client=OpenAI())


@app.post("/ask")
def ask(request: AskRequest, service: AskService = Depends(get_service)) -> str:
    return service.reply(request)
"""
PYDANTIC = {
    "import_": "from pydantic import BaseModel",
    "decorator": "",
    "base": "(BaseModel)",
}
DATACLASS = {
    "import_": "from dataclasses import dataclass",
    "decorator": "@dataclass\n",
    "base": "",
}


def module_of(folder: Path, name: str, files: dict[str, str]) -> str:
    """Return the train module of a file of a project, from its imports to its rollout."""
    for path, text in files.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(dedent(text))
    done = art_adapt("--diff", name, cwd=folder)
    patch = done.stdout.decode()
    assert "+class Scenario" in patch, done.stderr.decode()
    added = [line[1:] for line in patch.splitlines() if line.startswith("+")]
    return "\n".join(added).partition("from art_adapt import training")[2]


@pytest.mark.parametrize("kind", ["list[Message]", "List[Message]"])
def test_a_request_of_nested_models_is_the_scenarios(kind: str, tmp_path: Path) -> None:
    """Pydantic makes its models of what a row holds; a test's literal is not the task."""
    schemas = SCHEMAS.format(kind=kind, **PYDANTIC)
    files = {
        "service.py": SERVICE,
        "schemas.py": "from typing import List\n" + schemas,
        "tests/test_service.py": A_TEST,
        "app.py": APP,
    }
    module = module_of(tmp_path, "service.py", files)
    assert "messages: list[Any]" in module
    assert "AskRequest(messages=scenario.messages)" in module


def test_the_literal_of_a_test_is_never_the_task(tmp_path: Path) -> None:
    files = {
        "service.py": SERVICE.replace("m.model_dump()", "vars(m)"),
        "schemas.py": SCHEMAS.format(kind="list[Message]", **DATACLASS),
        "tests/test_service.py": A_TEST,
        "app.py": APP,
    }
    module = module_of(tmp_path, "service.py", files)
    assert "weather" not in module
    assert "training.fill_in(" in module


REGISTRY = """\
    class Registry:
        def __init__(self):
            self.tools = {}

        def add(self, tool):
            self.tools[tool.__name__] = tool


    default_registry = Registry()


    def disks() -> str:
        return "sda"


    def register_builtin_tools(registry):
        registry.add(disks)
    """
OPS = """\
    from openai import OpenAI
    from registry import Registry, default_registry, disks, register_builtin_tools


    class Ops:
        def __init__(self, *, registry: Registry):
            self.registry = registry

        def chat(self, request: str) -> str:
            messages = [{"role": "user", "content": request}]
            tools = [{"type": "function", "function": {"name": n}} for n in self.registry.tools]
            reply = OpenAI().chat.completions.create(model="m", messages=messages, tools=tools)
            return reply.choices[0].message.content
    """
FILLED = {
    "by a factory": "def create_ops() -> Ops:\n    {fill}\n    return Ops(registry=default_registry)\n",
    "by main": "def main():\n    {fill}\n    print(Ops(registry=default_registry).chat(input()))\n",
    "and kept": (
        "def create_ops() -> Ops:\n    {fill}\n    ops = Ops(registry=default_registry)\n"
        "    return ops\n"
    ),
}


@pytest.mark.parametrize("how", FILLED)
@pytest.mark.parametrize(
    "fill", ["register_builtin_tools(default_registry)", "default_registry.add(disks)"]
)
def test_what_fills_an_object_of_a_module_runs_once(
    how: str, fill: str, tmp_path: Path
) -> None:
    """Episodes share the object: filling it in each would give it its tools again and again."""
    agent = dedent(OPS) + "\n\n" + FILLED[how].format(fill=fill)
    files = {"agent.py": agent, "registry.py": REGISTRY}
    module = module_of(tmp_path, "agent.py", files)
    before, _, episode = module.partition("class Scenario")
    assert f"\n{fill}\n" in before
    assert fill not in episode
    assert "Ops(registry=default_registry)" in episode


USES = {
    "a helper": "def find(query, notes):\n    return notes.nearest(query)\n",
    "a helper's helper": (
        "def find(query, notes):\n    return look(notes, query)\n\n\n"
        "def look(kept, text):\n    return kept.nearest(text)\n"
    ),
    "a class": (
        "class Finder:\n    def __init__(self, notes):\n        self.notes = notes\n\n"
        "    def now(self, query):\n        return self.notes.nearest(query)\n\n\n"
        "def find(query, notes):\n    return Finder(notes).now(query)\n"
    ),
}


@pytest.mark.parametrize("uses", USES)
def test_an_object_that_is_only_handed_on_is_no_field(
    uses: str, tmp_path: Path
) -> None:
    agent = (
        f"from openai import OpenAI\nfrom store import Notes\n\n\n{USES[uses]}\n\n"
        "def answer(query, notes):\n"
        '    messages = [{"role": "user", "content": query + find(query, notes)}]\n'
        f"    return OpenAI().chat.completions.{ASKS}\n\n\n"
        "def main():\n    notes = Notes()\n    print(answer(input('? '), notes))\n\n\n"
        "if __name__ == '__main__':\n    main()\n"
    )
    store = (
        "class Notes:\n    def nearest(self, text):\n        return 'Apples are red.'\n"
    )
    module = module_of(tmp_path, "agent.py", {"agent.py": agent, "store.py": store})
    assert "notes: Any" not in module
    assert "notes = Notes()" in module


COG = """\
    import discord
    from discord.ext import commands
    from openai import OpenAI

    bot = commands.Bot(command_prefix="$", intents=discord.Intents.default())


    class AI(commands.Cog):
        def __init__(self, client):
            self.client = client

        @commands.command(name="ai")
        async def ai(self, ctx):
            messages = [{"role": "user", "content": ctx.message.content}]
            await ctx.send(OpenAI().chat.completions.create(model="m", messages=messages).choices[0].message.content)


    @bot.event
    async def on_ready():
        await bot.add_cog(AI(bot))
    """


def test_a_command_of_a_cog_is_called_as_its_callback(tmp_path: Path) -> None:
    """Discord's Command is no function: called without its cog, it lacks ``self``."""
    module = module_of(tmp_path, "bot.py", {"bot.py": COG})
    assert "agent = AI(client=bot)" in module
    assert "await agent.ai.callback(\n        agent, ctx=training.stand_in(" in module


def test_a_file_that_uses_the_agent_and_cannot_be_read_is_named(tmp_path: Path) -> None:
    agent = (
        "from openai import OpenAI\n\n\nclass Agent:\n    def __init__(self, limit=3):\n"
        "        self.limit = limit\n\n    def execute(self, text: str) -> str:\n"
        '        messages = [{"role": "user", "content": text}]\n'
        f"        return OpenAI().chat.completions.{ASKS}\n"
    )
    app = "from agent import Agent\n\nagent = Agent(limit=9)\nprint(agent.execute(input(:)\n"
    (tmp_path / "agent.py").write_text(agent)
    (tmp_path / "app.py").write_text(app)
    said = art_adapt("--diff", "agent.py", cwd=tmp_path).stderr.decode()
    assert "not read    app.py:4  " in said
    assert "it may show how the agent is used: " in said
    (tmp_path / "app.py").write_text(app.replace("(:)", "()))"))
    assert (
        "not read" not in art_adapt("--diff", "agent.py", cwd=tmp_path).stderr.decode()
    )


def test_a_client_that_the_agent_asks_is_the_models(tmp_path: Path) -> None:
    """Groq's client is of a library that is not OpenAI's, and the agent asks over it."""
    agent = (
        "def answer(question, client):\n"
        '    messages = [{"role": "user", "content": question}]\n'
        f"    return client.chat.completions.{ASKS}\n"
    )
    main = "from agent import answer\nfrom groq import Groq\n\nprint(answer(input(), Groq()))\n"
    files = {"agent.py": "import openai\n\n\n" + agent, "main.py": main}
    module = module_of(tmp_path, "agent.py", files)
    assert "client = OpenAI(**training.policy_endpoint())" in module


def test_a_request_that_nothing_is_seen_to_make_is_named(tmp_path: Path) -> None:
    """A registry may lead there; the report says that it is not trained."""
    (tmp_path / "sub.py").write_text(
        "from openai import OpenAI\n\n\ndef spawn(task: str) -> str:\n"
        '    messages = [{"role": "user", "content": task}]\n'
        f"    return OpenAI().chat.completions.{ASKS}\n"
    )
    (tmp_path / "agent.py").write_text(
        "import sub\nfrom openai import OpenAI\n\n\ndef run(task: str) -> str:\n"
        '    messages = [{"role": "user", "content": task}]\n'
        f"    return OpenAI().chat.completions.{ASKS}\n"
    )
    said = art_adapt("--diff", "agent.py", cwd=tmp_path).stderr.decode()
    assert "not reached sub.py:6  nothing read here leads to this request" in said
    said = art_adapt("--diff", "agent.py", "sub.py", cwd=tmp_path).stderr.decode()
    assert "not reached" not in said


DESK = """\
from openai import AsyncOpenAI


class Desk:
    def __init__(self):
        self.shelf = None

    async def open(self):
        self.shelf = {"pen": 3}

    async def close(self):
        self.shelf = None

    async def ask(self, question: str) -> str:
        messages = [{"role": "user", "content": question + str(self.shelf)}]
        reply = await AsyncOpenAI().chat.completions.create(model="m", messages=messages)
        return reply.choices[0].message.content

    async def __aenter__(self):
        await self.open()
        return self

    async def __aexit__(self, *error):
        await self.close()
"""
OPENED = {
    "a block": (
        "    async with Desk() as desk:\n        print(await desk.ask(input()))\n",
        "async with Desk() as agent:",
    ),
    "a method": (
        "    desk = Desk()\n    await desk.open()\n    print(await desk.ask(input()))\n",
        "    await agent.open()\n",
    ),
}


@pytest.mark.parametrize("how", OPENED)
def test_another_file_shows_how_an_agent_is_opened(how: str, tmp_path: Path) -> None:
    """Its constructor takes nothing, so that reading its own file lacks nothing."""
    body, shown = OPENED[how]
    terminal = (
        f"import asyncio\nfrom desk import Desk\n\n\nasync def main():\n{body}\n\n"
        "asyncio.run(main())\n"
    )
    files = {"desk.py": DESK, "terminal.py": terminal}
    assert shown in module_of(tmp_path, "desk.py", files)


NOTEBOOK = f"""\
from openai import OpenAI


class Agent:
    def __init__(self, system):
        self.messages = [{{"role": "system", "content": system}}]

    def say(self, text):
        self.messages.append({{"role": "user", "content": text}})
        messages = self.messages
        return OpenAI().chat.completions.{ASKS}


def ask(agent, question):
    return agent.say(question)


agent = Agent("Be brief.")
"""


@pytest.mark.parametrize(
    "shows",
    ['print(ask(agent, "Why?"))', 'ask(agent, "Why?")'],
)
def test_what_a_file_makes_for_its_own_run_is_made_anew(
    shows: str, tmp_path: Path
) -> None:
    """The import leaves the run out, and the object with it."""
    text = f"{NOTEBOOK}{shows}\n"
    module = module_of(tmp_path, "agent.py", {"agent.py": text})
    imports, _, episode = module.partition("class Scenario")
    assert "import Agent, ask\n" in imports, imports
    assert 'Agent("Be brief.")' in episode


BEFORE = {
    "a tool of its own": (
        "    tool = str(disks)\n    default_registry.add(tool)\n",
        "tool = str(disks)\ndefault_registry.add(tool)\n",
    ),
    "a loop": (
        "    for tool in [disks]:\n        default_registry.add(tool)\n",
        "for tool in [disks]:\n    default_registry.add(tool)\n",
    ),
    "only where somebody says so": (
        "    if '--disks' in sys.argv:\n        default_registry.add(disks)\n",
        "",
    ),
}


@pytest.mark.parametrize("how", BEFORE)
def test_what_a_filling_needs_runs_once_as_well(how: str, tmp_path: Path) -> None:
    lines, shown = BEFORE[how]
    agent = (
        f"import sys\n{dedent(OPS)}\n\ndef create() -> Ops:\n{lines}"
        "    return Ops(registry=default_registry)\n"
    )
    files = {"agent.py": agent, "registry.py": REGISTRY}
    before, _, episode = module_of(tmp_path, "agent.py", files).partition("class Sc")
    assert shown in before
    assert "add(" not in episode
    assert "Ops(registry=default_registry)" in episode


def test_an_object_of_the_agents_own_file_is_filled_as_well(tmp_path: Path) -> None:
    agent = dedent(REGISTRY) + dedent(OPS).replace(
        "from registry import Registry, default_registry, disks, register_builtin_tools\n",
        "",
    )
    agent += "\n\ndef create():\n    default_registry.add(disks)\n    return Ops(registry=default_registry)\n"
    module = module_of(tmp_path, "agent.py", {"agent.py": agent})
    assert "\ndefault_registry.add(disks)\n" in module.partition("class Scenario")[0]


def test_a_command_of_the_projects_own_is_a_function(tmp_path: Path) -> None:
    """The file imports discord for something else."""
    bot = (
        "import discord\nfrom openai import OpenAI\n\n\nclass Registry:\n"
        "    def command(self, name):\n        return lambda function: function\n\n\n"
        "registry = Registry()\n\n\n@registry.command('ask')\ndef ask(question: str) -> str:\n"
        '    messages = [{"role": "user", "content": question}]\n'
        f"    return OpenAI().chat.completions.{ASKS}\n"
    )
    assert ".callback" not in module_of(tmp_path, "bot.py", {"bot.py": bot})


PLAIN = {
    "it is parsed first": "def answer(query, date):\n    date = parse(date)\n    return ask(query, fmt(date))\n",
    "the helper takes either": (
        "def answer(query, date):\n    return ask(query, either(date))\n\n\n"
        "def either(d):\n    return d if isinstance(d, str) else fmt(d)\n"
    ),
}


@pytest.mark.parametrize("how", PLAIN)
def test_a_text_that_becomes_an_object_is_a_field(how: str, tmp_path: Path) -> None:
    agent = (
        "from datetime import datetime\nfrom openai import OpenAI\n\n\n"
        "def parse(text):\n    return datetime.fromisoformat(text)\n\n\n"
        "def fmt(d):\n    return d.isoformat()\n\n\n"
        "def ask(query, day):\n"
        '    messages = [{"role": "user", "content": query + day}]\n'
        f"    return OpenAI().chat.completions.{ASKS}\n\n\n{PLAIN[how]}"
    )
    module = module_of(tmp_path, "agent.py", {"agent.py": agent})
    assert "date=scenario.date" in module
