"""From a provider, which the folder or the user names, to the agent that uses it."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest
from agent_files import art_adapt
from test_what_runs import CALL, first, of, project

from art_adapt.source import read_source
from art_adapt.survey.survey import survey

LOOP = f"""
from openai import OpenAI

client = OpenAI()

class Backend:
    def carry_on(self, SYSTEM, question, TOOLS, DISPATCH):
        messages = [dict(role="system", content=SYSTEM), dict(role="user", content=question)]
        for _ in range(8):
            reply = {CALL}
            messages.append(reply)
            if not reply.tool_calls:
                return reply.content
            messages.append(dict(role="tool", content=DISPATCH[reply.name]()))
"""
USERS = {
    "a class": "class Desk:\n    def __init__(self, backend=None):\n        self.backend = backend or Backend()\n\n"
    "    def run(self, question):\n        return self.backend.carry_on(SYSTEM, question, TOOLS, LOOK)\n",
    "a function": "def run(question):\n    backend = Backend()\n    return backend.carry_on(SYSTEM, question, TOOLS, LOOK)\n",
    "keywords": "def run(question):\n    return Backend().carry_on(NAMED)\n",
    "a branch": "def run(question):\n    if question:\n        return Backend().carry_on(SYSTEM, question, TOOLS, LOOK)\n",
    "an annotation": "def run(question, backend: Backend):\n    return backend.carry_on(SYSTEM, question, TOOLS, LOOK)\n",
    "a factory": "def backend_of(name):\n    return Backend()\n\n\ndef run(question):\n"
    "    return backend_of('a').carry_on(SYSTEM, question, TOOLS, LOOK)\n",
}


@pytest.mark.parametrize(
    "names", ["system tools dispatch", "system_prompt tool_schemas dispatcher"]
)
@pytest.mark.parametrize("user", USERS.values(), ids=USERS)
def test_a_loop_that_is_handed_an_agent_is_no_agent(
    user: str, names: str, tmp_path: Path
) -> None:
    system, tools, dispatch = names.split()
    loop = (
        LOOP.replace("SYSTEM", system)
        .replace("TOOLS", tools)
        .replace("DISPATCH", dispatch)
    )
    named = f"{system}=SYSTEM, question=question, {tools}=TOOLS, {dispatch}=LOOK"
    head = "from backend import Backend\n\nSYSTEM, TOOLS, LOOK = 'Look.', [], {}\n\n\n"
    found = project(tmp_path, backend=loop, desk=head + user.replace("NAMED", named))
    assert first(found).name.rpartition(".")[2] == "run"


def test_a_loop_that_nobody_hands_an_agent_is_the_episode(tmp_path: Path) -> None:
    loop = LOOP.replace("SYSTEM", "system").replace("TOOLS", "tools")
    found = project(tmp_path, backend=loop.replace("DISPATCH", "dispatch"))
    assert first(found).name == "Backend.carry_on"


MODEL = f"""
from openai import OpenAI

client = OpenAI()

class Model:
    def complete(self, messages):
        return {CALL}
"""
STRUCTURED = {
    "directly": "return client.complete(messages)",
    "in a closure": "def attempt():\n    return client.complete(messages)\nreturn attempt()",
    "in a closure's closure": "def attempt():\n    def once():\n        return client.complete(messages)\n"
    "    return once()\nreturn attempt()",
    "in a lambda": "attempt = lambda: client.complete(messages)\nreturn attempt()",
    "by a local": "model = client\nreturn model.complete(messages)",
    "by a closure's local": "def attempt():\n    model = client\n    return model.complete(messages)\nreturn attempt()",
}
STAGES = """
from helper import structured
from model import Model

class Base:
    def __init__(self, client: Model):
        self.client = client

    def _ask(self, text):
        return structured(self.client, "You review.", text)

class Reviewer(Base):
    def review(self, diff):
        return self._ask(f"Review {diff}")
"""


@pytest.mark.parametrize("call", STRUCTURED.values(), ids=STRUCTURED)
def test_from_what_is_handed_its_prompt_to_the_agent(call: str, tmp_path: Path) -> None:
    """What a closure is asked with is a parameter of the function around it."""
    helper = (
        "from model import Model\n\n\ndef structured(client: Model, system: str, user: str):\n"
        "    messages = [{'role': 'system', 'content': system}, {'role': 'user', 'content': user + ' As JSON.'}]\n"
        f"{indent(call, '    ')}\n"
    )
    texts = {"model": MODEL, "helper": helper, "stages": STAGES}
    assert first(project(tmp_path, **texts)).called == "Reviewer.review"


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_the_agent_is_found_some_calls_away(steps: int, tmp_path: Path) -> None:
    """Each step is in a file of its own that only hands on what it is given."""
    hops = {
        f"step{at}": f"import step{at - 1}\n\n\ndef ask{at}(messages):\n    return step{at - 1}.ask{at - 1}(messages)\n"
        for at in range(1, steps + 1)
    }
    model = "from openai import OpenAI\n\nclient = OpenAI()\n\n\n"
    model += f"def ask0(messages):\n    return {CALL}\n"
    agent = (
        f"import step{steps}\n\n\ndef run(question):\n    messages = [question]\n    for _ in range(5):\n"
        f"        messages.append(step{steps}.ask{steps}(messages))\n    return messages[-1]\n"
    )
    assert first(project(tmp_path, step0=model, **hops, agent=agent)).name == "run"


OWN = f"""
from base import Provider
from openai import OpenAI

client = OpenAI()

class Own(Provider):
    def stream(self, messages):
        return {CALL}
"""
BASE = "class Provider:\n    def stream(self, messages):\n        raise NotImplementedError\n"
LOOPS = """
    messages = [question]
    for _ in range(8):
        messages.append(provider.stream(messages))
    return messages[-1]
"""


def test_from_a_provider_in_a_table_to_the_agent(tmp_path: Path) -> None:
    """Nothing in the agent's file names the provider, its interface or their file."""
    agent = f"def run(question, provider):{LOOPS}"
    main = (
        "from agent import run\nfrom own import Own\n\nPROVIDERS = {'own': Own}\n\n"
        "if __name__ == '__main__':\n    run(input(), PROVIDERS[input()]())\n"
    )
    found = project(tmp_path, own=OWN, base=BASE, agent=agent, main=main)
    assert first(found).name == "run"


@pytest.mark.parametrize(
    "factories",
    [
        "def get_provider() -> Provider:\n    return create('own')\n",
        "def get_provider():\n    provider = create('own')\n    return provider\n",
        "def configured():\n    return create('own')\n\n\n"
        "def get_provider() -> Provider:\n    return configured()\n",
    ],
)
def test_from_a_factory_of_a_factory_to_the_agent(
    factories: str, tmp_path: Path
) -> None:
    providers = (
        "from base import Provider\n\n\ndef create(name) -> Provider:\n    if name == 'own':\n"
        "        from own import Own\n\n        return Own()\n    raise ValueError(name)\n\n\n"
    )
    agent = "from providers import get_provider\n\n\ndef run(question):\n    provider = get_provider()"
    texts = {"own": OWN, "base": BASE, "providers": providers + factories}
    found = project(tmp_path, **texts, agent=f"{agent}{LOOPS}")
    assert first(found).name == "run"


@pytest.mark.parametrize("name", ["extract_fields", "get_function_call"])
def test_a_method_of_several_words_is_known_by_its_name(
    name: str, tmp_path: Path
) -> None:
    """The file that uses it names a factory only, which names the interface only."""
    files = {
        "own": f"from services.base import Service\nfrom openai import OpenAI\n\nclient = OpenAI()\n\n\n"
        f"class Own(Service):\n    def {name}(self, prompt):\n"
        f"        messages = [dict(role='user', content=prompt)]\n        return {CALL}\n",
        "base": f"from abc import ABC, abstractmethod\n\n\nclass Service(ABC):\n"
        f"    @abstractmethod\n    def {name}(self, prompt): ...\n",
        "__init__": "import importlib\nfrom services.base import Service\n\n\n"
        "def get_service(name) -> Service:\n    return importlib.import_module(name).make()\n",
    }
    (tmp_path / "services").mkdir()
    (tmp_path / "pyproject.toml").touch()
    for stem, text in files.items():
        (tmp_path / f"services/{stem}.py").write_text(text)
    (tmp_path / "chat.py").write_text(
        "from services import get_service\n\n\ndef handle(text, db):\n    service = get_service('services.own')\n"
        f"    return service.{name}(prompt=f'Read {{text}}')\n"
    )
    assert first(survey([read_source(tmp_path / "services/own.py")])).name == "handle"


STREAM = """
    def run(self, task):
        messages = [dict(role="user", content=task)]
        yield from self.provider.stream(messages)
"""


@pytest.mark.parametrize(
    "ask",
    [
        "return ''.join([part for part in self.run(task)])",
        "return ''.join(part for part in self.run(task) if part)",
        "text = ''\n        for part in self.run(task):\n            text += part\n        return text",
        "return [len(part) for part in sorted(self.run(task))]",
    ],
)
def test_what_collects_a_stream_asks_once(ask: str, tmp_path: Path) -> None:
    """It goes through the parts of one answer, and not through rows."""
    desk = (
        "class Desk:\n    def __init__(self, provider):\n        self.provider = provider\n"
        f"{STREAM}\n    def ask(self, task):\n        {ask}\n"
    )
    main = "from desk import Desk\nfrom own import Own\n\nDESK = Desk(Own())\n"
    found = project(tmp_path, own=OWN, base=BASE, desk=desk, main=main)
    assert first(found).called == "Desk.ask"


@pytest.mark.parametrize(
    "kept",
    [
        "self.reply = CALL",
        "reply = CALL\n        self.reply = reply",
        "self.reply: object = CALL",
    ],
)
def test_a_method_that_keeps_a_stream_for_another_is_half_an_episode(kept: str) -> None:
    text = f"""
from openai import OpenAI

client = OpenAI()

class Desk:
    def query(self, question):
        messages = [dict(role="user", content=question)]
        {kept.replace("CALL", CALL)}

    def receive(self):
        return "".join(self.reply)

def ask(question):
    messages = [dict(role="user", content=question)]
    return {CALL}
"""
    assert first(of(text)).name == "ask"


SOLVER = f"""
from openai import OpenAI

client = OpenAI()

class Agent:
    def run(self, task):
        messages = [task]
        for _ in range(5):
            messages.append({CALL})
        return messages[-1]

"""
BATCHES = {
    "its own agent": "def solve_all(paths):\n    found = []\n    for path in paths:\n"
    "        found.append(Agent().run(path.read_text()))\n    return found\n",
    "one agent": "def solve_all(paths):\n    agent = Agent()\n    return [agent.run(path) for path in paths]\n",
    "made of a row": "def solve_all(paths):\n    found = []\n    for path in paths:\n        parts = [path]\n"
    "        if path.exists():\n            notes = ['Notes:']\n            notes.append(path.name)\n"
    "            parts = notes\n        task = ' '.join(parts)\n        found.append(Agent().run(task))\n    return found\n",
    "a part": "def _some(paths):\n    return [Agent().run(path) for path in paths]\n\n\n"
    "def solve_all(paths):\n    if len(paths) > 9:\n        return _some(paths)\n    found = []\n"
    "    for path in paths:\n        found.append(Agent().run(path))\n    return found\n",
    "a method": "class Runner:\n    def __init__(self):\n        self.agent = Agent()\n\n"
    "    def run(self, paths):\n        found = {}\n        for path in paths:\n"
    "            found[path] = self.agent.run(path)\n        return found\n",
}


@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES)
def test_what_runs_an_agent_for_each_row_is_a_batch_of_episodes(batch: str) -> None:
    assert first(of(SOLVER + batch)).called == "Agent.run"


@pytest.mark.parametrize(
    "whole",
    [
        # What one row gave goes into the next.
        "    notes = []\n    for part in parts:\n        notes.append(Agent().run([part, notes]))\n    return notes\n",
        # A plan is made before.
        "    parts = plan(parts)\n    return [Agent().run(part) for part in parts]\n",
    ],
)
def test_what_works_on_one_task_in_parts_is_an_episode(whole: str) -> None:
    plan = f"def plan(task):\n    messages = [task]\n    return {CALL}\n\n\n"
    assert first(of(f"{SOLVER}{plan}def run_team(parts):\n{whole}")).name == "run_team"


GIVEN_LOOP = f"""
from openai import OpenAI

client = OpenAI()

def run_loop(messages):
    for _ in range(5):
        reply = {CALL}
        messages.append(reply)
        if not reply.tool_calls:
            return reply.content
"""
WRITERS = {
    "beside it": "def answer(question):\n    messages = [dict(role='system', content='Be brief.'), dict(role='user', content=question)]\n    return run_loop(messages)\n",
    "at once": "def answer(question):\n    return run_loop([{'role': 'user', 'content': question}])\n",
    "one by one": "def answer(question):\n    messages = []\n    messages.append({'role': 'user', 'content': question})\n    return run_loop(messages)\n",
}


@pytest.mark.parametrize("apart", [False, True], ids=["one file", "two files"])
@pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS)
def test_who_writes_the_conversation_goes_before_the_loop_that_is_given_it(
    writer: str, apart: bool, tmp_path: Path
) -> None:
    if apart:
        found = project(
            tmp_path, loop=GIVEN_LOOP, agent=f"from loop import run_loop\n\n\n{writer}"
        )
    else:
        found = of(GIVEN_LOOP + writer)
    assert first(found).name == "answer"


def test_a_chat_leaves_the_loop_that_it_goes_on_with() -> None:
    chat = (
        "def chat():\n    messages = []\n    while True:\n"
        "        messages.append({'role': 'user', 'content': input()})\n        print(run_loop(messages))\n"
    )
    assert first(of(GIVEN_LOOP + chat)).name == "run_loop"


PROVIDER = """\
from openai import OpenAI


class {name}:
    def complete(self, messages):
        client = OpenAI()
        return client.chat.completions.create(model="m", messages=messages, tools=[{{}}])

    def result_of(self, call_id, said):
        return {{"role": "tool", "tool_call_id": call_id, "content": said}}
"""
TWO = """\
import json

from first import First
from second import Second

TOOLS = {"look": lambda: ""}


def run(task: str, name: str = "first") -> str:
    provider = First() if name == "first" else Second()
    messages = [{"role": "user", "content": task}]
    while True:
        message = provider.complete(messages).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            said = TOOLS[call.function.name](**json.loads(call.function.arguments))
            messages.append(provider.result_of(call.id, said))
"""


def test_the_loop_of_several_providers_is_listed_once(tmp_path: Path) -> None:
    for name in ("First", "Second"):
        (tmp_path / f"{name.lower()}.py").write_text(PROVIDER.format(name=name))
    (tmp_path / "agent.py").write_text(TWO)
    done = art_adapt("--diff", "--isolated", "agent.py", cwd=tmp_path)
    assert done.stderr.count(b"  tools       agent.py:") == 1, done.stderr.decode()
