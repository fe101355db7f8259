"""From an adapter to what drives it, and from a class to an instance of it.

Each mechanism comes in several spellings: what counts is the cause, not the name.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from agent_files import art_adapt
from test_what_runs import CALL, first, harms, of, project

from art_adapt.code.importable import ImportedName
from art_adapt.entry_decision import near
from art_adapt.source import read_source
from art_adapt.survey.model import Harm
from art_adapt.survey.survey import survey

ADAPTER = f"""
from abc import ABC, abstractmethod

class Backend(ABC):
    @abstractmethod
    def ask(self, text): ...

class OpenAIBackend(Backend):
    def __init__(self, client):
        self.client = client

    def ask(self, text):
        messages = [dict(role="user", content=text)]
        return self.{CALL}.choices[0].message.content
"""
FACADE = f"""
from types import SimpleNamespace

class Compatible:
    def __init__(self, client):
        self.client = client
        self.messages = SimpleNamespace(create=self._make)

    def _make(self, *, messages):
        return self.{CALL}

def connect(settings):
    return Compatible(settings.client)
"""
STORED = f"""
class Compatible:
    def __init__(self, client):
        self.client = client
        self.ask = self._ask

    def _ask(self, messages):
        return self.{CALL}
"""


def driver(ask: str, *, parameter: str = "model") -> str:
    return f"""
import subprocess

class Writer:
    def __init__(self, {parameter}):
        self.{parameter} = {parameter}

    def write(self, task):
        draft = ""
        for _ in range(4):
            draft = {ask}
            subprocess.run(["lint"], input=draft)
        return draft
"""


@pytest.mark.parametrize(
    "files",
    [
        # Nothing types the receiver but what a call gives for it.
        {
            "adapters__backend": ADAPTER,
            "writer": driver("self.model.ask(f'Mend {draft} for {task}')"),
            "app": "from adapters.backend import OpenAIBackend\nfrom writer import Writer\n\n"
            "def main():\n    Writer(OpenAIBackend(None)).write(input())\n",
        },
        # A middleware is between them.
        {
            "adapters__backend": ADAPTER,
            "adapters__retrying": "class Retrying:\n    def __init__(self, inner):\n        self.inner = inner\n\n"
            "    def ask(self, text):\n        for _ in range(3):\n            return self.inner.ask(text)\n",
            "writer": driver("self.model.ask('Mend ' + draft + task)"),
            "app": "from adapters.backend import OpenAIBackend\nfrom adapters.retrying import Retrying\n"
            "from writer import Writer\n\n"
            "def main():\n    model = Retrying(OpenAIBackend(None))\n    Writer(model=model).write('x')\n",
        },
        # The interface of another SDK, made of attributes; a function makes the client.
        {
            "facade": FACADE,
            "writer": driver("self.model.messages.create(messages=[task, draft])"),
            "app": "from facade import connect\nfrom writer import Writer\n\n"
            "class App:\n    def __init__(self, settings, client=None):\n"
            "        self.client = client or connect(settings)\n\n"
            "    def run(self, task):\n        return Writer(self.client).write(task)\n",
        },
        {
            "facade": STORED,
            "writer": driver("self.model.ask([task, draft])"),
            "app": "import facade\nfrom writer import Writer\n\n"
            "def main():\n    Writer(facade.Compatible(None)).write('x')\n",
        },
        # The function itself is handed in.
        {
            "facade": STORED.replace("self.ask = self._ask", "pass"),
            "writer": driver("self.think([task, draft])", parameter="think"),
            "app": "from facade import Compatible\nfrom writer import Writer\n\n"
            "def main():\n    Writer(Compatible(None)._ask).write('x')\n",
        },
    ],
    ids=["given", "a middleware", "a namespace", "an attribute", "a callable"],
)
def test_from_an_adapter_to_what_drives_it(
    files: dict[str, str], tmp_path: Path
) -> None:
    found = project(tmp_path, **files)
    assert first(found).called == "Writer.write"
    assert Harm.PROCESS in harms(found)


@pytest.mark.parametrize(
    "body",
    [
        "draft = ask(f'Mend {draft}')",
        "answer = ask('Mend ' + draft)\n        draft = answer.strip()",
        "state.draft = ask(state.draft)",
        "answer = ask(prompt)\n        for problem in check(answer):\n            prompt += problem",
        "reply, draft = ask(draft)",
    ],
)
def test_a_loop_that_sends_what_it_was_answered_drives(body: str) -> None:
    found = of(
        f"""
def ask(text):
    messages = [text]
    return {CALL}

def refine(task, prompt, draft, state):
    for _ in range(3):
        {body}
    return draft
"""
    )
    call = next(iter(found.calls))
    assert first(found).name == "refine"
    assert call.loop is not None and call.loop.turn_limit == "3"


@pytest.mark.parametrize(
    "body",
    [
        "answers.append(ask(item))",
        "draft = ask(item)\n        print(draft)",
        "total = total + len(ask(item))",
    ],
)
def test_a_loop_over_data_drives_nothing(body: str) -> None:
    found = of(
        f"""
def ask(text):
    messages = [text]
    return {CALL}

def every(items, answers, total):
    for item in items:
        {body}
    return answers
"""
    )
    assert next(iter(found.calls)).loop is None


# ------------------------------------------------------------- objects that an episode needs

NEEDS = f"""
def run(task, store: Store):
    messages = [task, store.look(task)]
    return {CALL}
"""


@pytest.mark.parametrize(
    ("text", "built"),
    [
        ("class Store:\n    def look(self, x): ...\n", "Store()"),
        (
            "class Store:\n    def __init__(self, path: str, size: int = 3): ...\n    def look(self, x): ...\n",
            "Store(path)",
        ),
        (
            "class Disk:\n    def __init__(self, root: str): ...\n    def read(self): ...\n\n"
            "class Store:\n    def __init__(self, disk: Disk): ...\n    def look(self, x): ...\n",
            "Store(Disk(root))",
        ),
        (
            "from abc import ABC, abstractmethod\n\nclass Store(ABC):\n    @abstractmethod\n    def look(self, x): ...\n\n"
            "class Memory(Store):\n    def look(self, x): ...\n",
            "Memory()",
        ),
        (
            "class Store:\n    def look(self, x):\n        raise NotImplementedError\n\n"
            "class Disk(Store):\n    def __init__(self, root): ...\n    def look(self, x): ...\n",
            "Disk(root)",
        ),
        # What is kept in a store later is no part of it.
        (
            "class Store:\n    def __init__(self, path: str): ...\n    def look(self, x): ...\n    def put(self, x): ...\n\n"
            "def make(path):\n    store = Store(path)\n    store.put(1)\n    return store\n",
            "Store(path)",
        ),
        # A library's constructor takes what nothing here tells.
        (
            "from shelf import Shelf\n\nclass Store(Shelf):\n    def look(self, x): ...\n",
            "",
        ),
        # As the project makes another.
        (
            "class Store:\n    def __init__(self, path): ...\n    def look(self, x): ...\n\n"
            "def test():\n    store = Store('a.db')\n    store.show()\n    assert store.look(1)\n",
            "Store('a.db')",
        ),
        # What is filled afterwards says too little.
        (
            "class Store:\n    def register(self, f): ...\n    def look(self, x): ...\n",
            "",
        ),
        (
            "class Store:\n    def look(self, x): ...\n\n"
            "def make():\n    store = Store()\n    store.bind('x')\n    return store\n",
            "",
        ),
        (
            "class Store:\n    def __init__(self, disk: Disk): ...\n    def look(self, x): ...\n",
            "",
        ),
    ],
)
def test_an_object_is_built_from_its_class(text: str, built: str) -> None:
    (_, store) = first(of(f"{text}\n{NEEDS}")).parameters

    def spelled(parameter) -> str:  # type: ignore[no-untyped-def]
        if parameter.made is None:
            return str(parameter.name)
        if parameter.fields is None:
            return str(parameter.made.value)
        inner = [spelled(f) for f in parameter.fields if f.default is None]
        return f"{parameter.made.value}({', '.join(inner)})"

    assert spelled(store) == (built or "store")


def test_what_a_package_hands_on_comes_from_its_own_file(tmp_path: Path) -> None:
    exports = "from .agent import Agent\nfrom .store import Store\n"
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/__init__.py").write_text(exports)
    found = project(
        tmp_path,
        shop__agent="class Agent:\n    def run(self, task, store):\n        messages = [store.look(task)]\n"
        f"        return {CALL}\n",
        shop__store="class Store:\n    def __init__(self, name): ...\n    def look(self, x): ...\n",
        examples__first="from shop import Agent, Store\n\nstore = Store('first')\nprint(Agent().run('?', store))\n",
    )
    made = first(found).parameters[1].made
    assert made is not None and made.imports == (ImportedName(".store", "Store"),)
    assert [each.text for each in made.statements] == ["store = Store('first')"]


def test_a_module_beside_the_agent(tmp_path: Path) -> None:
    found = project(
        tmp_path,
        agent=f"def run(task, store):\n    messages = [store.look(task)]\n    return {CALL}\n",
        disks="class Disk:\n    def look(self, x): ...\n",
        main="import disks\nfrom agent import run\n\ndef main():\n    run(input(), disks.Disk())\n",
    )
    made = first(found).parameters[1].made
    assert made is not None and (made.imports, made.value) == (
        (ImportedName("disks"),),
        "disks.Disk()",
    )


@pytest.mark.parametrize(
    ("stream", "answers"),
    [
        ("if stream:\n        return events(task)\n    return {call}", ["{call}"]),
        (
            "if stream:\n        return replies(task)\n    return {call}",
            ["replies(task)", "{call}"],
        ),
    ],
)
def test_an_unread_stream_is_no_answer(stream: str, answers: list[str]) -> None:
    found = of(
        f"""
def events(task):
    messages = [task]
    yield {CALL}

def replies(task):
    messages = [task]
    return [{CALL}]

def run(task, stream=False):
    messages = [task]
    {stream.format(call=CALL)}
"""
    )
    entry = next(each for each in found.entry_points if each.name == "run")
    assert [each.answer for each in entry.exits] == [
        each.format(call=CALL) for each in answers
    ]


DRIVES = f"""
    for _ in range(5):
        reply = {CALL}
        messages.append(reply)
    return reply
"""


@pytest.mark.parametrize(
    ("text", "episode"),
    [
        # It is given a conversation, and hands it to one of two that drive it.
        (
            f"def plain(messages):{DRIVES}\ndef tools(messages):{DRIVES}\n"
            "def start(question, messages, mode):\n"
            "    return plain(messages) if mode else tools(messages)\n",
            "start",
        ),
        # Its own private function drives; another asks once.
        (
            f"class Desk:\n    def draft(self, topic):\n        messages = [topic]\n        return {CALL}\n\n"
            f"    def review(self, text):\n        return self._rounds([text])\n\n"
            f"    def _rounds(self, messages):{DRIVES.replace(chr(10), chr(10) + '    ')}\n",
            "Desk.review",
        ),
        # What can be recorded goes before what can't.
        (
            f"class Complete:\n    def ask(self, text):\n        return client.completions.create(model='m', prompt=text)\n\n"
            f"class Chat:\n    def ask(self, text):\n        messages = [text]\n        return {CALL}\n",
            "Chat.ask",
        ),
    ],
    ids=["one of two", "a private loop", "recordable"],
)
def test_what_leads_to_the_loop_is_the_episode(text: str, episode: str) -> None:
    found = of(f"from openai import OpenAI\n\nclient = OpenAI()\n\n{text}")
    assert first(found).called == episode
    assert all(each.score < first(found).score for each in found.entry_points[1:])


@pytest.mark.parametrize(
    "interface",
    [
        "class Player(ABC):\n    @abstractmethod\n    def move(self, board): ...\n",
        "class Player:\n    def move(self, board):\n        raise NotImplementedError('move')\n",
    ],
)
def test_implementations_of_one_method_are_one_candidate(
    interface: str, tmp_path: Path
) -> None:
    method = f"    def move(self, board):\n        messages = [board]\n        return {CALL}\n"
    text = (
        f"from abc import ABC, abstractmethod\n\n{interface}\n"
        f"class Local(Player):\n{method}\nclass Hosted(Player):\n{method}\n"
    )
    (tmp_path / "agent.py").write_text(
        f"from openai import OpenAI\n\nclient = OpenAI()\n\n{text}"
    )
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Trains Local.move" in (tmp_path / "agent_train.py").read_text()
    assert b"also possible: Hosted.move" in b" ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("start", "episode"),
    [
        ("asyncio.run(Desk().ask())", "Desk.ask"),
        ("desk = Desk()\n    desk.think()", "Desk.think"),
        ("Desk().decide('x')", "Desk.decide"),
    ],
)
def test_a_recursion_starts_where_it_is_called_from_outside(
    start: str, episode: str
) -> None:
    found = of(
        f"""
import asyncio

class Desk:
    def ask(self):
        self.messages = [input()]
        return self.think()

    def think(self):
        messages = self.messages
        return self.decide({CALL})

    def decide(self, reply):
        return reply if reply else self.ask()

if __name__ == "__main__":
    {start}
"""
    )
    assert first(found).called == episode


@pytest.mark.parametrize(
    ("kept", "used"),
    [
        ("self.sdk = sdk", "self.sdk"),
        ("self._sdk = sdk or OpenAI()", "self._sdk"),
        ("self.api = OpenAI() if sdk is None else sdk", "self.api"),
    ],
)
def test_a_client_is_known_by_what_is_asked_with_it(kept: str, used: str) -> None:
    call = CALL.replace("client", used, 1)
    found = of(
        f"""
from openai import OpenAI

class Desk:
    def __init__(self, name: str, sdk=None):
        {kept}

    def run(self, task):
        messages = [task]
        return {call}
"""
    )
    assert [p.name for p in first(found).constructor if p.is_client] == ["sdk"]


def test_a_functions_client_is_known_by_what_is_asked_with_it() -> None:
    call = CALL.replace("client", "sdk", 1)
    found = of(f"def run(task, sdk):\n    messages = [task]\n    return {call}\n")
    assert [p.is_client for p in first(found).parameters] == [False, True]


@pytest.mark.parametrize(
    "text",
    [
        "class Desk:\n    def __init__(self, ask):\n        self.ask = ask\n        walk(self.ask)\n\n"
        "    def run(self, task):\n        messages = [task]\n        return self.ask({call})\n\n"
        "    def copy(self):\n        return Desk(self.ask)\n\n"
        "def walk(ask):\n    return walk(ask) or Desk(ask)\n",
        "def run(task, ask):\n    messages = [task]\n    return ask({call}) or run(task, ask)\n",
        "class Desk:\n    def __init__(self, desk):\n        self.desk = desk\n\n"
        "    def run(self, task):\n        messages = [task]\n        return self.desk.desk.run({call})\n\n"
        "    def wrap(self):\n        return Desk(Desk(self.desk))\n",
    ],
)
def test_what_is_given_to_itself_ends(text: str) -> None:
    assert first(of(text.format(call=CALL))).name.endswith("run")


def test_a_helper_that_is_taken_for_an_episode_is_said_to_be_one(
    tmp_path: Path,
) -> None:
    start = "from openai import OpenAI\n\nclient = OpenAI()\n\n\n"
    helper = f"def complete(messages):\n    return {CALL}\n"
    (tmp_path / "agent.py").write_text(start + helper)
    done = art_adapt("--isolated", "--diff", "agent.py", cwd=tmp_path)
    assert b"sends what its callers pass" in b" ".join(done.stderr.split())
    named = ("--isolated", "--diff", "--entry", "complete", "agent.py")
    assert b"its callers pass" not in art_adapt(*named, cwd=tmp_path).stderr
    (tmp_path / "agent.py").write_text(f"{start}def complete(messages):{DRIVES}")
    done = art_adapt("--isolated", "--diff", "agent.py", cwd=tmp_path)
    assert b"its callers pass" not in done.stderr


@pytest.mark.parametrize(
    ("tools", "harm"),
    [
        ("[{'type': 'web_search'}]", {Harm.NETWORK}),
        (
            "[{'type': 'web_search_preview', 'search_context_size': 'low'}]",
            {Harm.NETWORK},
        ),
        ("[{'type': 'function', 'function': {'name': 'web_search'}}]", set()),
        ("[{'type': 'text', 'text': 'mcp'}]", set()),
    ],
)
def test_hosted_tools_are_services(tools: str, harm: set[Harm]) -> None:
    asked = "client.responses.create(model='m', input=task, tools=TOOLS)"
    found = of(
        f"from openai import OpenAI\n\nclient = OpenAI()\nTOOLS = {tools}\n\n"
        f"def run(task):\n    return {asked}.output_text\n"
    )
    assert harms(found) == harm
    assert [o.what for o in found.files[0].obstacles] == [
        effect.what for effect in found.effects(Harm.NETWORK)
    ]


def test_a_package_has_its_own_name_before_a_modules(tmp_path: Path) -> None:
    kit = tmp_path / "kit"
    kit.mkdir()
    (kit / "__init__.py").write_text(
        "from .look import look\nfrom .search import describe as search\n"
    )
    (kit / "look.py").write_text("def look(of):\n    open('seen', 'w')\n")
    (kit / "search.py").write_text(
        "def describe():\n    return {'type': 'web_search'}\n"
    )
    asked = "client.responses.create(model='m', input=asked, tools=TOOLS)"
    found = project(
        tmp_path,
        agent=(
            "from openai import OpenAI\nfrom kit import look, search\n\n"
            "client = OpenAI()\nTOOLS = [search()]\n\n"
            f"def run(task):\n    asked = task + look(task)\n    return {asked}.output_text\n"
        ),
    )
    assert harms(found) == {Harm.WRITES, Harm.NETWORK}


@pytest.mark.parametrize(
    ("parameter", "said"),
    [
        ("", "No state was found that outlives"),
        (", tools", "What it is handed was not\nlooked at (tools)"),
        (", on_step=None", "No state was found that outlives"),
    ],
)
def test_what_is_handed_in_is_not_vouched_for(
    parameter: str, said: str, tmp_path: Path
) -> None:
    used = "    tools['x'](question)\n" if "tools" in parameter else ""
    (tmp_path / "agent.py").write_text(
        "from openai import OpenAI\n\nclient = OpenAI()\n\n\n"
        f"def run(question: str{parameter}):\n    messages = [question]\n{used}    return {CALL}\n"
    )
    assert art_adapt("--isolated", "agent.py", cwd=tmp_path).returncode == 0
    assert said in (tmp_path / "agent_train.py").read_text()


@pytest.mark.parametrize("layers", [2, 4, 9])
@pytest.mark.parametrize("handed_on", [True, False])
def test_a_call_is_found_however_many_files_lead_to_it(
    layers: int, handed_on: bool, tmp_path: Path
) -> None:
    """A package that hands on what its modules define counts as a file, too."""
    ask = (
        "from openai import OpenAI\n\n\ndef ask0(text):\n"
        "    messages = [{'role': 'user', 'content': text}]\n"
        "    reply = OpenAI().chat.completions.create(model='m', messages=messages)\n"
        "    return reply.choices[0].message.content\n"
    )
    texts = [ask] + [
        f"from layer{n} import ask{n}\n\n\ndef ask{n + 1}(text):\n    return ask{n}(text).strip()\n"
        for n in range(layers)
    ]
    for number, text in enumerate(texts):
        folder = tmp_path / f"layer{number}"
        if handed_on:
            folder.mkdir()
            (folder / "__init__.py").write_text(f"from .own import ask{number}\n")
            (folder / "own.py").write_text(text)
        else:
            folder.with_suffix(".py").write_text(text)
    (tmp_path / "main.py").write_text(
        f"from layer{layers} import ask{layers}\n\n\ndef answer(question):\n"
        f"    return ask{layers}(question)\n\n\nif __name__ == '__main__':\n    print(answer(input()))\n"
    )
    done = art_adapt("--diff", "main.py", cwd=tmp_path)
    assert done.returncode == 1, done.stderr.decode()
    assert b"recorded(OpenAI().chat.completions.create)" in done.stdout


def test_a_helper_far_below_does_not_hide_the_client_of_another_api(
    tmp_path: Path,
) -> None:
    (tmp_path / "agent.py").write_text(
        "import anthropic\n\nfrom first import tidy\n\nclient = anthropic.Anthropic()\n\n\n"
        "def answer(text):\n    messages = [{'role': 'user', 'content': tidy(text)}]\n"
        "    return client.messages.create(model='m', max_tokens=9, messages=messages).content[0].text\n"
    )
    names = ["first", "second", "third", "fourth", "fifth"]
    for name, below in itertools.pairwise(names):
        (tmp_path / f"{name}.py").write_text(f"from {below} import tidy\n")
    (tmp_path / "fifth.py").write_text(
        "from openai import OpenAI\n\n\ndef tidy(text):\n"
        "    asked = [{'role': 'user', 'content': text}]\n"
        "    reply = OpenAI().chat.completions.create(model='m', messages=asked)\n"
        "    return reply.choices[0].message.content\n"
    )
    done = art_adapt("--diff", "agent.py", cwd=tmp_path)
    assert done.returncode == 2 and b"through the Anthropic client" in done.stderr


def test_a_project_without_a_marker_is_the_working_folder(tmp_path: Path) -> None:
    (tmp_path / "core").mkdir()
    start = "from openai import OpenAI\n\nclient = OpenAI()\n\n\n"
    helper = f"def complete(messages):\n    return {CALL}\n"
    (tmp_path / "core" / "llm.py").write_text(start + helper)
    solving = DRIVES.replace(CALL, "complete(messages)")
    (tmp_path / "agent.py").write_text(
        f"from core.llm import complete\n\n\ndef solve(task):\n    messages = [task]\n{solving}"
    )
    done = art_adapt("--isolated", "core/llm.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "agent_train.py").is_file()


def test_a_tool_of_the_same_name_makes_no_middleware(tmp_path: Path) -> None:
    """What an agent calls that asks no model is its tool, whatever it is called."""
    loop = DRIVES.replace("\n", "\n    ")
    found = project(
        tmp_path,
        agent="from tools import Tool\n\nclass Agent:\n    def __init__(self, tool: Tool):\n        self.tool = tool\n\n"
        f"    def run_loop(self, task):\n        messages = [self.tool.run(task)]{loop}\n",
        tools="class Tool:\n    def run(self, x): ...\n",
        other="from agent import Agent\n\nclass Other:\n    def go(self, x):\n        messages = [x]\n"
        f"        Agent(None).run_loop(x){loop}\n",
    )
    assert first(found).called == "Agent.run_loop"
    assert {file.source.path.name for file in found.files} <= {"agent.py", "tools.py"}


PROVIDER = f"""
from abc import ABC, abstractmethod
from openai import OpenAI

client = OpenAI()

class Provider(ABC):
    @abstractmethod
    def _send(self, messages): ...

{{convenience}}

class Hosted(Provider):
    def _send(self, messages):
        return {CALL}
"""
AGENT = """
from provider import Hosted

class {name}:
    def run(self, task):
        provider = Hosted()
        messages = [task]
        for _ in range(5):
            reply = provider._send(messages)
            messages.append(reply)
        return reply
"""
CONVENIENCE = {
    "one prompt": "    def ask(self, prompt):\n        return self._send([prompt])\n",
    "several prompts": (
        "    def ask(self, prompts):\n        messages = []\n        for prompt in prompts:\n"
        "            messages.append(prompt)\n            messages.append(self._send(messages))\n"
        "        return messages[-1]\n"
    ),
}


@pytest.mark.parametrize("convenience", CONVENIENCE.values(), ids=CONVENIENCE)
def test_what_belongs_to_a_provider_is_a_helper(
    convenience: str, tmp_path: Path
) -> None:
    provider = PROVIDER.format(convenience=convenience)
    found = project(tmp_path, provider=provider, desk=AGENT.format(name="Desk"))
    assert first(found).called == "Desk.run"


def test_several_agents_of_one_provider_are_named(tmp_path: Path) -> None:
    provider = PROVIDER.format(convenience=CONVENIENCE["one prompt"])
    # Less likely by their names than provider.ask(), one even less than the other.
    agent = AGENT.replace("return reply", "yield reply").replace("def run", "def open")
    desk = agent.format(name="Desk")
    shop = agent.format(name="Shop").replace("def open", "def _open")
    texts = {"provider": provider, "desk": desk, "shop": shop}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "pyproject.toml").touch()
    done = art_adapt("--isolated", "provider.py", cwd=tmp_path)
    assert done.returncode == 2
    # What the named file has itself is listed with them.
    assert b"3 functions could run an episode" in done.stderr


def test_an_agent_whose_turn_is_abstract_is_no_helper() -> None:
    found = of(
        f"""
from abc import ABC, abstractmethod

class Agent(ABC):
    @abstractmethod
    def turn(self, messages): ...

    def run(self, task):
        messages = [task]
        while len(messages) < 9:
            messages.append(self.turn(messages))
        return messages[-1]

class Chat(Agent):
    def turn(self, messages):
        return {CALL}
"""
    )
    assert first(found).called == "Chat.run"
    assert not first(found).is_helper


@pytest.mark.parametrize(
    ("name", "job"),
    [("SimulatedUser", "Simulat"), ("AnswerJudge", "Judge"), ("Desk", "")],
)
def test_what_is_named_after_a_side_job_is_said_to_be(name: str, job: str) -> None:
    found = of(
        f"class {name}:\n    def run(self, task):\n        messages = [task]\n        return {CALL}\n"
    )
    assert first(found).side_job == job


PROTOCOL = """
from typing import Protocol

class Model(Protocol):
    def ask(self, messages, *, temperature: float = 0): ...
"""


@pytest.mark.parametrize(
    "backend",
    [
        "    def ask(self, messages, *, temperature=0):",
        "    def ask(self, messages, temperature=0, top_p=1):",
        "    def ask(self, messages, **options):",
    ],
)
@pytest.mark.parametrize("keep", ["model: Model", "model"])
def test_what_fits_a_protocol_implements_it(
    backend: str, keep: str, tmp_path: Path
) -> None:
    found = project(
        tmp_path,
        backend=f"{PROTOCOL}\nclass Hosted:\n{backend}\n        return {CALL}\n",
        agent="from backend import Hosted, Model\n\n"
        f"class Agent:\n    def __init__(self, {keep}):\n        self.model = model\n\n"
        "    def run(self, task):\n        messages = [task]\n        for _ in range(5):\n"
        "            messages.append(self.model.ask(messages))\n        return messages[-1]\n\n"
        "def main():\n    print(Agent(Hosted()).run('?'))\n",
    )
    assert first(found).called == "Agent.run"
    (model,) = first(found).constructor
    assert model.made is not None and model.made.value == "Hosted()"


@pytest.mark.parametrize(
    "backend",
    [
        "    def ask(self, messages, key):",  # takes more
        "    def ask(self):",  # takes less
        "    def tell(self, messages):",
    ],
)
def test_what_does_not_fit_a_protocol_does_not(backend: str) -> None:
    found = of(
        f"{PROTOCOL}\nclass Hosted:\n{backend}\n        messages = []\n        return {CALL}\n\n"
        "class Agent:\n    def __init__(self, model: Model):\n        self.model = model\n\n"
        "    def run(self, task):\n        for _ in range(5):\n            task = self.model.ask(task)\n"
    )
    assert all(each.called != "Agent.run" for each in found.entry_points)


@pytest.mark.parametrize(
    ("query", "episode"),
    [
        ("def query(self):\n        reply = self.model.query(self.messages)", "run"),
        (
            "def query(self):\n        reply = self.model.query(messages=list(self.messages))",
            "run",
        ),
    ],
)
def test_an_agent_that_asks_by_its_own_conversation_hands_nothing_on(
    query: str, episode: str
) -> None:
    found = of(
        f"""
class Model:
    def query(self, messages):
        return {CALL}

class Agent:
    def __init__(self, model: Model):
        self.model = model
        self.messages = []

    def run(self, task):
        self.messages = [task]
        while True:
            if self.step():
                return self.messages[-1]

    def step(self):
        return self.query() == "done"

    {query}
        self.messages.append(reply)
        return reply
"""
    )
    assert first(found).called == f"Agent.{episode}"
    assert not first(found).is_helper


def test_a_base_that_only_other_files_implement_is_run_as_these(tmp_path: Path) -> None:
    found = project(
        tmp_path,
        base="class Base:\n    def tools(self):\n        raise NotImplementedError\n\n"
        "    def run(self, task):\n        messages = [task]\n        for _ in range(5):\n"
        f"            reply = {CALL}\n            messages.append(reply)\n"
        "        return reply, self.tools()\n",
        travel="from base import Base\n\nclass Travel(Base):\n    def tools(self):\n        return []\n",
    )
    assert first(found).called == "Travel.run"


def test_without_a_call_a_protocol_leads_to_what_fits_it(tmp_path: Path) -> None:
    found = project(
        tmp_path,
        agent="from backend import Model\n\n"
        "class Agent:\n    def __init__(self, model: Model):\n        self.model = model\n\n"
        "    def run(self, task):\n        messages = [task]\n        for _ in range(5):\n"
        "            messages.append(self.model.ask(messages))\n        return messages[-1]\n",
        backend=f"{PROTOCOL}\nclass Hosted:\n    def __init__(self):\n        self.retries = 2\n\n"
        f"    def ask(self, messages, *, temperature=0):\n        return {CALL}\n\n"
        "class Other:\n    def tell(self, messages): ...\n",
    )
    assert first(found).called == "Agent.run"
    (model,) = first(found).constructor
    assert model.made is not None and model.made.value == "Hosted"


CHAT = f"""
class Chat:
    def __init__(self, tools: list[type] | None = None):
        self.messages = []

    def add(self, text):
        self.messages.append(dict(role="user", content=text))

    def reply(self, form: type | None = None):
        while True:
            answer = {CALL.replace("messages=messages", "messages=self.messages")}
            self.messages.append(answer)
            if answer:
                return answer
"""


@pytest.mark.parametrize(
    "used",
    [
        "def answer(question):\n    chat = Chat()\n    chat.add(question)\n    return chat.reply()\n",
        "def answer(question, tools=None):\n    chat = made(tools)\n    chat.messages.append(question)\n"
        "    return chat.reply(form=int)\n\n\ndef made(tools):\n    return Chat(tools=tools)\n",
        "class Desk:\n    def __init__(self):\n        self.chat = Chat()\n\n    def answer(self, question):\n"
        "        self.chat.add(question)\n        return self.chat.reply()\n",
    ],
)
def test_an_object_that_is_told_its_task_before_is_run_by_what_tells_it(
    used: str, tmp_path: Path
) -> None:
    found = project(tmp_path, agent=CHAT, app=f"from agent import Chat\n\n\n{used}")
    assert first(found).called.endswith("answer")


def test_what_tells_an_object_its_task_need_drive_nothing(tmp_path: Path) -> None:
    once = f"""
class Chat:
    def __init__(self):
        self.messages = []

    def add(self, text):
        self.messages.append(text)

    def reply(self, form: type | None = None):
        return {CALL.replace("messages=messages", "messages=self.messages")}
"""
    used = "def answer(question):\n    chat = Chat()\n    chat.add(question)\n    return chat.reply()\n"
    found = project(tmp_path, agent=once, app=f"from agent import Chat\n\n\n{used}")
    assert first(found).called == "answer"


def test_an_agent_that_nothing_is_told_is_refused(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        f"from openai import OpenAI\n\nclient = OpenAI()\n{CHAT}"
    )
    done = art_adapt("--diff", "agent.py", cwd=tmp_path)
    assert (
        done.returncode == 2
        and b"takes nothing that a scenario could set" in done.stderr
    )


ONCE = f"""
def ask(prompt):
    messages = [dict(role="user", content=prompt)]
    return parse({CALL})
"""
OF_SELF = f"""
class Model:
    def __init__(self):
        self.messages = []

    def ask(self, prompt):
        self.messages.append(prompt)
        return parse({CALL.replace("messages=messages", "messages=self.messages")})
"""
FEEDS = """
def run(question, model=None):
    prompt = question
    for _ in range(8):
        step = ASK(prompt)
        if "answer" in step:
            return step["answer"]
        prompt += look(step)
"""


@pytest.mark.parametrize(
    ("helper", "driver"),
    [
        (ONCE, f"from llm import ask\n{FEEDS.replace('ASK', 'ask')}"),
        (ONCE, f"import llm\n{FEEDS.replace('ASK', 'llm.ask')}"),
        (
            OF_SELF,
            f"from llm import Model\n\nmodel = Model()\n{FEEDS.replace('ASK', 'Model().ask')}",
        ),
        (
            ONCE,
            "from llm import ask\n\nclass Agent:\n    def __init__(self):\n        self.seen = []\n\n"
            "    def run(self, question):\n        while True:\n            self.seen.append(ask(str(self.seen)))\n"
            "            if len(self.seen) > 8:\n                return self.seen\n",
        ),
    ],
)
def test_from_a_function_that_asks_once_to_what_feeds_its_answers_back(
    helper: str, driver: str, tmp_path: Path
) -> None:
    found = project(tmp_path, llm=helper, app=driver)
    assert first(found).name.rpartition(".")[2] == "run"


def test_what_only_goes_over_data_leaves_the_function_that_asks(tmp_path: Path) -> None:
    over = "from llm import ask\n\ndef every(rows):\n    return [ask(row) for row in rows]\n"
    assert first(project(tmp_path, llm=ONCE, app=over)).called == "ask"


def test_two_turns_with_tools_between_them_are_an_agent(tmp_path: Path) -> None:
    twice = f"""
def ask(prompt):
    messages = [dict(role="user", content=prompt)]
    reply = {CALL}
    messages += [reply, dict(role="tool", content=look(reply))]
    return parse({CALL})
"""
    found = project(
        tmp_path, llm=twice, app=f"from llm import ask\n{FEEDS.replace('ASK', 'ask')}"
    )
    assert first(found).called == "ask"


WRAPPER = """\
from openai import OpenAI


class Client:
    def chat(self, user: str, system: str) -> str:
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        return self.chat_with(messages)

    def chat_with(self, messages: list) -> str:
        reply = OpenAI().chat.completions.create(model="m", messages=messages)
        return reply.choices[0].message.content


PROVIDERS = {"openai": Client}


def get_client(provider="openai"):
    return PROVIDERS[provider]()


"""


@pytest.mark.parametrize(
    "unused",
    [
        "def quick_chat(message: str) -> str:\n    return get_client().chat(message, 'Be brief.')\n",
        "def quick_chat(message: str) -> str:\n    return Client().chat(message, 'Be brief.')\n",
        "",
    ],
)
def test_a_helper_that_nobody_uses_is_not_the_episode(
    unused: str, tmp_path: Path
) -> None:
    """The files that use what stands beside it say who runs the episode."""
    (tmp_path / "llm.py").write_text(WRAPPER + unused)
    (tmp_path / "steps.py").write_text(
        "from llm import get_client\n\n\n"
        "def plan(goal: str) -> str:\n    return get_client().chat(goal, 'You plan.')\n\n\n"
        "def write(plan: str) -> str:\n    return get_client().chat(plan, 'You write.')\n"
    )
    (tmp_path / "pipeline.py").write_text(
        "from steps import plan, write\n\n\n"
        "def run_pipeline(goal: str) -> str:\n    return write(plan(goal))\n"
    )
    found = survey([read_source(tmp_path / "llm.py")])
    assert found.entry_points[0].name == "run_pipeline"


@pytest.mark.parametrize(
    ("name", "is_probe"),
    [
        ("probe_model", True),
        ("ping_model", True),
        ("health_check", True),
        ("warm_up", True),
        ("test_connection", True),
        ("validate_key", True),
        ("is_available", True),
        ("shopping_list", False),
        ("health_advisor", False),
        ("mapping", False),
    ],
)
def test_a_probe_is_a_side_job_and_no_episode(name: str, is_probe: bool) -> None:
    text = (
        "from openai import OpenAI\n\nclient = OpenAI()\n\n\n"
        f"def {name}():\n    return client.chat.completions.create(model='m', messages=[{{'role': 'user', 'content': 'Say OK.'}}])\n\n\n"
        f"def run(task: str):\n    {name}()\n    messages = [{{'role': 'user', 'content': task}}]\n"
        "    while True:\n        reply = client.chat.completions.create(model='m', messages=messages, tools=T)\n"
        "        messages.append(reply)\n"
    )
    found = of(text)
    roles = {call.function: call.role for call in found.files[0].calls}
    assert (roles[name] == "auxiliary") == is_probe
    for each in found.entry_points:
        assert ("starts_or_tries" in each.features) == (each.name == name and is_probe)


@pytest.mark.parametrize("step", ["next_step", "run_turn"])
@pytest.mark.parametrize(
    ("ask", "is_told"),
    [
        ("task = input('Task: ')\n    for turn in range(9):", True),
        ("for turn in range(9):\n        task = input('Task: ')", False),
    ],
)
def test_a_task_that_is_typed_once_starts_the_episode(
    ask: str, is_told: bool, step: str
) -> None:
    text = (
        f"import json\n\nfrom openai import OpenAI\n\n\ndef {step}(task, journal):\n"
        "    messages = [{'role': 'user', 'content': f'{task} {journal}'}]\n"
        "    reply = OpenAI().chat.completions.create(model='m', messages=messages)\n"
        "    return json.loads(reply.choices[0].message.content)\n\n\n"
        f"def main():\n    journal = []\n    {ask}\n        step = {step}(task, journal)\n"
        "        journal.append(step)\n        if step['done']:\n            print(step['answer'])\n            break\n"
    )
    found = of(text).entry_points
    if is_told:
        assert found[0].name == "main"
    else:  # a chat whose turns are told what was said before: either, so both are named
        assert near(found[0], found[1:])
        assert {each.name for each in found[:2]} == {"main", step}


@pytest.mark.parametrize(
    "other",
    [
        "if new:\n        return client.responses.create(model='m', input=messages).output_text",
        "items = list(messages)\n    if new:\n        return client.responses.create(model='m', input=items).output_text",
        "try:\n        return client.beta.chat.completions.parse(model='m', messages=messages).choices[0].message.content\n    except ValueError:\n        pass",
    ],
)
def test_two_requests_of_one_conversation_are_no_stages(other: str) -> None:
    """A step that serves two APIs is no pipeline: the one that runs it is the episode."""
    text = (
        "from openai import OpenAI\n\nclient = OpenAI()\n\n\ndef research(topic, new=False):\n"
        "    messages = [{'role': 'user', 'content': topic}]\n    while True:\n"
        f"        message = {CALL_MESSAGE}\n        messages.append(message)\n"
        "        if 'DONE' in message.content:\n            break\n"
        f"    {other}\n    return message.content\n\n\n"
        "def write(notes):\n    messages = [{'role': 'user', 'content': notes}]\n"
        "    return client.chat.completions.create(model='m', messages=messages).choices[0].message.content\n\n\n"
        "def run_pipeline(topic: str):\n    return write(research(topic))\n"
    )
    assert of(text).entry_points[0].name == "run_pipeline"


CALL_MESSAGE = (
    "client.chat.completions.create(model='m', messages=messages).choices[0].message"
)


def test_a_command_that_gets_its_provider_from_a_factory_is_the_episode(
    tmp_path: Path,
) -> None:
    """Only the package's __init__.py knows the class, and the command only the factory."""
    files = {
        "providers/base.py": "from abc import ABC, abstractmethod\n\n\nclass Provider(ABC):\n"
        "    @abstractmethod\n    def complete(self, system: str, user: str) -> str: ...\n",
        "providers/own.py": "from .base import Provider\n\n\nclass OpenAIProvider(Provider):\n"
        "    def complete(self, system: str, user: str) -> str:\n"
        "        from openai import OpenAI\n\n"
        "        messages = [{'role': 'system', 'content': system}, {'role': 'user', 'content': user}]\n"
        "        reply = OpenAI().chat.completions.create(model='m', messages=messages)\n"
        "        return reply.choices[0].message.content\n",
        "providers/__init__.py": "from .base import Provider\n\n\n"
        "def get_provider(name: str) -> Provider:\n    if name == 'openai':\n"
        "        from .own import OpenAIProvider\n\n        return OpenAIProvider()\n"
        "    raise ValueError(name)\n",
        "cli.py": "from providers import get_provider\n\n\n"
        "def main(argv: list[str] | None = None) -> int:\n"
        "    text = open(argv[0]).read()\n    provider = get_provider(argv[1])\n"
        "    print(provider.complete('Explain this.', text))\n    return 0\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    first, *others = survey([read_source(tmp_path / "providers/own.py")]).entry_points
    assert first.name == "main"
    assert all(each.score < first.score for each in others)


WRITER = f"""
class Writer:
    def __init__(self):
        self.client = OpenAI()

    def run(self, research):
        messages = [dict(role="user", content=f"Write on {{research}}")]
        return self.{CALL}.choices[0].message.content
"""
RESEARCH = WRITER.replace("Writer", "Researcher").replace("Write on", "Facts on")
PIPELINE = """
from research import Researcher
from writer import Writer


class Pipeline:
    def __init__(self):
        self.researcher, self.writer = Researcher(), Writer()

    def run(self, topic: str):
        return {"topic": topic, "draft": self.writer.run(self.researcher.run(topic))}
"""
WAYS_IN = {
    "app.py": "from pipeline import Pipeline\n\n\ndef run_pipeline(topic):\n"
    "    return Pipeline().run(topic)['draft']\n",
    "main.py": "import sys\n\nfrom pipeline import Pipeline\n\n\ndef main():\n"
    "    print(Pipeline().run(sys.argv[1])['draft'])\n\n\n"
    "if __name__ == '__main__':\n    main()\n",
}


@pytest.mark.parametrize("named", ["writer.py", "research.py", "pipeline.py"])
def test_where_several_ways_in_meet_is_the_episode(named: str, tmp_path: Path) -> None:
    """And all that it asks is the agent's, whichever file is named."""
    (tmp_path / "pyproject.toml").touch()
    head = "from openai import OpenAI\n"
    for name, text in {
        "writer.py": head + WRITER,
        "research.py": head + RESEARCH,
        "pipeline.py": PIPELINE,
        **WAYS_IN,
    }.items():
        (tmp_path / name).write_text(text)
    found = survey([read_source(tmp_path / named)])
    assert found.entry_points[0].called == "Pipeline.run"
    assert {call.place.path.name for call in found.calls} == {
        "writer.py",
        "research.py",
    }
    assert not found.unreached
