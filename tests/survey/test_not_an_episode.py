"""What is no episode: a step that is handed a reply, one turn of a script's loop, a parsed command."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent, indent

import pytest
from agent_files import art_adapt

from art_adapt.code.project import Project
from art_adapt.entry_decision import decide_entry
from art_adapt.errors import Refusal
from art_adapt.plan import make_plan
from art_adapt.settings import Options
from art_adapt.source import read_source
from art_adapt.survey.candidates.launches import runs_for_ever
from art_adapt.survey.survey import survey

HEAD = """\
import argparse
import sys
from openai import OpenAI

client = OpenAI()


"""
THINK = """\
def think(messages):
    reply = client.chat.completions.create(model="gpt-4o", messages=messages)
    return reply.choices[0].message.content


"""
PLANNER = f"""\
{THINK}class Planner:
    def plan(self, question):
        text = think([{{"role": "user", "content": "Plan: " + question}}])
        return text.splitlines()


class Worker:
    def work(self, question: str, plan: list[str]) -> str:
        notes = result = ""
        for step in plan:
            result = think([{{"role": "user", "content": question + notes + step}}])
            notes += step + result
        return result


"""
# How an orchestrator hands a plan to the worker; its name is what runs the episode.
ORCHESTRATORS = {
    "names": """
        class Team:
            def __init__(self):
                self.planner, self.worker = Planner(), Worker()

            def run(self, question: str):
                plan = self.planner.plan(question)
                if not plan:
                    return
                print(self.worker.work(question, plan))
        """,
    "inside the call": """
        class Team:
            def run(self, question: str):
                return Worker().work(question, Planner().plan(question))
        """,
    "attribute": """
        class Team:
            def run(self, question: str):
                self.steps = Planner().plan(question)
                return Worker().work(question, self.steps)
        """,
    "keyword dict": """
        class Team:
            def run(self, question: str):
                given = {"question": question}
                given["plan"] = Planner().plan(question)
                return Worker().work(**given)
        """,
    "helper": """
        def lines_of(steps):
            return [each for each in steps if each]

        class Team:
            def _steps(self, question):
                return Planner().plan(question)

            def run(self, question: str):
                return Worker().work(question, lines_of(self._steps(question)))
        """,
    "branch": """
        class Team:
            def run(self, question: str, planned: bool = True):
                if planned:
                    steps = Planner().plan(question)
                else:
                    steps = [question]
                return Worker().work(question, steps)
        """,
    "walrus": """
        class Team:
            def run(self, question: str):
                if steps := Planner().plan(question):
                    return Worker().work(question, steps)
                return ""
        """,
}


def surveyed(tmp_path: Path, program: str):
    path = tmp_path / "agent.py"
    path.write_text(HEAD + dedent(program))
    return survey([read_source(path)])


@pytest.mark.parametrize("spelling", ORCHESTRATORS)
def test_what_is_handed_a_plan_is_a_step(tmp_path: Path, spelling: str) -> None:
    found = surveyed(tmp_path, PLANNER + dedent(ORCHESTRATORS[spelling])).entry_points
    assert found[0].name == "Team.run"


# A function that goes on from a reply, and how its caller asks first.
CONTINUATIONS = {
    "name": """
        reply = client.chat.completions.create(model="m", messages=[{"role": "user", "content": task}])
        return go_on(reply)
        """,
    "inside the call": """
        return go_on(client.chat.completions.create(model="m", messages=[{"role": "user", "content": task}]))
        """,
    "keyword": """
        first = client.chat.completions.create(model="m", messages=[{"role": "user", "content": task}])
        return go_on(reply=first)
        """,
    "attribute of it": """
        first = client.chat.completions.create(model="m", messages=[{"role": "user", "content": task}])
        choice = first.choices[0]
        print(choice.finish_reason)
        return go_on(first)
        """,
    "helper": """
        first = start(task)
        return go_on(first)
        """,
    "branch": """
        if task.startswith("!"):
            first = start(task[1:])
        else:
            first = client.chat.completions.create(model="m", messages=[{"role": "user", "content": task}])
        return go_on(first)
        """,
}
GO_ON = """\
def go_on(reply, limit=4):
    messages = []
    for _ in range(limit):
        said = reply.choices[0].message.content
        if "DONE" in said:
            return said
        messages += [{"role": "assistant", "content": said}, {"role": "user", "content": "Go on."}]
        reply = client.chat.completions.create(model="m", messages=messages)


def start(task):
    return client.chat.completions.create(model="m", messages=[{"role": "user", "content": task}])


def solve(task: str):
"""


@pytest.mark.parametrize("spelling", CONTINUATIONS)
def test_what_goes_on_from_a_reply_is_a_step(tmp_path: Path, spelling: str) -> None:
    body = "\n".join(
        f"    {line}" for line in dedent(CONTINUATIONS[spelling]).strip().splitlines()
    )
    assert surveyed(tmp_path, GO_ON + body).entry_points[0].name == "solve"


ASK = f"""\
{THINK}def ask(prompt: str, system: str = "Say DO or DONE") -> str:
    return think([{{"role": "system", "content": system}}, {{"role": "user", "content": prompt}}])


def act(text):
    return "rain in " + text


"""
# Loops at module level whose turns are answered by a helper.
LOOPS = {
    "list": """
        notes = ["How is the weather?"]
        for _ in range(5):
            text = ask("\\n".join(notes))
            notes.append(text)
            if text.startswith("DONE"):
                break
            notes.append(act(text))
        """,
    "text": """
        prompt = "How is the weather?"
        while True:
            text = ask(prompt)
            if text.startswith("DONE"):
                break
            prompt += text + act(text)
        """,
    "made anew": """
        prompt = "How is the weather?"
        for turn in range(9):
            text = ask(prompt)
            prompt = f"{prompt} {text} {act(text)}"
        """,
    "method": """
        class Llm:
            def ask(self, prompt: str) -> str:
                return ask(prompt)

        llm = Llm()
        seen = "How is the weather?"
        while "DONE" not in seen:
            seen = seen + act(llm.ask(seen))
        """,
    "under main": """
        if __name__ == "__main__":
            notes = [sys.argv[1]]
            while len(notes) < 20:
                text = ask(" ".join(notes))
                notes.extend([text, act(text)])
        """,
    "walrus": """
        notes = ["How is the weather?"]
        while not (text := ask(" ".join(notes))).startswith("DONE"):
            notes += [text, act(text)]
        """,
}


@pytest.mark.parametrize("spelling", LOOPS)
def test_a_turn_of_a_modules_loop_is_refused(tmp_path: Path, spelling: str) -> None:
    found = surveyed(tmp_path, ASK + dedent(LOOPS[spelling]))
    if spelling == "under main":  # the script reads its command line: it is the episode
        assert found.entry_points[0].is_script
        return
    with pytest.raises(Refusal, match="the agent runs at module level"):
        decide_entry(found, Options())


def test_a_loop_over_questions_only_shows_the_agent(tmp_path: Path) -> None:
    program = ASK + dedent(
        """
        answers = []
        for question in ["Why?", "How?"]:
            answers.append(ask(question))
        """
    )
    assert decide_entry(surveyed(tmp_path, program), Options()).entry.name == "ask"


CHAT = """\
def chat(args) -> None:
    messages = []
    while True:
        line = input("> ")
        messages.append({"role": "user", "content": line})
        reply = client.chat.completions.create(model=args.model, messages=messages)
        messages.append({"role": "assistant", "content": reply.choices[0].message.content})
        print(messages[-1]["content"])


"""
# How the command line reaches it.
COMMANDS = {
    "name": """
        def launch():
            parser = argparse.ArgumentParser()
            parser.add_argument("--model", default="gpt-4o-mini")
            args = parser.parse_args()
            chat(args)
        """,
    "inside the call": """
        def launch():
            parser = argparse.ArgumentParser()
            parser.add_argument("--model", default="gpt-4o-mini")
            chat(parser.parse_args())
        """,
    "helper": """
        def read_arguments():
            parser = argparse.ArgumentParser()
            parser.add_argument("--model", default="gpt-4o-mini")
            return parser.parse_args()

        def launch():
            args = read_arguments()
            try:
                chat(args)
            except KeyboardInterrupt:
                print("bye")
        """,
    "known arguments": """
        def launch():
            parser = argparse.ArgumentParser()
            parser.add_argument("--model", default="gpt-4o-mini")
            known, rest = parser.parse_known_args()
            chat(known)
        """,
    "keyword": """
        def launch():
            parser = argparse.ArgumentParser()
            parser.add_argument("--model", default="gpt-4o-mini")
            options = parser.parse_args()
            chat(args=options)
        """,
}


@pytest.mark.parametrize("spelling", COMMANDS)
def test_a_parsed_command_line_is_handed_by_the_episode(
    tmp_path: Path, spelling: str
) -> None:
    found = surveyed(tmp_path, CHAT + dedent(COMMANDS[spelling])).entry_points
    assert found[0].name == "launch"


# Files that only a library of the machine puts together, so that no call leads to the model.
APART = {
    "llm": """\
        from openai import OpenAI

        def ask(prompt):
            return OpenAI().chat.completions.create(
                model="m", messages=[{"role": "user", "content": prompt}]
            ).choices[0].message.content
        """,
    "steps": """\
        from llm import ask
        from pipeline import Node

        class Answer(Node):
            def exec(self, shared):
                return ask(shared["question"])
        """,
    "main": """\
        import sys
        from pipeline import Flow
        from steps import Answer

        def main():
            Flow(start=Answer()).run({"question": sys.argv[1]})

        if __name__ == "__main__":
            main()
        """,
}


def test_a_call_that_nothing_leads_to_is_named(tmp_path: Path) -> None:
    for name, text in APART.items():
        (tmp_path / f"{name}.py").write_text(dedent(text))
    done = art_adapt("main.py", cwd=tmp_path)
    said = done.stderr.decode()
    assert done.returncode == 2
    assert "no call path leads from main.py to the model call at llm.py:4" in said
    assert "art-adapt --entry main:FUNCTION llm.py" in said
    named = art_adapt("--entry", "main:main", "llm.py", cwd=tmp_path)
    assert named.returncode == 0, named.stderr.decode()
    assert "main" in (tmp_path / "main_train.py").read_text()


NODES = """\
from llm import ask

def answer(state: dict) -> dict:
    return {"answer": ask(state["question"])}
"""
GRAPH = """\
from langgraph.graph import END, START, StateGraph
from nodes import answer

def build():
    graph = StateGraph(dict)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    return graph.compile()
"""


def test_a_graph_over_the_projects_client_calls_no_model_itself(tmp_path: Path) -> None:
    (tmp_path / "llm.py").write_text(dedent(APART["llm"]))
    (tmp_path / "nodes.py").write_text(NODES)
    (tmp_path / "workflow.py").write_text(GRAPH)
    said = art_adapt("workflow.py", cwd=tmp_path).stderr.decode()
    assert "no call path leads from workflow.py to the model call at llm.py:4" in said


GAME = """\
import asyncio

from openai import AsyncOpenAI


async def bid(prompt):
    asked = [{"role": "user", "content": prompt}]
    reply = await AsyncOpenAI().chat.completions.create(model="m", messages=asked)
    return reply.choices[0].message.content


class Manager:
    task = None

    async def run_game(self, rounds: int, rules: str):
        for number in range(rounds):
            self.show(await bid(f"{rules} Round {number}."))

    def show(self, text):
        print(text)


"""
# What starts a game and ends before it does; the game is the episode.
STARTERS = {
    "a message": """
        async def handle_message(self, data: dict):
            if data["type"] == "start":
                self.task = asyncio.create_task(self.run_game(data["rounds"], data["rules"]))
            elif self.task is not None:
                self.task.cancel()
        """,
    "a loop's method": """
        async def process(self, data: dict):
            loop = asyncio.get_running_loop()
            loop.create_task(self.run_game(data["rounds"], data["rules"]))
            return {"started": True}
        """,
    "a coroutine in a name": """
        async def run(self, data: dict):
            asyncio.ensure_future(self.run_game(rounds=data["rounds"], rules=data["rules"]))
        """,
}
WAITS = """
        async def run(self, data: dict):
            task = asyncio.create_task(self.run_game(data["rounds"], data["rules"]))
            await task
        """


@pytest.mark.parametrize("spelling", STARTERS)
def test_what_starts_a_task_and_ends_is_no_episode(
    tmp_path: Path, spelling: str
) -> None:
    method = indent(dedent(STARTERS[spelling]), "    ")
    assert _entry(tmp_path, GAME + method) == "Manager.run_game"


def test_what_waits_for_its_task_may_be_one(tmp_path: Path) -> None:
    assert _entry(tmp_path, GAME + indent(dedent(WAITS), "    ")) == "Manager.run"


def _entry(folder: Path, text: str) -> str | None:
    (folder / "agent.py").write_text(text)
    decided = decide_entry(survey([read_source(folder / "agent.py")]), Options())
    return None if decided.entry is None else decided.entry.called


# Settings that a function makes of the environment: the same for every scenario.
SETTINGS = """\
import argparse
import json
import os
from dataclasses import dataclass

from openai import OpenAI


@dataclass
class Settings:
    provider: str
    limit: int


def run(question: str, settings: Settings) -> str:
    messages = [{"role": "user", "content": question}]
    for _ in range(settings.limit):
        reply = OpenAI().chat.completions.create(model="m", messages=messages)
        messages.append(reply.choices[0].message)
    return messages[-1].content


"""
LOADED = {
    "nobody calls it": """
        def load_settings() -> Settings:
            return Settings(os.environ.get("PROVIDER", "openai"), 3)
        """,
    "a file may be named": """
        def load(path: str | None = None) -> Settings:
            return Settings(**json.loads(open(path or "settings.json").read()))


        def main():
            parser = argparse.ArgumentParser()
            parser.add_argument("--settings")
            print(run(input("> "), load(parser.parse_args().settings)))
        """,
    "in a try": """
        def from_environment():
            return Settings(os.environ["PROVIDER"], 3)


        def main():
            try:
                settings = from_environment()
            except KeyError as error:
                raise SystemExit(str(error))
            while True:
                print(run(input("> "), settings))
        """,
    "in the call": """
        def read():
            return Settings(os.environ["PROVIDER"], 3)


        def main():
            print(run(input("> "), read()))
        """,
}


@pytest.mark.parametrize("spelling", LOADED)
def test_settings_of_the_environment_are_no_scenario(
    tmp_path: Path, spelling: str
) -> None:
    (tmp_path / "agent.py").write_text(SETTINGS + dedent(LOADED[spelling]))
    done = art_adapt("--isolated", "--entry", "run", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    module = (tmp_path / "agent_train.py").read_text()
    scenario = module[module.index("class Scenario") : module.index("def episode")]
    assert "question: str" in scenario and "limit" not in scenario


def test_a_task_that_calls_are_given_stays_one(tmp_path: Path) -> None:
    agent = SETTINGS + dedent("""\
        def make(number: int) -> Settings:
            return Settings("a", number)


        def main():
            print(run("Why?", make(3)))
        """)
    (tmp_path / "agent.py").write_text(agent)
    done = art_adapt("--isolated", "--entry", "run", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert "limit: int" in (tmp_path / "agent_train.py").read_text()


CLIENT = """\
import os

from openai import OpenAI


class Llm:
    def __init__(self, provider: str, retries: int):
        self.provider, self.retries = provider, retries

    {decorator}
    def from_env({given}) -> "Llm":
        return {made}(os.environ.get("PROVIDER", "openai"), 3)

    def ask(self, messages):
        return OpenAI().chat.completions.create(model="m", messages=messages)


class Agent:
    def __init__(self, llm: Llm):
        self.llm = llm

    def run(self, task: str) -> str:
        messages = [{{"role": "user", "content": task}}]
        for _ in range(5):
            messages.append(self.llm.ask(messages).choices[0].message)
        return messages[-1].content
"""


@pytest.mark.parametrize(
    ("decorator", "given", "made", "is_used"),
    [
        ("@classmethod", "cls", "cls", True),
        ("@classmethod", "cls, prefix: str = 'X'", "cls", True),
        ("@classmethod", "cls, path: str", "cls", False),
        ("@staticmethod", "", "dict", False),
    ],
)
def test_an_object_is_made_by_what_needs_nothing(
    decorator: str, given: str, made: str, is_used: bool, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(
        CLIENT.format(decorator=decorator, given=given, made=made)
    )
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    module = (tmp_path / "agent_train.py").read_text()
    assert ("Llm.from_env()" in module) is is_used
    assert ("    retries: int\n" in module) is not is_used


OF_ENVIRONMENT = """\
import os
from dataclasses import dataclass

from openai import OpenAI


@dataclass
class Settings:
    url: str
    limit: int

{methods}

class Llm:
    def __init__(self, settings: Settings):
        self.settings = settings

    def ask(self, messages):
        return OpenAI().chat.completions.create(model="m", messages=messages)


class Agent:
    def __init__(self, {parameters}):
        {body}

    def run(self, task: str) -> str:
        messages = [{{"role": "user", "content": task}}]
        for _ in range(5):
            messages.append(self.llm.ask(messages).choices[0].message)
        return messages[-1].content
"""
FROM_ENV = """\
    @classmethod
    def from_env(cls, file: str | None = None) -> "Settings":
        return cls(os.environ.get("URL", ""), 3)
"""
TWO_WAYS = FROM_ENV + FROM_ENV.replace("from_env", "from_file")


@pytest.mark.parametrize(
    ("methods", "parameters", "body", "made"),
    [
        (
            FROM_ENV,
            "settings: Settings",
            "self.llm = Llm(settings)",
            "Agent(settings=Settings.from_env())",
        ),
        (
            FROM_ENV.replace("from_env", "load"),
            "settings: 'Settings'",
            "self.llm = Llm(settings)",
            "Agent(settings=Settings.load())",
        ),
        (
            FROM_ENV,
            "llm: Llm",
            "self.llm = llm",
            "Agent(llm=Llm(settings=Settings.from_env()))",
        ),
        (TWO_WAYS, "settings: Settings", "self.llm = Llm(settings)", ""),
        (
            FROM_ENV.replace("file: str | None = None", "file: str"),
            "settings: Settings",
            "self.llm = Llm(settings)",
            "",
        ),
    ],
)
def test_settings_with_one_way_to_be_made_are_no_scenario(
    methods: str, parameters: str, body: str, made: str, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(
        OF_ENVIRONMENT.format(methods=methods, parameters=parameters, body=body)
    )
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    module = (tmp_path / "agent_train.py").read_text()
    assert ("    limit: int\n" in module) is (not made)
    assert made in module


def test_settings_that_a_factory_takes_are_made_as_well(tmp_path: Path) -> None:
    agent = OF_ENVIRONMENT.format(
        methods=FROM_ENV,
        parameters="settings: Settings, lock: Lock",
        body="self.llm, self.lock = Llm(settings), lock",
    ).replace("from openai", "from threading import Lock\n\nfrom openai") + dedent("""\


        def build(settings: Settings) -> Agent:
            for lock in locks_of(settings):
                return Agent(settings, lock)


        def main(settings: Settings):
            print(build(settings).run(input()))
        """)
    (tmp_path / "agent.py").write_text(agent)
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    module = (tmp_path / "agent_train.py").read_text()
    assert "agent = build(settings=Settings.from_env())" in module
    assert "    limit: int\n" not in module


GATEWAY = """
    from openai import OpenAI

    class Gateway:
        def generate(self, task: str) -> str:
            messages = [{"role": "user", "content": task}]
            reply = OpenAI().chat.completions.create(model="m", messages=messages)
            return reply.choices[0].message.content
    """
DESK = """
    from gateway import Gateway

    class Desk:
        def handle(self, message: str) -> str:
            return Gateway().generate("Answer: " + message)
    """
TESTED = {
    "a fixture": "def test_it(tmp_path):\n    assert Gateway().generate('x')\n",
    "a class": "class TestIt:\n    def test_it(self):\n        assert Gateway().generate('x')\n",
    "a coroutine": "async def test_it(client):\n    assert Gateway().generate('x')\n",
    "a loop": "def test_all():\n    for task in 'abc':\n        assert Gateway().generate(task)\n",
    "a parameter": "import pytest\n\n@pytest.mark.parametrize('task', ['x'])\ndef test_it(task):\n    assert Gateway().generate(task)\n",
}


@pytest.mark.parametrize("kind", TESTED)
def test_what_pytest_runs_is_no_candidate(kind: str, tmp_path: Path) -> None:
    files = {
        "gateway.py": dedent(GATEWAY),
        "desk.py": dedent(DESK),
        "tests/test_gateway.py": f"from gateway import Gateway\n\n\n{TESTED[kind]}",
        "pyproject.toml": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = survey([read_source(tmp_path / "gateway.py")])
    assert not [e.called for e in found.entry_points if "test_" in e.called]
    assert found.entry_points[0].called in ("Desk.handle", "Gateway.generate")


MAIL = f"""\
{HEAD}import asyncio

{THINK}def extract(mail: str) -> str:
    return think([{{"role": "user", "content": "Give the amount: " + mail}}])


def poll_once(bot):
    for mail in bot.unread():
        bot.send(extract(mail))


"""
POLLERS = {
    "a loop": "def serve(bot):\n    while True:\n        poll_once(bot)\n        bot.sleep(60)\n",
    "gathered": (
        "async def serve(bot):\n    await asyncio.gather(watch(bot))\n\n\n"
        "async def watch(bot):\n    while True:\n        poll_once(bot)\n"
        "        await asyncio.sleep(60)\n"
    ),
    "through a method": (
        "class Poller:\n    def loop(self, bot):\n        while 1:\n            poll_once(bot)\n            bot.sleep(9)\n\n\n"
        "def serve(bot):\n    Poller().loop(bot)\n"
    ),
}
ENDING = {
    "it leaves": "def serve(bot):\n    while True:\n        poll_once(bot)\n        if bot.done:\n            break\n",
    "a chat": (
        "def serve(name: str):\n    messages = [name]\n    while True:\n"
        "        messages.append(input('> '))\n        messages.append(think(messages))\n"
        "        print(messages[-1])\n"
    ),
}


@pytest.mark.parametrize("poller", POLLERS)
def test_what_polls_for_ever_is_no_episode(poller: str, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(MAIL + POLLERS[poller])
    found = survey([read_source(tmp_path / "agent.py")])
    assert found.entry_points[0].called in ("poll_once", "extract")


@pytest.mark.parametrize("loop", [*POLLERS, *ENDING])
def test_a_loop_that_ends_or_waits_for_a_person_is_none(
    loop: str, tmp_path: Path
) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(MAIL + {**POLLERS, **ENDING}[loop])
    project = Project.of([read_source(agent)], {})
    assert runs_for_ever(project, (agent, "serve")) == (loop in POLLERS)


ASKS_FOR_A_KEY = [
    "os.environ['OPENAI_API_KEY'] = getpass.getpass()",
    "key = getpass.getpass('Key: ')",
    "key = input('Your OpenAI API key: ')",
    "api_key = input('> ')",
    "secret = typer.prompt('Password')",
]


@pytest.mark.parametrize("asks", ASKS_FOR_A_KEY)
def test_a_key_that_is_typed_is_no_task(asks: str, tmp_path: Path) -> None:
    """Rows would hold keys, and all episodes would ask the same."""
    agent = tmp_path / "agent.py"
    loop = "messages = ['Count.']\nfor _ in range(3):\n    messages.append(think(messages))\n"
    head = f"import getpass\nimport os\nimport typer\n\n{HEAD}{THINK}"
    agent.write_text(f"{head}{asks}\n{loop}")
    with pytest.raises(Refusal, match="all that is typed is a key"):
        make_plan([read_source(agent)], Options())
    agent.write_text(
        f"{head}{asks}\n{loop.replace(chr(39) + 'Count.' + chr(39), 'input()')}"
    )
    entry = make_plan([read_source(agent)], Options()).decisions.entry
    assert entry is not None and entry.is_script


FEATURES = {
    "client.py": (
        "from openai import OpenAI\n\n\nclass Client:\n    def ask(self, messages, tools=None):\n"
        "        return OpenAI().chat.completions.create(model='m', messages=messages, tools=tools)\n"
    ),
    "guide.py": (
        "from client import Client\n\n\nclass Guide:\n    def __init__(self):\n        self.client = Client()\n\n"
        "    def respond(self, message: str) -> str:\n"
        "        messages = [{'role': 'user', 'content': message}]\n"
        "        return loop(self.client, messages)\n\n\n"
        "def loop(client, messages):\n    raw = client.ask(messages, tools=[{}])\n"
        "    if raw.choices[0].message.tool_calls:\n        raw = client.ask(messages)\n"
        "    return raw.choices[0].message.content\n"
    ),
    "travel.py": (
        "from client import Client\n\n\ndef run_travel_agent(year: int) -> str:\n"
        "    messages = [{'role': 'user', 'content': f'A scene of {year}'}]\n"
        "    while True:\n        message = Client().ask(messages, tools=[{}]).choices[0].message\n"
        "        messages.append(message)\n        if not message.tool_calls:\n"
        "            return message.content\n        for call in message.tool_calls:\n"
        "            messages.append({'role': 'tool', 'tool_call_id': call.id, 'content': ''})\n"
    ),
    "api.py": (
        "from guide import Guide\nfrom travel import run_travel_agent\n\n\n"
        "def main():\n    print(Guide().respond('Hi'), run_travel_agent(1900))\n"
    ),
}


@pytest.mark.parametrize(
    ("named", "entry"),
    [("guide.py", "Guide.respond"), ("travel.py", "run_travel_agent")],
)
def test_another_feature_of_the_project_is_no_episode_of_a_file(
    named: str, entry: str, tmp_path: Path
) -> None:
    """It shares a client with the named file, and nothing else."""
    (tmp_path / "pyproject.toml").touch()
    for name, text in FEATURES.items():
        (tmp_path / name).write_text(text)
    told = art_adapt("--diff", "--json", "--isolated", named, cwd=tmp_path)
    assert json.loads(told.stdout)["decisions"]["entry"]["value"] == entry


def test_a_question_lists_what_the_named_file_has(tmp_path: Path) -> None:
    """Its callers are likelier, and one of them may be meant: the file that was named is as well."""
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "agent.py").write_text(
        "from openai import OpenAI\n\n\nclass Agent:\n    def __init__(self, messages):\n"
        "        self.messages = messages\n\n    def run(self, messages=None):\n"
        "        self.messages.extend(messages or [])\n        for _ in range(9):\n"
        "            reply = OpenAI().chat.completions.create(model='m', messages=self.messages)\n"
        "            self.messages.append(reply.choices[0].message)\n"
        "            if not reply.choices[0].message.tool_calls:\n                break\n"
        "        return self.messages[-1].content\n"
    )
    (tmp_path / "views.py").write_text(
        "from agent import Agent\n\n\ndef first(text: str) -> str:\n"
        "    agent = Agent([{'role': 'system', 'content': 'Be brief.'}])\n"
        "    return agent.run([{'role': 'user', 'content': text}])\n\n\n"
        "def second(text: str) -> str:\n"
        "    agent = Agent([{'role': 'system', 'content': 'Be long.'}])\n"
        "    return agent.run([{'role': 'user', 'content': text}])\n"
    )
    told = art_adapt("--diff", "--isolated", "agent.py", cwd=tmp_path)
    said = told.stderr.decode()
    assert told.returncode == 2 and "several entry points" in said, said
    assert "agent.py:8  Agent.run" in said, said
