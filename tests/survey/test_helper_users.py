"""Which candidate uses an LLM helper, and when several could be meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_what_runs import CALL, first, project

from art_adapt.survey.model import Survey

MODEL = f"""
from openai import OpenAI

client = OpenAI()

class Model:
    def complete(self, messages):
        return {CALL}
"""
TURNS = """
    messages = [dict(role="user", content=task)]
    for _ in range(5):
        reply = ASK
        messages.append(reply)
        if not reply.tool_calls:
            return reply.content
"""


def likeliest(found: Survey) -> set[str]:
    """The candidates between which the user has to decide, or the one that is chosen."""
    return {
        each.called
        for each in found.entry_points
        if each.score == found.entry_points[0].score
    }


DECLARED = {
    "only declared": "MODEL: Model\n",
    "set later": "MODEL: Model\n\ndef set_model(kind):\n    global MODEL\n    MODEL = HUB[kind]\n",
    "optional": "MODEL: Model | None = None\n",
    "a string": "MODEL: 'Model' = None\n",
}
IMPORTED = {
    "its module": ("import common", "common.MODEL"),
    "renamed": ("import common as shared", "shared.MODEL"),
    "by name": ("from common import MODEL", "MODEL"),
}


@pytest.mark.parametrize("declared", DECLARED.values(), ids=DECLARED)
@pytest.mark.parametrize(("line", "name"), IMPORTED.values(), ids=IMPORTED)
def test_a_variable_is_what_its_own_module_declares(
    line: str, name: str, declared: str, tmp_path: Path
) -> None:
    common = f"from model import Model\n\nHUB = load()\n{declared}"
    solve = f"{line}\n\n\ndef solve(task):{TURNS.replace('ASK', f'{name}.complete(messages)')}"
    found = project(tmp_path, model=MODEL, common=common, agent=solve)
    assert first(found).called == "solve"


@pytest.mark.parametrize(
    "rest",
    [
        "n_retry: int, parser: Callable[[str], dict]",
        "parse: typing.Callable",
        "check: callable, wait: float",
        "strict: bool, tries: int",
    ],
)
def test_limits_and_parsers_are_no_task(rest: str, tmp_path: Path) -> None:
    loop = (
        f"def retry(model: Model, messages: list, {rest}):\n    for _ in range(9):\n"
        "        reply = model.complete(messages)\n        messages.append(reply)\n"
        "        if reply.content:\n            return reply.content\n"
    )
    agent = (
        "from model import Model, retry\n\n\ndef look(task):\n"
        "    messages = [dict(role='system', content='Look.'), dict(role='user', content=task)]\n"
        "    return retry(Model(), messages, 3, str)\n"
    )
    found = project(tmp_path, model=f"{MODEL}\n\n{loop}", agent=agent)
    assert first(found).called == "look"


PROVIDER = f"""
from abc import ABC, abstractmethod
from openai import OpenAI

client = OpenAI()

class Provider(ABC):
    @abstractmethod
    def complete(self, messages): ...

class OpenAIProvider(Provider):
    def complete(self, messages):
        return {CALL}
"""


def test_a_driver_that_is_less_likely_than_other_users_is_one_of_several(
    tmp_path: Path,
) -> None:
    """A benchmark's own loop comes before the provider, but not before who asks by it as well."""
    provider = PROVIDER.replace("complete(self, messages)", "__call__(self, prompt)")
    provider = provider.replace(
        "        return client",
        "        messages = [dict(role='user', content=str(prompt))]\n        return client",
    )
    bench = (
        "def _drive(log=None):\n    history = []\n    for _ in range(5):\n"
        "        history.append(OpenAIProvider()(history))\n    print(history)\n"
    )
    texts = "def review(text: str):\n    return OpenAIProvider()(f'Review {text}')\n"
    head = "from provider import OpenAIProvider\n\n\n"
    found = project(tmp_path, provider=provider, bench=head + bench, texts=head + texts)
    assert likeliest(found) == {"_drive", "review"}


DECODERS = """
from abc import ABC, abstractmethod
from model import Model

class Decoder(ABC):
    @abstractmethod
    def generate(self, message: str, samples: int = 1) -> list: ...

class Plain(Decoder):
    def generate(self, message: str, samples: int = 1) -> list:
        messages = [PROMPTdict(role="user", content=message)]
        return Model().complete(messages).choices

class Patient(Decoder):
    def generate(self, message: str, samples: int = 1) -> list:
        messages = [PROMPTdict(role="user", content=message)]
        found = []
        for _ in range(samples):
            found.append(Model().complete(messages).content)
        return found
"""
ADAPTERS = DECODERS.replace("PROMPT", "")
AGENTS = """
from model import Model
from base import Base

class Planner(Base):
    def run(self, task):
        return self.ask(f"You plan. Plan {task}")

class Critic(Base):
    def run(self, task):
        return self.ask(f"You review. Review {task}")
"""
BASE = """
from abc import ABC, abstractmethod
from model import Model

class Base(ABC):
    def ask(self, prompt):
        messages = [dict(role="user", content=prompt)]
        return Model().complete(messages).content

    @abstractmethod
    def run(self, task): ...
"""


def test_adapters_without_a_prompt_of_their_own_are_helpers(tmp_path: Path) -> None:
    found = project(tmp_path, model=MODEL, decoders=ADAPTERS)
    assert likeliest(found) == {"Model.complete"}


def test_implementations_of_one_interface_are_alike(tmp_path: Path) -> None:
    found = project(tmp_path, model=MODEL, base=BASE, agents=AGENTS)
    assert likeliest(found) == {"Planner.run", "Critic.run"}


def test_a_likelier_implementation_is_as_likely_as_the_others(tmp_path: Path) -> None:
    """An annotation, a docstring and a returned value say nothing about which is meant."""
    agents = AGENTS.replace(
        "run(self, task):\n        return", "run(self, task):\n        self.last =", 1
    )
    found = project(tmp_path, model=MODEL, base=BASE, agents=agents)
    assert likeliest(found) == {"Planner.run", "Critic.run"}


def test_an_implementation_that_runs_the_others_is_the_agent(tmp_path: Path) -> None:
    team = (
        "\nclass Team(Base):\n    def run(self, task):\n"
        "        plan = Planner().run(task)\n        return Critic().run(f'{task}: {plan}')\n"
    )
    found = project(tmp_path, model=MODEL, base=BASE, agents=AGENTS + team)
    assert likeliest(found) == {"Team.run"}


@pytest.mark.parametrize("content", ["message", "f'{message}!'", "message.strip()"])
def test_who_uses_an_adapter_goes_before_it(content: str, tmp_path: Path) -> None:
    """However likely the adapter seems by itself."""
    adapters = ADAPTERS.replace("content=message", f"content={content}")
    fix = "from decoders import Patient\n\n\ndef fix(issue):\n    return Patient().generate(f'You fix. Fix {issue}')\n"
    found = project(tmp_path, model=MODEL, decoders=adapters, fix=fix)
    assert likeliest(found) == {"fix"}


HANDED = [
    "model: Model, context: Context, pending: bool = False",
    "model: Model, *, context: Context, report: Callable[[str], None], most: int = 9",
    "model: Model, context: Context[Any]",
]
CONTEXT = """
from model import Model

class Context:
    def __init__(self, task, tracer):
        self.messages = [dict(role="user", content=task)]
        self.tracer = tracer
"""


@pytest.mark.parametrize("parameters", HANDED)
def test_what_takes_objects_alone_is_no_episode(
    parameters: str, tmp_path: Path
) -> None:
    """Only who makes those objects could be; without such a caller the helper stays."""
    loop = (
        f"{CONTEXT}\n\ndef request({parameters}):\n    messages = context.messages\n    while True:\n"
        "        reply = model.complete(messages)\n        if reply.content:\n            return reply.content\n"
        "        messages = [*messages, reply]\n"
    )
    found = project(tmp_path, model=MODEL, loop=loop)
    assert first(found).called == "Model.complete"


def test_switches_and_limits_are_no_task(tmp_path: Path) -> None:
    """``run(verbose=False)`` is told its task before; ``told(task)`` takes it."""
    agent = (
        "from model import Model\n\nclass Desk:\n    def __init__(self):\n        self.messages = []\n\n"
        "    def add(self, task):\n        self.messages.append(dict(role='user', content=task))\n\n"
        "    def run(self, verbose: bool = False, most=9):\n        messages = self.messages\n        for _ in range(most):\n"
        "            messages.append(Model().complete(messages))\n        return messages[-1].content\n\n\n"
        "def told(task):\n    desk = Desk()\n    desk.add(task)\n    return desk.run()\n"
    )
    assert first(project(tmp_path, agent=agent, model=MODEL)).called == "told"


ANSWERS = {
    "a dict": "messages.append({'role': 'tool', 'content': TOOLS[call.function.name](call.function.arguments)})",
    "a call": "messages.append(dict(role='tool', content=TOOLS.run_one(call)))",
    "a method of its own": "messages.append(self._answer(call))\n\n    def _answer(self, call):\n"
    "        return {'role': 'tool', 'content': TOOLS[call.function.name](call.function.arguments)}",
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_an_implementation_that_answers_tools_is_an_agent(
    answer: str, tmp_path: Path
) -> None:
    """It is the file that the user named; what repeats it until it is done is not meant."""
    executor = (
        "from abc import ABC, abstractmethod\nfrom openai import OpenAI\n\nclient = OpenAI()\n\n"
        "class Executor(ABC):\n    @abstractmethod\n    def execute(self, request): ...\n\n"
        "class OpenAIExecutor(Executor):\n    def execute(self, request: dict):\n        return self._turn(request['task'])\n\n"
        "    def _turn(self, prompt):\n        messages = [dict(role='user', content=prompt)]\n"
        f"        reply = {CALL}\n        for call in reply.tool_calls:\n            self._more(messages, call)\n"
        f"        if reply.tool_calls:\n            reply = {CALL}\n        return reply.content\n\n"
        f"    def _more(self, messages, call):\n        {answer}\n"
    )
    engine = (
        "from executor import OpenAIExecutor\n\nclass Engine:\n    def run_loop(self, task: str):\n        request = {'task': task}\n"
        "        for _ in range(3):\n            result = OpenAIExecutor().execute(request)\n"
        "            request['feedback'] = result\n            if result:\n                return result\n"
    )
    found = project(tmp_path, executor=executor, engine=engine)
    assert likeliest(found) == {"OpenAIExecutor.execute"}
    assert not first(found).is_helper


@pytest.mark.parametrize(
    "record", ["@dataclass\nclass Task:", "class Task(BaseModel):"]
)
def test_a_record_of_the_project_tells_the_task(record: str, tmp_path: Path) -> None:
    """Even one with a field that JSON cannot hold."""
    agent = (
        "from dataclasses import dataclass\nfrom pydantic import BaseModel\nfrom typing import Callable\nfrom model import Model\n\n"
        f"{record}\n    text: str\n    check: Callable[[str], bool]\n\n"
        f"def solve(task: Task):{TURNS.replace('ASK', 'Model().complete(messages)')}"
    )
    found = project(tmp_path, model=MODEL, agent=agent)
    assert likeliest(found) == {"solve"}


MIDDLEWARE = """
from model import Model

class Middleware:
    def __init__(self):
        self.model = Model()

    def complete_once(self, messages):
        return self.model.complete(messages)

    def complete_safely(self, messages: list, tools: list):
        for _ in range(3):
            reply = self.model.complete(messages)
            if reply.content:
                return reply.content
            messages = messages + [reply]
"""


def test_a_loop_that_is_handed_everything_is_no_rival(tmp_path: Path) -> None:
    """The user named the provider; what nobody uses and tries again is not meant."""
    turns = TURNS.replace("ASK", "Middleware().complete_once(messages)")
    agent = f"from middleware import Middleware\n\n\ndef solve(task: str):{turns}"
    found = project(tmp_path, model=MODEL, middleware=MIDDLEWARE, agent=agent)
    assert likeliest(found) == {"solve"}


@pytest.mark.parametrize("asked", [CALL, "self._send(messages)"])
def test_an_adapter_that_translates_replies_runs_no_tools(
    asked: str, tmp_path: Path
) -> None:
    adapter = (
        "from openai import OpenAI\n\nclient = OpenAI()\n\nclass Adapter:\n    def complete(self, history):\n"
        "        messages = []\n        for block in history:\n            if block.kind == 'result':\n"
        "                messages.append({'role': 'tool', 'tool_call_id': block.id, 'content': str(block.content)})\n"
        "            else:\n                messages.append({'role': 'user', 'content': block.content})\n"
        f"        return {asked}\n\n    def _send(self, messages):\n        return {CALL}\n"
    )
    agent = f"from adapter import Adapter\n\n\ndef solve(task):{TURNS.replace('ASK', 'Adapter().complete(messages)')}"
    found = project(tmp_path, adapter=adapter, agent=agent)
    assert likeliest(found) == {"solve"}
