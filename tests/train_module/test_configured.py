"""An agent is made as its project makes it: with its prompt, its limits and its tools."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from agent_files import art_adapt

AGENT = """\
import json

from openai import OpenAI


class Registry:
    def __init__(self):
        self.tools = {}

    def register(self, tool):
        self.tools[tool.__name__] = tool


class Agent:
    def __init__(self, tools=None, prompt="You help.", limit=5, model="gpt-4o"):
        self.client = OpenAI()
        self.tools, self.prompt, self.limit, self.model = tools, prompt, limit, model

    def run(self, question: str) -> str:
        messages = [{"role": "user", "content": self.prompt + question}]
        for _ in range(self.limit):
            reply = self.client.chat.completions.create(model=self.model, messages=messages)
            message = reply.choices[0].message
            if not message.tool_calls:
                return message.content
            messages.append(message)
            for call in message.tool_calls:
                out = self.tools.tools[call.function.name](json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": out})
        return ""
"""
TOOLS = """\
import subprocess


def shell(arguments):
    return subprocess.run(arguments["command"], shell=True).stdout


def look(arguments):
    return open(arguments["path"]).read()
"""


def episode(folder: Path, main: str, agent: str = AGENT, *named: str) -> str:
    """The train module for the agent of a project that ``main`` starts."""
    (folder / "pyproject.toml").touch()
    (folder / "agent.py").write_text(agent)
    (folder / "tools.py").write_text(TOOLS)
    (folder / "main.py").write_text(dedent(main))
    done = art_adapt("--isolated", *(named or ("agent.py",)), cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    return (folder / "agent_train.py").read_text()


@pytest.mark.parametrize(
    ("main", "lines"),
    {
        "filled one by one": (
            """\
            from agent import Agent, Registry
            from tools import look, shell

            registry = Registry()
            registry.register(shell)
            registry.register(look)

            if __name__ == "__main__":
                print(Agent(registry).run(input("> ")))
            """,
            ["agent = Agent(tools=registry)"],
        ),
        "filled in a function": (
            """\
            import tools
            from agent import Agent, Registry

            def main():
                registry = Registry()
                registry.register(tools.shell)
                registry.register(tools.look)
                bot = Agent(registry, "You list files.", limit=9)
                print(bot.run(input("> ")))
            """,
            [
                "    registry = Registry()\n    registry.register(tools.shell)\n    registry.register(tools.look)\n",
                'agent = Agent(tools=registry, prompt="You list files.", limit=9)',
            ],
        ),
        "filled in a loop": (
            """\
            from agent import Agent, Registry
            from tools import look, shell

            PROMPT = "You list files."

            def serve(questions):
                registry = Registry()
                for tool in [shell, look]:
                    registry.register(tool)
                registry.tools["list"] = look
                agent = Agent(tools=registry, prompt=PROMPT)
                return [agent.run(question) for question in questions]
            """,
            [
                "    for tool in [shell, look]:\n        registry.register(tool)\n",
                '    registry.tools["list"] = look\n',
                "agent = Agent(tools=registry, prompt=PROMPT)",
            ],
        ),
        "two in one statement": (
            """\
            from agent import Agent, Registry
            from tools import look

            def serve(questions):
                registry, limit = Registry(), 7
                registry.register(look)
                agent = Agent(registry, limit=limit)
                return [agent.run(question) for question in questions]
            """,
            [
                "    registry, limit = Registry(), 7\n    registry.register(look)\n",
                "agent = Agent(tools=registry, limit=limit)",
            ],
        ),
        "of a command line": (
            """\
            import argparse

            from agent import Agent, Registry

            def main():
                parser = argparse.ArgumentParser()
                parser.add_argument("--limit")
                args = parser.parse_args()
                agent = Agent(Registry(), "You list files.", limit=args.limit, model=args.model)
                print(agent.run(input("> ")))
            """,
            ['agent = Agent(tools=Registry(), prompt="You list files.")'],
        ),
        "a part that asks another model": (
            """\
            import os

            from agent import Agent, Registry
            from openai import OpenAI

            class Searching(Registry):
                def __init__(self, model, client):
                    super().__init__()
                    self.model, self.client = model, client

            def main(args):
                tools = Searching(model=args.model, client=OpenAI(api_key=args.key))
                print(Agent(tools).run(args.question))
            """,
            [
                "    endpoint = training.policy_endpoint()\n",
                "    tools = Searching(model=BASE_MODEL, client=OpenAI(**endpoint))\n",
                "agent = Agent(tools=tools)",
            ],
        ),
    }.values(),
    ids=[
        "one by one",
        "in a function",
        "in a loop",
        "two at once",
        "of a command line",
        "a client",
    ],
)
def test_an_agent_is_made_as_the_project_makes_it(
    main: str, lines: list[str], tmp_path: Path
) -> None:
    written = episode(tmp_path, main)
    for line in lines:
        assert line in written
    assert "    question: str\n" in written


def test_which_model_is_asked_is_the_train_modules(tmp_path: Path) -> None:
    main = """\
    import argparse

    from agent import Agent
    from search import Search

    def main():
        args = argparse.ArgumentParser().parse_args()
        Agent(Search(model=args.model, api_key=args.key, depth=3)).run(args.question)
    """
    (tmp_path / "search.py").write_text(
        "class Search:\n    def __init__(self, model, api_key, depth):\n        self.tools = {}\n"
    )
    written = episode(tmp_path, main)
    made = 'Search(model=BASE_MODEL, api_key=endpoint["api_key"], depth=3)'
    assert made in written
    assert "    endpoint = training.policy_endpoint()\n" in written


def test_a_part_filled_only_sometimes_is_not_taken_over(tmp_path: Path) -> None:
    main = """\
    from agent import Agent, Registry
    from tools import shell

    def main(debug):
        registry = Registry()
        if debug:
            registry.register(shell)
        Agent(registry, "You list files.").run("?")
    """
    assert "Registry" not in episode(tmp_path, main)


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        (["add_tools(registry)"], True),
        (["add_tools(registry=registry)"], True),
        (["shells.add_tools(registry, 3)"], True),
        (["plugin.contribute(registry)"], True),
        (["for add in (add_tools,):", "    add(registry)"], True),
        (["print(registry)", "show(registry)"], True),
        (["if debug:", "    add_tools(registry)"], False),
        (["@registry.register", "def now():", "    return 1"], True),
        (["def fill():", "    registry.register(shell)", "fill()"], False),
        (["def fill():", "    add_tools(registry)", "fill()"], False),
    ],
)
def test_what_fills_a_part_is_taken_over_or_the_part_is_not(
    lines: list[str], kept: bool, tmp_path: Path
) -> None:
    """An agent without its tools would train, and learn to do without them."""
    body = "".join(f"        {line}\n" for line in lines)
    main = f"""\
    import shells
    from agent import Agent, Registry
    from tools import shell
    from shells import add_tools, plugin

    def main(debug):
        registry = Registry()
{body}        Agent(registry, "You list files.").run("?")
    """
    (tmp_path / "shells.py").write_text(
        "class Plugin:\n    def contribute(self, registry): ...\n\n\nplugin = Plugin()\n\n\n"
        "def add_tools(registry, number=1):\n    registry.register(print)\n"
    )
    written = episode(tmp_path, main)
    assert ("registry = Registry()\n" in written) == kept
    called = [line for line in lines if "(registry" in line and "print" not in line]
    if kept and "show" not in lines[-1]:
        assert (called or lines)[-1].strip() in written


def test_what_a_test_gives_an_agent_is_no_configuration(tmp_path: Path) -> None:
    (tmp_path / "test_agent.py").write_text(
        "from agent import Agent\n\n\ndef test_it():\n    assert Agent(prompt='Say yes.').run('?')\n"
    )
    assert "Say yes" not in episode(tmp_path, "")


def test_the_task_stays_the_scenarios_where_the_class_is_given_it(
    tmp_path: Path,
) -> None:
    agent = AGENT.replace("def run(self, question: str)", "def run(self)").replace(
        "self.prompt + question", "self.prompt"
    )
    agent = agent.replace('prompt="You help."', "prompt: str").replace(
        "tools=None, prompt: str", "prompt: str, tools=None"
    )
    main = 'from agent import Agent\n\nprint(Agent("Write a poem.", limit=3).run())\n'
    written = episode(tmp_path, main, agent)
    assert "    prompt: str\n" in written
    assert "Write a poem" not in written


def test_the_file_that_the_user_names_goes_first(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        'from agent import Agent\n\n\ndef main():\n    Agent(prompt="You cook.").run("?")\n'
    )
    main = 'from agent import Agent\n\n\ndef main():\n    Agent(prompt="You sing.").run("?")\n'
    written = episode(tmp_path, main, AGENT, "agent.py", "main.py")
    assert 'agent = Agent(prompt="You sing.")' in written


def test_what_is_handed_over_is_looked_at(tmp_path: Path) -> None:
    main = """\
    from agent import Agent, Registry
    from tools import shell

    def main():
        registry = Registry()
        registry.register(shell)
        Agent(registry).run("?")
    """
    written = episode(tmp_path, main)
    assert (
        "* tools.py: subprocess.run() runs code or commands that an episode writes"
        in written
    )
    assert not (tmp_path / "tools_train.py").exists()
    assert (tmp_path / "tools.py").read_text() == TOOLS


def test_a_client_of_the_projects_own_is_made_as_it_makes_it(tmp_path: Path) -> None:
    agent = """\
    from openai import OpenAI

    class Connection:
        def __init__(self, retries):
            self.openai = OpenAI()
            self.retries = retries

        def ask(self, messages):
            return self.openai.chat.completions.create(model="m", messages=messages)

    class Agent:
        def __init__(self, client):
            self.client = client

        def run(self, question: str):
            messages = [{"role": "user", "content": question}]
            for _ in range(3):
                reply = self.client.ask(messages).choices[0].message
                messages.append(reply)
            return reply.content

    def main():
        print(Agent(Connection(retries=2)).run(input()))
    """
    written = episode(tmp_path, "", dedent(agent))
    assert "agent = Agent(client=Connection(retries=2))" in written


def test_imports_are_where_isort_puts_them(tmp_path: Path) -> None:
    main = """\
    import json
    import os
    from typing import Literal, cast

    import httpx
    from agent import Agent, Registry
    from pydantic import SecretStr

    def main():
        registry = Registry()
        registry.register(httpx.get)
        prompt = json.dumps({'key': cast(str, os.getenv('PROMPT'))}) + str(SecretStr('x'))
        Agent(registry, prompt=prompt, limit=9).run("?")
    """
    written = episode(tmp_path, main)
    assert (
        "import asyncio\nimport json\nimport os\nfrom typing import Any, cast\n\nimport art\nimport httpx\n"
        in written
    )
    assert (
        "from pydantic import SecretStr\n\nfrom agent import Agent, Registry\n"
        in written
    )
    assert 'json.dumps({"key": cast(str, os.getenv("PROMPT"))})' in written
    for command in (
        ["check", "--select", "E,F,I", "--isolated"],
        ["format", "--check"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "agent_train.py"],
            cwd=tmp_path,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0 or b"E501" in done.stdout, done.stdout.decode()


@pytest.mark.parametrize(
    ("prompt", "varies"), [("You sing.", True), ("You cook.", False)]
)
def test_what_calls_give_differently_is_the_scenarios(
    prompt: str, varies: bool, tmp_path: Path
) -> None:
    agent = AGENT.replace('tools=None, prompt="You help."', "prompt: str, tools=None")
    main = f"""\
    from agent import Agent

    def cook(text):
        return Agent(prompt="You cook.", limit=3).run(text)

    def sing(text):
        return Agent("{prompt}", limit=4).run(text)
    """
    written = episode(tmp_path, main, agent)
    assert ("    prompt: str\n" in written) is varies
    assert ("prompt=scenario.prompt, limit=3)" in written) is varies


def test_a_declared_default_that_is_no_literal_is_taken_over(tmp_path: Path) -> None:
    agent = """\
    from pathlib import Path

    import typer
    from openai import OpenAI

    CONFIG = Path("config") / "agent.json"
    app = typer.Typer()

    @app.command()
    def main(
        task: str = typer.Option(None, "-t"),
        config: Path = typer.Option(CONFIG, help="settings"),
        limit: int = typer.Option(5),
    ):
        messages = [{"role": "system", "content": str(config)}, {"role": "user", "content": task}]
        for _ in range(limit):
            reply = OpenAI().chat.completions.create(model="m", messages=messages)
            messages.append(reply.choices[0].message)
        print(messages[-1].content)
    """
    written = episode(tmp_path, "", dedent(agent))
    assert "    task: str | None = None\n" in written
    assert "    config" not in written.split("def episode")[0]
    assert "config=CONFIG" in written and "limit=" in written


STREAMED = """\
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from openai import OpenAI
from pydantic import BaseModel

app = FastAPI()


class Ask(BaseModel):
    text: str


async def words(text):
    messages = [{"role": "user", "content": text}]
    for chunk in OpenAI().chat.completions.create(model="m", messages=messages, stream=True):
        yield chunk.choices[0].delta.content or ""


@app.post("/chat")
async def chat(query: Ask):
    return StreamingResponse(SOURCE(query.text), media_type="text/event-stream")
"""


@pytest.mark.parametrize(
    ("source", "entry"), [("words", "words"), ("events", "chat"), ("words", "chat")]
)
def test_a_stream_of_events_is_no_answer(
    source: str, entry: str, tmp_path: Path
) -> None:
    agent = STREAMED.replace("SOURCE", source)
    if source == "events":  # inside the handler
        inner, _, handler = agent.partition("\n\n\nasync def words")[2].partition(
            "\n\n\n@app"
        )
        agent = agent.partition("async def words")[0] + "@app" + handler
        body = "".join(
            f"    {line}\n" for line in f"async def events{inner}".splitlines()
        )
        agent = agent.replace("    return Streaming", f"{body}\n    return Streaming")
    (tmp_path / "agent.py").write_text(agent)
    done = art_adapt("--isolated", "--entry", entry, "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    written = (tmp_path / "agent_train.py").read_text()
    assert "final_answer(Streaming" not in (tmp_path / "agent.py").read_text()
    assert "    return training.last_said()\n" in written
    if entry == "chat":
        assert (
            'training.ask_app(app, "POST", "/chat", json={"text": scenario.text})'
            in written
        )


@pytest.mark.parametrize(
    "init",
    [
        "def __init__(self, name, **kwargs):\n        super().__init__(**kwargs)",
        "def __init__(self, name, *args, **rest):\n        super().__init__(*args, limit=3, **rest)",
        "def __init__(self, *, name, **kwargs):\n        Base.__init__(self, **kwargs)",
    ],
)
def test_a_constructor_takes_what_it_hands_up(init: str, tmp_path: Path) -> None:
    agent = f"""\
from openai import OpenAI


class Base:
    def __init__(self, rules: str, limit: int = 5):
        self.rules, self.limit = rules, limit

    def run(self, question: str):
        messages = [{{"role": "system", "content": self.rules}}, {{"role": "user", "content": question}}]
        for _ in range(self.limit):
            messages.append(OpenAI().chat.completions.create(model="m", messages=messages).choices[0].message)
        return messages[-1].content


class Clerk(Base):
    {init}
        self.name = name
"""
    main = 'from agent import Clerk\n\nprint(Clerk(name="Ada", rules="Be brief.").run(input()))\n'
    written = episode(tmp_path, main, agent, "--entry", "Clerk.run", "agent.py")
    assert 'agent = Clerk(name="Ada", rules="Be brief.")' in written


@pytest.mark.parametrize(
    ("named", "demo", "prompt"),
    [
        (
            "agent.py",
            "def demo():\n    Agent(prompt='You show.').run('?')\n",
            "You sell.",
        ),
        (
            "agent.py",
            "def run_examples():\n    Agent(prompt='You show.').run('?')\n",
            "You sell.",
        ),
        (
            "main.py",
            "def cook():\n    Agent(prompt='You cook.').run('?')\n",
            "You sell.",
        ),
        (
            "agent.py",
            "def cook():\n    Agent(prompt='You cook.').run('?')\n",
            "You cook.",
        ),
    ],
)
def test_a_demo_comes_after_the_application(
    named: str, demo: str, prompt: str, tmp_path: Path
) -> None:
    main = 'from agent import Agent\n\ndef main():\n    print(Agent(prompt="You sell.").run(input()))\n'
    agent = AGENT.replace('tools=None, prompt="You help."', "prompt: str, tools=None")
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "agent.py").write_text(f"{agent}\n\n{demo}")
    (tmp_path / "main.py").write_text(main)
    done = art_adapt("--isolated", "--entry", "Agent.run", named, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    (module,) = tmp_path.glob("*_train.py")
    assert f'agent = Agent(prompt="{prompt}")' in module.read_text()


def test_a_demo_shows_what_nothing_else_does(tmp_path: Path) -> None:
    demo = "def demo():\n    Agent(prompt='You show.', limit=2).run('?')\n"
    written = episode(tmp_path, "", f"{AGENT}\n\n{demo}")
    assert 'agent = Agent(prompt="You show.", limit=2)' in written


@pytest.mark.parametrize(
    ("test", "taken"),
    [
        ("args.style", True),
        ("len(sys.argv) > 3", True),
        ("style := input('Style? ')", True),
        ("os.path.exists('style.txt')", False),
    ],
)
def test_what_a_person_may_change_is_left_at_what_is_made(
    test: str, taken: bool, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(
        "import os\nimport sys\nfrom argparse import ArgumentParser\nfrom dataclasses import dataclass\n\n"
        "from openai import OpenAI\n\n\n@dataclass\nclass Config:\n    style: str = 'plain'\n    turns: int = 5\n\n\n"
        "class Agent:\n    def __init__(self, config: Config):\n        self.config = config\n\n"
        "    def run(self, text: str) -> str:\n        messages = [{'role': 'system', 'content': self.config.style}, {'role': 'user', 'content': text}]\n"
        "        reply = OpenAI().chat.completions.create(model='m', messages=messages)\n        return reply.choices[0].message.content\n\n\n"
        "def main():\n    args = ArgumentParser().parse_args()\n    config = Config(style='terse')\n"
        f"    if {test}:\n        config.turns = 9\n    print(Agent(config).run(args.text))\n"
    )
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    module = (tmp_path / "agent_train.py").read_text()
    assert ('config = Config(style="terse")' in module) is taken
    if not taken:
        assert "cannot be copied here" in done.stdout.decode()


@pytest.mark.parametrize(
    ("flag", "given", "taken"),
    [
        ('"--limit", type=int, default=9', "limit=args.limit", "limit=9"),
        ('"--turns", dest="limit", default=9', "limit=args.limit", "limit=9"),
        ('"-t", "--turn-limit", default=9', "limit=args.turn_limit", "limit=9"),
        ('"--terse", action="store_true"', "prompt=words(args.terse)", "prompt=words(False)"),
        ('"--long", action="store_true"', "prompt=words(not args.long)", "prompt=words(True)"),
        ('"--long", action="store_false"', "prompt=words(args.long)", "prompt=words(True)"),
        ('"--terse", action="store_true"', "prompt='Short.' if args.terse else 'Long.'", 'prompt="Long."'),
        ('"--terse", action="store_true"', "prompt=chosen(args)", 'prompt="Long."'),
    ],
)  # fmt: skip
def test_what_a_command_line_says_by_default_is_taken_over(
    flag: str, given: str, taken: str, tmp_path: Path
) -> None:
    main = f"""\
    import argparse
    from agent import Agent, Registry

    def words(terse):
        return "Be terse." if terse else "Talk."

    def main():
        parser = argparse.ArgumentParser()
        parser.add_argument("question")
        parser.add_argument({flag})
        args = parser.parse_args()
        print(Agent(Registry(), {given}).run(args.question))
    """
    if "chosen" in given:  # through a name
        chosen = "prompt = 'Short.' if args.terse else 'Long.'"
        main = main.replace("print(", f"{chosen}\n        print(")
        main, taken = (
            main.replace("prompt=chosen(args)", "prompt=prompt"),
            "prompt=prompt",
        )
        assert 'prompt = "Long."' in episode(tmp_path, main)
    written = episode(tmp_path, main)
    assert taken in written and "args." not in written
    assert " if False" not in written


@pytest.mark.parametrize(
    ("flag", "given", "taken"),
    [
        ('"--hands", type=int, default=1', "hands=args.hands", "topic=scenario.topic, hands=1"),
        ('"--hands"', "hands=4", "topic=scenario.topic, hands=4"),
        ('"--no-log", action="store_true"', "log=not args.no_log", "topic=scenario.topic)"),
        ('"--hands", type=int', "hands=args.hands", "topic=scenario.topic)"),
    ],
)  # fmt: skip
def test_a_class_that_is_told_its_task_gets_what_the_command_gives_beside_it(
    flag: str, given: str, taken: str, tmp_path: Path
) -> None:
    agent = (
        "from openai import OpenAI\n\n\nclass Match:\n"
        "    def __init__(self, topic: str, hands: int = 100, log: bool = True):\n"
        "        self.topic, self.hands, self.log = topic, hands, log\n\n"
        "    def run(self) -> str:\n        for _ in range(self.hands):\n"
        "            messages = [{'role': 'user', 'content': self.topic}]\n"
        "            reply = OpenAI().chat.completions.create(model='m', messages=messages)\n"
        "        return reply.choices[0].message.content\n"
    )
    main = f"""\
    import argparse
    from agent import Match

    def main():
        parser = argparse.ArgumentParser()
        parser.add_argument("topic")
        parser.add_argument({flag})
        args = parser.parse_args()
        print(Match(topic=args.topic, {given}).run())
    """
    assert f"agent = Match({taken}" in episode(tmp_path, main, agent)


@pytest.mark.parametrize(
    "used",
    [
        "print(Agent(configured(args)).run(args.question))",
        "config = configured(args)\n    print(Agent(config).run(args.question))",
        "print(Agent(config=configured(options=args)).run(args.question))",
    ],
)
@pytest.mark.parametrize("whole", [True, False])
def test_a_record_that_a_function_makes_of_options_is_made_of_their_defaults(
    used: str, whole: bool, tmp_path: Path
) -> None:
    agent = (
        "from dataclasses import dataclass\n\nfrom openai import OpenAI\n\n\n@dataclass\nclass Config:\n"
        "    style: str\n    turns: int\n\n\n"
        "class Agent:\n    def __init__(self, config: Config):\n        self.config = config\n\n"
        "    def run(self, text: str) -> str:\n        messages = [{'role': 'system', 'content': self.config.style}, {'role': 'user', 'content': text}]\n"
        "        reply = OpenAI().chat.completions.create(model='m', messages=messages)\n        return reply.choices[0].message.content\n"
    )
    made = "Config(style=options.style, turns=options.turns)"
    body = f"return {made}"
    if not whole:  # what is changed later cannot be told
        body = f"config = {made}\n    if options.long:\n        config.turns *= 2\n    return config"
    main = (
        "import argparse\nfrom agent import Agent, Config\n\n"
        f"def configured(options):\n    {body}\n\n"
        "def main():\n    parser = argparse.ArgumentParser()\n"
        '    parser.add_argument("question")\n    parser.add_argument("--style", default="terse")\n'
        '    parser.add_argument("--turns", type=int, default=9)\n    args = parser.parse_args()\n'
        f"    {used}\n"
    )
    written = episode(tmp_path, main, agent)
    assert ('config=Config(style="terse", turns=9)' in written) is whole


def test_what_a_command_line_has_to_say_is_not(tmp_path: Path) -> None:
    main = """\
    import argparse
    from agent import Agent, Registry

    def main():
        parser = argparse.ArgumentParser()
        parser.add_argument("question")
        parser.add_argument("--limit", type=int)
        args = parser.parse_args()
        print(Agent(Registry(), limit=args.limit).run(args.question))
    """
    assert "limit" not in episode(tmp_path, main).partition("def episode")[2][:300]


PROVIDERS = """\
from typing import Literal

from anthropic import Anthropic
from openai import OpenAI


class Agent:
    def __init__(self, {given}):
        self.provider = {kept}
        if {first}:
            self.client = Anthropic()
        {second}:
            self.client = OpenAI()

    def run(self, question: str) -> str:
        messages = [{{"role": "user", "content": question}}]
        reply = self.client.chat.completions.create(model="m", messages=messages)
        return reply.choices[0].message.content
"""


@pytest.mark.parametrize(
    ("given", "kept", "first", "second", "made"),
    [
        ('provider: str = "anthropic"', "provider", 'provider == "anthropic"', 'elif provider == "gpt"', 'provider="gpt"'),
        ('kind="claude"', "kind", 'self.kind == "claude"', 'elif kind == "openai"', 'kind="openai"'),
        ('provider: Literal["claude", "gpt"] = "claude"', "provider", 'provider == "claude"', "else", 'provider="gpt"'),
        ('provider: str = "gpt"', "provider", 'provider == "anthropic"', 'elif provider == "gpt"', ""),
        ('provider: str = "gpt"', "provider", 'provider == "anthropic"', "else", ""),
        ('provider: str = "claude"', "provider", 'provider == "claude"', "else", ""),
    ],
)  # fmt: skip
def test_the_provider_is_one_that_can_be_recorded(
    given: str, kept: str, first: str, second: str, made: str, tmp_path: Path
) -> None:
    text = PROVIDERS.format(given=given, kept=kept, first=first, second=second)
    (tmp_path / "agent.py").write_text(text)
    assert art_adapt("--isolated", "agent.py", cwd=tmp_path).returncode == 0
    module = (tmp_path / "agent_train.py").read_text()
    assert f"agent = Agent({made})" in module


def test_a_file_that_runs_the_agent_gives_its_tools_all_the_same(
    tmp_path: Path,
) -> None:
    (tmp_path / "utils.py").write_text(
        "def ask(question: str, tools, client):\n"
        "    messages = [{'role': 'user', 'content': question}]\n"
        "    reply = client.chat.completions.create(model='m', messages=messages, tools=[t.schema for t in tools])\n"
        "    return reply.choices[0].message.content\n"
    )
    (tmp_path / "main.py").write_text(
        "from openai import OpenAI\nfrom utils import ask\n\n\nclass Weather:\n    schema = {}\n\n\n"
        "TOOLS = [Weather]\nprint(ask('How is the weather?', TOOLS, OpenAI()))\n"
    )
    assert art_adapt("--isolated", "utils.py", cwd=tmp_path).returncode == 0
    module = (tmp_path / "utils_train.py").read_text()
    assert (
        'with training.without_runs_of("ask"):\n'
        "    from main import TOOLS\n    from utils import ask\n"
    ) in module
    assert "tools=TOOLS" in module


SCRIPTED = """\
class Agent:
    def __init__(self, llm, max_steps: int = 5):
        self.llm = llm
        self.max_steps = max_steps

    def run(self, question: str) -> str:
        text = ""
        for _ in range(self.max_steps):
            text += self.llm.generate(question + text)
            if "Answer:" in text:
                return text
        return text
"""
PROVIDER = """\
from openai import OpenAI


class Provider:
    def __init__(self, api_key: str):
        self.client = OpenAI(api_key=api_key)

    def generate(self, prompt: str) -> str:
        reply = self.client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": prompt}]
        )
        return reply.choices[0].message.content
"""
A_TEST = """\
from agent import Agent
{imports}

class FakeProvider:
    def __init__(self, *replies):
        self.replies = iter(replies)

    def generate(self, prompt):
        return next(self.replies)


def test_answers():
    {made}
    assert Agent({given}).run("2+2?") == "Answer: 4"
"""


CHOOSING = """\
import anthropic
from openai import OpenAI


class Claude:
    def __init__(self, key):
        self.client = anthropic.Anthropic(api_key=key)

    def generate(self, messages):
        return self.client.messages.create(model="c", max_tokens=9, messages=messages)


class Gpt:
    def __init__(self, key):
        self.client = OpenAI(api_key=key)

    def generate(self, messages):
        reply = self.client.chat.completions.create(model="gpt-4o", messages=messages)
        return reply.choices[0].message.content


class Llm:
    def __init__(self, key: str, provider: str = "claude"):
        if provider == "claude":
            self.own = Claude(key)
        elif provider == "gpt":
            self.own = Gpt(key)

    def generate(self, messages):
        return self.own.generate(messages)


class Agent:
    def __init__(self, llm: Llm):
        self.llm = llm

    def run(self, task: str) -> str:
        return self.llm.generate([{"role": "user", "content": task}])
"""


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("Llm('k')", 'Llm("k", provider="gpt")'),
        ("Llm(key='k')", 'Llm(key="k", provider="gpt")'),
        ("Llm('k', 'gpt')", 'Llm("k", "gpt")'),
        ("Llm('k', provider='gpt')", 'Llm("k", provider="gpt")'),
    ],
)
def test_a_part_asks_a_provider_that_can_be_recorded(
    given: str, made: str, tmp_path: Path
) -> None:
    main = f"""\
    import sys
    from agent import Agent, Llm

    if __name__ == "__main__":
        print(Agent({given}).run(sys.argv[1]))
    """
    assert f"Agent(llm={made})" in episode(tmp_path, main, CHOOSING)


KEPT = {
    "by position only": ("", "key, provider='claude', /", "if provider == 'claude':"),
    "a client either way": (
        "self.plain = OpenAI(api_key=key)",
        "key, provider='claude'",
        "if provider == 'claude':",
    ),
}


@pytest.mark.parametrize("kind", KEPT)
def test_a_provider_is_not_chosen_where_none_has_to_be(
    kind: str, tmp_path: Path
) -> None:
    first, parameters, test = KEPT[kind]
    agent = CHOOSING.replace(
        'self, key: str, provider: str = "claude"', f"self, {parameters}"
    ).replace(
        '        if provider == "claude":', f"        {first or 'pass'}\n        {test}"
    )
    main = """\
    import sys
    from agent import Agent, Llm

    if __name__ == "__main__":
        print(Agent(Llm("k")).run(sys.argv[1]))
    """
    assert 'Agent(llm=Llm("k"))' in episode(tmp_path, main, agent)


@pytest.mark.parametrize(
    ("imports", "made", "given"),
    [
        ("", "pass", "FakeProvider('Answer: 4')"),
        ("", "llm = FakeProvider('Answer: 4')", "llm"),
        ("from tests.doubles import Replay", "pass", "llm=Replay('Answer: 4')"),
        ("from stubs import StubProvider", "pass", "StubProvider('Answer: 4')"),
        ("from unittest.mock import MagicMock", "pass", "MagicMock()"),
    ],
)
def test_what_a_test_has_scripted_is_no_provider(
    imports: str, made: str, given: str, tmp_path: Path
) -> None:
    """Such a run would train on the test's replies, and the policy would never be asked."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "agent.py").write_text(SCRIPTED)
    (tmp_path / "provider.py").write_text(PROVIDER)
    (tmp_path / "app.py").write_text(
        "from agent import Agent\nfrom provider import Provider\n\n\n"
        "def chat(settings, question):\n"
        "    return Agent(Provider(settings.key())).run(question)\n"
    )
    double = "class Replay:\n    def __init__(self, text): ...\n"
    (tmp_path / "tests" / "__init__.py").touch()
    (tmp_path / "tests" / "doubles.py").write_text(double)
    (tmp_path / "stubs.py").write_text(double.replace("Replay", "StubProvider"))
    (tmp_path / "tests" / "test_agent.py").write_text(
        A_TEST.format(imports=imports, made=made, given=given)
    )
    done = art_adapt("--isolated", "--diff", "agent.py", "app.py", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert b"Agent(llm=training.fill_in(" in done.stdout


@pytest.mark.parametrize(
    "lines",
    [
        "llm = Provider(api_key)\n    return Agent(llm).run(question)",
        "return Agent(Provider(api_key=api_key)).run(question)",
        "llm = Provider(api_key)\n    agent = Agent(llm=llm, max_steps=3)\n    return agent.run(question)",
    ],
)
def test_the_key_that_a_function_is_given_is_the_train_modules(
    lines: str, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(SCRIPTED)
    (tmp_path / "provider.py").write_text(PROVIDER)
    (tmp_path / "app.py").write_text(
        "from agent import Agent\nfrom provider import Provider\n\n\n"
        f"def chat(api_key: str, question: str) -> str:\n    {lines}\n"
    )
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    module = (tmp_path / "agent_train.py").read_text()
    assert re.search(r'Provider\((api_key=)?endpoint\["api_key"\]\)', module)


RECORDS = """\
import os
from dataclasses import dataclass, field

from openai import OpenAI


@dataclass
class Registry:
    tools: dict = field(default_factory=dict)


@dataclass
class Config:
    rules: str = ""
    limit: int = 5

    @classmethod
    def from_env(cls):
        return cls(rules=os.environ.get("RULES", "Answer briefly."))


def today():
    return "monday"


REGISTRY = Registry({"today": today})


def load_config():
    return Config("Be kind.")


def solve(question: str, registry: Registry, config: Config) -> str:
    messages = [
        {"role": "system", "content": config.rules},
        {"role": "user", "content": question},
    ]
    while True:
        reply = OpenAI().chat.completions.create(model="m", messages=messages)
        message = reply.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            out = registry.tools[call.function.name]()
            messages.append({"role": "tool", "tool_call_id": call.id, "content": out})


"""


@pytest.mark.parametrize(
    ("lines", "made"),
    [
        (
            ["config = Config.from_env()", "print(solve(input(), REGISTRY, config))"],
            "config = Config.from_env()\n    return solve(\n        question=scenario.question, registry=REGISTRY, config=config\n    )",
        ),
        (
            ["print(solve(input(), Registry({'today': today}), load_config()))"],
            'registry=Registry({"today": today}),\n        config=load_config(),',
        ),
        (
            ["print(solve(input(), REGISTRY, config=Config(rules='Be brief.')))"],
            'config=Config(rules="Be brief.")',
        ),
        (
            ["for tries in range(3):", "    solve(input(), REGISTRY, Config(limit=tries))"],
            "config=Config()",
        ),
    ],
    ids=["named", "inline", "literal", "differs"],
)  # fmt: skip
def test_a_record_that_could_be_empty_is_made_as_the_application_makes_it(
    lines: list[str], made: str, tmp_path: Path
) -> None:
    """An empty registry has no tools; a configuration of defaults no prompt."""
    body = "".join(f"    {line}\n" for line in lines)
    (tmp_path / "agent.py").write_text(f"{RECORDS}def main():\n{body}")
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    module = (tmp_path / "agent_train.py").read_text()
    assert re.sub(r"\s", "", made) in re.sub(r"\s", "", module)


@pytest.mark.parametrize(
    "made",
    [
        "print(solve(Task('What is art?')))",
        "print(solve(Task(os.environ.get('QUERY', 'What is art?'))))",
        "print(solve(load()))",
        "task = load()\n    print(solve(task))",
        "print(solve(task=Task(**json.load(open('What is art?')))))",
    ],
)
def test_a_record_that_is_the_task_stays_the_scenarios(
    made: str, tmp_path: Path
) -> None:
    """Nothing else could differ: a train module that took it over would be refused."""
    (tmp_path / "agent.py").write_text(
        "import json, os\nfrom dataclasses import dataclass\n\nfrom openai import OpenAI\n\n\n"
        "@dataclass\nclass Task:\n    query: str = ''\n\n\n"
        "def load():\n    return Task('What is art?')\n\n\n"
        "def solve(task: Task) -> str:\n"
        "    messages = [{'role': 'user', 'content': task.query}]\n"
        "    reply = OpenAI().chat.completions.create(model='m', messages=messages)\n"
        "    return reply.choices[0].message.content\n\n\n"
        f"def main():\n    {made}\n"
    )
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    module = (tmp_path / "agent_train.py").read_text()
    assert "What is art?" not in module and "load" not in module
    assert "task=Task(query=scenario.query)" in module


@pytest.mark.parametrize(
    ("signature", "call", "made"),
    [
        ("store: Store | None = None", "store=store", "store=store"),
        ("store=None", "store", "store=store"),
        ("store=None, system='Be brief.'", "store, system='Be strict.'", 'system="Be strict."'),
        ("store=None, tools=()", "store, tools=TOOLS", "tools=TOOLS"),
        ("store=None, limit=3", "store, limit=3", "store=store)"),
        ("store=None, limit=3", "store, limit=len(input())", "store=store)"),
    ],
)  # fmt: skip
def test_what_a_function_could_do_without_is_given_as_by_the_application(
    signature: str, call: str, made: str, tmp_path: Path
) -> None:
    """Else its episodes would run on an empty store, with another prompt, without tools."""
    (tmp_path / "agent.py").write_text(
        "from openai import OpenAI\n\nTOOLS = [print]\n\n\n"
        "class Store:\n    def __init__(self):\n        self.rows = {}\n\n"
        "    def seed(self):\n        self.rows['a'] = 1\n\n\n"
        f"def solve(query: str, {signature}) -> str:\n"
        "    messages = [{'role': 'user', 'content': f'{query} {store.rows}'}]\n"
        "    reply = OpenAI().chat.completions.create(model='m', messages=messages)\n"
        "    return reply.choices[0].message.content\n\n\n"
        f"def main():\n    store = Store()\n    store.seed()\n    print(solve(input(), {call}))\n"
    )
    assert art_adapt("--isolated", "agent.py", cwd=tmp_path).returncode == 0
    module = (tmp_path / "agent_train.py").read_text()
    assert "    store = Store()\n    store.seed()\n" in module
    assert made in module


def test_what_one_call_shows_is_taken_over_without_the_rest(tmp_path: Path) -> None:
    main = """\
    from agent import Agent, Registry
    from tools import shell

    def main(settings):
        registry = Registry()
        registry.register(shell)
        Agent(registry, "You list files.", settings["limit"]).run("?")
    """
    written = episode(tmp_path, main)
    assert "registry.register(shell)" in written
    assert 'prompt="You list files."' in written


MODEL = """\
from abc import ABC, abstractmethod

from openai import OpenAI


class Model(ABC):
    @abstractmethod
    def chat(self, messages): ...


class OpenAIModel(Model):
    def __init__(self, key: str | None = None):
        self.client = OpenAI(api_key=key)

    def chat(self, messages):
        reply = self.client.chat.completions.create(model="m", messages=messages)
        return reply.choices[0].message.content


class Agent:
    def __init__(self, {parameter}, prompt: str = ""):
        self.model, self.history = {name}, []

    def run(self, question: str) -> str:
        self.history.append({{"role": "user", "content": question}})
        while True:
            text = self.model.chat(self.history)
            self.history.append({{"role": "assistant", "content": text}})
            if "DONE" in text:
                return text
"""


@pytest.mark.parametrize(
    ("parameter", "name"),
    [("model: Model", "model"), ("model: 'Model'", "model"), ("llm: Model", "llm")],
)
def test_a_model_that_is_an_object_is_no_name(
    parameter: str, name: str, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(MODEL.format(parameter=parameter, name=name))
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    module = (tmp_path / "agent_train.py").read_text()
    assert f'{name}=OpenAIModel(key=endpoint["api_key"])' in module


@pytest.mark.parametrize(
    "value",
    [
        "[shell]",
        "[Tool('shell', shell)]",
        "[*OURS, Tool('shell', shell)]",
        "OURS",
        "OURS if len(OURS) else []",
        "OURS + [shell]",
        "[lambda command: shell(command)]",
    ],
)
def test_a_list_of_tools_is_no_field(value: str, tmp_path: Path) -> None:
    agent = (
        "from openai import OpenAI\n\n\nclass Agent:\n    def __init__(self, tools: list):\n"
        "        self.tools = tools\n\n    def run(self, question: str) -> str:\n"
        "        messages = [{'role': 'user', 'content': question}]\n"
        "        reply = OpenAI().chat.completions.create(model='m', messages=messages, tools=self.tools)\n"
        "        return reply.choices[0].message.content\n"
    )
    main = f"""\
    from agent import Agent
    from tools import shell

    class Tool:
        def __init__(self, name, run):
            self.name, self.run = name, run

    OURS = [Tool("look", len)]

    def main():
        print(Agent({value}).run(input()))
    """
    written = episode(tmp_path, main, agent)
    assert "    tools: list" not in written
    assert "Agent(tools=" in written and "scenario.tools" not in written


@pytest.mark.parametrize(
    ("signature", "call"),
    [
        ("*names", '"clock", "zone"'),
        ("first, *names", '"clock", "zone"'),
        ("**options", 'clock=1, zone="utc"'),
        ("first, **options", 'first="clock", zone="utc"'),
    ],
)
def test_a_set_up_call_is_given_all_that_it_gets(
    signature: str, call: str, tmp_path: Path
) -> None:
    agent = AGENT + f"\n    def use({'self, ' + signature}):\n        self.limit += 1\n"
    main = f"""\
    from agent import Agent

    def main():
        agent = Agent()
        agent.use({call})
        print(agent.run(input()))
    """
    assert f"    agent.use({call})\n" in episode(tmp_path, main, agent)


@pytest.mark.parametrize(
    ("option", "body"),
    [
        ("@click.option('--limit', default=0)", "limit += 5\n    "),
        ("@click.option('--limit', default='5', type=int)", ""),
        ("@click.option('--limit', default=lambda: 5)", ""),
        ("@click.option('--limit', count=True)", ""),
        ("@click.option('--limit', default=1, callback=twice)", ""),
    ],
)
def test_what_click_or_the_command_makes_of_a_default_is_not_guessed(
    option: str, body: str, tmp_path: Path
) -> None:
    agent = (
        "import click\nfrom openai import OpenAI\n\n\ndef twice(ctx, param, value):\n    return 2 * value\n\n\n"
        "class Agent:\n    def __init__(self, limit):\n        self.limit = limit\n\n"
        "    def run(self, task: str) -> str:\n"
        "        messages = [{'role': 'user', 'content': task}]\n"
        "        reply = OpenAI().chat.completions.create(model='m', max_tokens=self.limit, messages=messages)\n"
        "        return reply.choices[0].message.content\n\n\n"
        f"@click.command()\n{option}\n@click.argument('task')\ndef main(task, limit):\n"
        f"    {body}print(Agent(limit).run(task))\n"
    )
    assert "limit=scenario.limit" in episode(tmp_path, "", agent)


@pytest.mark.parametrize(
    ("option", "given"),
    [
        ("type=float, default='0'", "0.0"),
        ("type=int, default='2'", "2"),
        ("type=int, default=2", "2"),
        ("type=int, default='many'", '"many"'),  # which argparse would refuse
        ("default='2'", '"2"'),
        ("type=str, default='2'", '"2"'),
    ],
)
def test_argparse_reads_a_default_by_its_type(
    option: str, given: str, tmp_path: Path
) -> None:
    agent = (
        "import argparse\n\nfrom openai import OpenAI\n\n\n"
        "class Agent:\n    def __init__(self, heat):\n        self.heat = heat\n\n"
        "    def run(self, task: str) -> str:\n"
        "        messages = [{'role': 'user', 'content': task}]\n"
        "        reply = OpenAI().chat.completions.create(model='m', temperature=self.heat, messages=messages)\n"
        "        return reply.choices[0].message.content\n\n\n"
        "def main():\n    parser = argparse.ArgumentParser()\n    parser.add_argument('task')\n"
        f"    parser.add_argument('--heat', {option})\n    args = parser.parse_args()\n"
        "    print(Agent(args.heat).run(args.task))\n"
    )
    made = episode(tmp_path, "", agent).replace("'", '"')
    assert f"agent = Agent(heat={given})" in made


OPTION = {
    "typer": "@app.command()\ndef main(config: Path = typer.Option(Path('default.toml'), '-c'), loud: bool = False):\n",
    "annotated": "@app.command()\ndef main(config: Annotated[Path, typer.Option()] = Path('default.toml'), loud: bool = False):\n",
    "click": "@click.command()\n@click.option('--config', default=Path('default.toml'))\n@click.option('--loud', is_flag=True)\ndef main(config, loud):\n",
}  # fmt: skip


@pytest.mark.parametrize("kind", OPTION)
def test_an_option_that_nobody_types_has_its_default(kind: str, tmp_path: Path) -> None:
    """The settings come from the file, and what a switch adds is left out."""
    agent = (
        "import tomllib\nfrom dataclasses import dataclass\nfrom pathlib import Path\nfrom typing import Annotated\n\n"
        "import click\nimport typer\nfrom openai import OpenAI\n\napp = typer.Typer()\n\n\n"
        "@dataclass\nclass Config:\n    tone: str\n\n    @classmethod\n    def load(cls, path: Path) -> 'Config':\n"
        "        return cls(**tomllib.loads(path.read_text()))\n\n\n"
        "class Agent:\n    def __init__(self, config: Config, tell=None):\n        self.config, self.tell = config, tell\n\n"
        "    def run(self, task: str) -> str:\n"
        "        messages = [{'role': 'system', 'content': self.config.tone}, {'role': 'user', 'content': task}]\n"
        "        reply = OpenAI().chat.completions.create(model='m', messages=messages)\n"
        "        return reply.choices[0].message.content\n\n\n"
    )
    main = (
        f"{OPTION[kind]}    cfg = Config.load(config)\n"
        "    print(Agent(cfg, tell=print if loud else None).run(input()))\n"
    )
    made = episode(tmp_path, "", agent + main)
    assert (
        "    cfg = Config.load(Path('default.toml'))\n    agent = Agent(config=cfg)\n"
        in made.replace('"', "'")
    )


@pytest.mark.parametrize(
    "main",
    [
        "MODEL = 'own/m'\n\n\ndef main():\n    print(Agent(MODEL).run(input()))\n",
        "def main():\n    name = 'own/m'\n    print(Agent(model=name).run(input()))\n",
        "def main():\n    print(Agent(os.getenv('MODEL', 'own/m')).run(input()))\n",
        "def main():\n    print(Agent(os.environ.get('MODEL') or 'own/m').run(input()))\n",
        "def main(model='own/m'):\n    print(Agent(model).run(input()))\n",
        "@click.command()\n@click.option('--model', default='own/m')\ndef main(model):\n    print(Agent(model).run(input()))\n",
        "def main(model: str = typer.Option('own/m')):\n    print(Agent(model).run(input()))\n",
        "parser = argparse.ArgumentParser()\nparser.add_argument('--model', default='own/m')\n\n\n"
        "def main():\n    args = parser.parse_args()\n    print(Agent(args.model).run(input()))\n",
    ],
    ids=["constant", "local", "getenv", "or", "default", "click", "typer", "argparse"],
)  # fmt: skip
def test_an_agent_gets_the_models_name_that_it_has_by_default(
    main: str, tmp_path: Path
) -> None:
    """It may look its name up, and refuse another one."""
    agent = (
        "import argparse\nimport os\n\nimport click\nimport typer\nfrom openai import OpenAI\n\n\n"
        "class Agent:\n    def __init__(self, model: str):\n        self.model = model\n\n"
        "    def run(self, task: str) -> str:\n"
        "        messages = [{'role': 'user', 'content': task}]\n"
        "        reply = OpenAI().chat.completions.create(model=self.model.split('/')[1], messages=messages)\n"
        "        return reply.choices[0].message.content\n\n\n"
    )
    assert 'agent = Agent(model="own/m")' in episode(tmp_path, "", agent + main)


def test_what_a_file_shows_that_the_agent_does_not_import_goes_before_a_guess(
    tmp_path: Path,
) -> None:
    """The class can be made of nothing, and the program makes it of an option."""
    agent = (
        "from dataclasses import dataclass\n\nfrom openai import OpenAI\n\n\n"
        "@dataclass\nclass Config:\n    style: str\n    path: str\n\n"
        "    @classmethod\n    def read(cls, path='style.txt'):\n"
        "        with open(path) as file:\n            return cls(file.read(), path)\n\n\n"
        "class Store:\n    def __init__(self, path):\n        self.path = path\n\n\n"
        "class Desk:\n    def __init__(self, config: Config, store: Store):\n"
        "        self.config, self.store = config, store\n\n"
        "    def ask(self, text: str) -> str:\n"
        "        messages = [{'role': 'user', 'content': self.config.style + text}]\n"
        "        reply = OpenAI().chat.completions.create(model='m', messages=messages)\n"
        "        return reply.choices[0].message.content\n"
    )
    main = """\
    import argparse
    from agent import Config, Desk, Store

    def main():
        parser = argparse.ArgumentParser()
        parser.add_argument("text")
        parser.add_argument("--config", default="house.txt")
        args = parser.parse_args()
        config = Config.read(args.config)
        store = Store(config.path)
        print(Desk(config, store).ask(args.text))
    """
    written = episode(tmp_path, main, agent)
    assert 'config = Config.read("house.txt")' in written
    assert "agent = Desk(config=config, store=store)" in written
