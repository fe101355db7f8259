"""Which function the survey takes for the episode, and what it says an episode needs.

Each mechanism comes in several spellings: what counts is the cause, not the name.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from agent_files import art_adapt

from art_adapt.entry_decision import near
from art_adapt.source import Source, read_source
from art_adapt.survey.calls.roles import Role
from art_adapt.survey.candidates.entry_points import UNSEEN
from art_adapt.survey.model import EntryPoint, Survey
from art_adapt.survey.side_effects.harm import Harm
from art_adapt.survey.survey import survey

CALL = "client.chat.completions.create(model='m', messages=messages)"


def of(text: str, entry: str | None = None) -> Survey:
    source = Source(Path("/nowhere/agent.py"), dedent(text).encode())
    return survey([source], entry=entry)


def project(folder: Path, **texts: str) -> Survey:
    """Write a project (``a__b`` is ``a/b.py``), and survey its first file."""
    (folder / "pyproject.toml").touch()
    paths = []
    for name, text in texts.items():
        path = folder.joinpath(*name.split("__")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        paths.append(path)
    return survey([read_source(paths[0])])


def first(found: Survey) -> EntryPoint:
    return found.entry_points[0]


# ------------------------------------------------------------------ what runs an episode

LOOP = """
    messages = [{{"role": "user", "content": task}}]
    for _ in range(5):
        reply = {ask}
        messages.append(reply)
    return reply.content
"""


@pytest.mark.parametrize(
    ("helper", "user"),
    [
        (
            f"def complete(messages):\n    return {CALL}\n",
            "from llm import complete\n\ndef solve(task):"
            + LOOP.format(ask="complete(messages)"),
        ),
        (
            f"class LLM:\n    def ask(self, msgs):\n        messages = msgs\n        return {CALL}\n",
            "from llm import LLM\n\ndef solve(task, llm: LLM):"
            + LOOP.format(ask="llm.ask(messages)"),
        ),
        (
            f"class LLM:\n    def ask(self, history):\n        messages = history\n        return {CALL}\n",
            "import llm\n\nclass Bot:\n    def __init__(self):\n        self.llm = llm.LLM()\n\n    def solve(self, task):"
            + LOOP.format(ask="self.llm.ask(messages)").replace("\n    ", "\n        "),
        ),
    ],
    ids=["a function", "an annotated parameter", "an attribute"],
)
def test_the_callers_of_an_llm_helper_are_found_in_the_project(
    helper: str, user: str, tmp_path: Path
) -> None:
    found = project(tmp_path, llm=helper, deep__solver=user, unrelated="x = 1\n")
    assert first(found).name.endswith("solve")
    assert first(found).place.path.name == "solver.py"


def test_a_helper_that_nothing_drives_stays_what_was_found(tmp_path: Path) -> None:
    found = project(
        tmp_path,
        llm=f"def complete(messages):\n    return {CALL}\n",
        other="from llm import complete\n\ndef once(messages):\n    return complete(messages)\n",
    )
    assert first(found).name == "complete"


@pytest.mark.parametrize("name", ["main", "cli", "run_command"])
def test_a_command_that_drives_the_loop_itself_is_the_episode(name: str) -> None:
    found = of(
        f"""
        import argparse

        def chat(client, messages):
            return {CALL}

        def {name}():
            messages = [argparse.ArgumentParser().parse_args().task]
            while True:
                messages.append(chat(client, messages))
        """
    )
    assert first(found).name == name


def test_what_uses_a_whole_agent_is_not_the_episode() -> None:
    found = of(
        f"""
        class Healer:
            def run(self, task):
                messages = [task]
                while True:
                    messages.append({CALL})

            def handle_failure(self, failure):
                return self.run("Heal " + failure)
        """
    )
    assert first(found).name == "Healer.run"


def test_a_function_that_chooses_between_agents_is_the_episode() -> None:
    loop = f"""(task):
            messages = [task]
            while True:
                messages.append({CALL})
        """
    found = of(
        f"""
        def run_chat{loop}
        def run_slow{loop}
        def run(task, slow=False):
            return run_slow(task) if slow else run_chat(task)
        """
    )
    assert first(found).name == "run"


# -------------------------------------------------------------------------- side jobs


@pytest.mark.parametrize(
    ("side", "role"),
    [
        ("def summarise(text)", Role.AUXILIARY),
        ("def verify_answer(text)", Role.AUXILIARY),
        ("def classify(text)", Role.AUXILIARY),
        ("@tool\ndef research(text)", Role.AUXILIARY),
        ("def plan(text)", Role.POLICY),
    ],
)
def test_side_jobs_beside_a_conversation(side: str, role: Role) -> None:
    found = of(
        f"""
def run(task):
    messages = [task]
    while True:
        messages.append({CALL})

{side}:
    return client.chat.completions.create(model="m", messages=[text])
"""
    )
    assert found.calls[1].role is role
    if role is Role.AUXILIARY:
        assert "--policy" in found.calls[1].reason


def test_in_a_chain_every_step_is_the_agents() -> None:
    found = of(
        """
        def classify(text):
            return client.chat.completions.create(model="m", messages=[text])

        def run(text):
            classify(text)
            return client.chat.completions.create(model="m", messages=[text, "?"])
        """
    )
    assert {call.role for call in found.calls} == {Role.POLICY}


@pytest.mark.parametrize(
    "arguments",
    [
        "given = {'messages': log, 'tools': TOOLS}",
        "given = dict(messages=log, tools=TOOLS)",
        "given = {'messages': log}\n    given['tools'] = TOOLS",
        "base = {'tools': TOOLS}\n    given = {**base, 'messages': log}",
    ],
)
def test_keyword_dicts_are_read(arguments: str) -> None:
    (call,) = of(
        f"def run(log):\n    {arguments}\n    client.chat.completions.create(**given)\n"
    ).calls
    assert (call.messages, call.tools) == ("log", "TOOLS")


# ------------------------------------------------------------------ what JSON can hold


@pytest.mark.parametrize(
    ("parameter", "use", "is_object"),
    [
        ("x: str", "", False),
        ("x: list[dict[str, object]]", "", False),
        ("x: 'str | None'", "", False),
        ("x: Callable", "", True),
        ("x: dict[str, Callable]", "", True),
        ("x: Session", "", True),
        ("x", "x.append(1)", False),
        ("x", "x.connect()", True),
        ("x", "x()", True),
        ("x", "x['search'](1)", True),
        ("x", "y = [t.name for t in x]", True),
        ("x", "y = [t['name'] for t in x]", False),
        ("x: list", "y = {f.__name__: f for f in x}", True),
        ("logger", "", True),
    ],
)
def test_what_a_scenario_can_hold(parameter: str, use: str, is_object: bool) -> None:
    found = of(
        f"def run({parameter}):\n    {use or 'pass'}\n    messages = []\n    return {CALL}\n"
    )
    assert first(found).parameters[0].is_object is is_object


def test_the_fields_of_a_dataclass_are_the_scenarios() -> None:
    found = of(
        f"""
        from dataclasses import dataclass, field

        @dataclass
        class Task:
            question: str
            hints: list[str] = field(default_factory=list)

        def run(task: Task):
            messages = [task.question]
            return {CALL}
        """
    )
    (task,) = first(found).parameters
    assert task.fields is not None
    assert [(f.name, f.default) for f in task.fields] == [
        ("question", None),
        ("hints", "..."),
    ]


AGENT = f"""
def search(query):
    return query

def run(question, tools):
    messages = [question]
    tools["search"](question)
    return {CALL}
"""


@pytest.mark.parametrize(
    ("site", "statements", "value"),
    [
        ("def main():\n    run('?', {'search': search})", (), "{'search': search}"),
        (
            "def main():\n    tools = {'search': search}\n    run(input(), tools=tools)",
            ("tools = {'search': search}",),
            "tools",
        ),
        (
            "if __name__ == '__main__':\n    table = dict(search=search)\n    run('?', table)",
            ("table = dict(search=search)",),
            "table",
        ),
        ("TOOLS = {'search': search}\n\ndef main():\n    run('?', TOOLS)", (), "TOOLS"),
    ],
)
def test_objects_are_made_as_the_project_makes_them(
    site: str, statements: tuple[str, ...], value: str
) -> None:
    made = first(of(f"{AGENT}\n{site}\n")).parameters[1].made
    assert made is not None and made.value == value
    assert tuple(each.text for each in made.statements) == statements
    assert {each.module for each in made.imports} == {"agent"}


@pytest.mark.parametrize(
    "site",
    [
        "",
        "def main(tools):\n    run('?', tools)",
        "class App:\n    def main(self):\n        run('?', self.tools)",
        "def main():\n    for tools in TABLES:\n        run('?', tools)",
        "def main():\n    tools = {}\n    tools = load()\n    run('?', tools)",
    ],
)
def test_what_belongs_to_one_run_is_not_taken_over(site: str) -> None:
    parameter = first(of(f"{AGENT}\n{site}\n")).parameters[1]
    assert parameter.is_object and parameter.made is None


# --------------------------------------------------------------------------- obstacles


def harms(found: Survey) -> set[Harm]:
    return {effect.harm for file in found.files for effect in file.effects}


@pytest.mark.parametrize(
    ("tool", "harm"),
    [
        ("open('log', 'w')", Harm.WRITES),
        ("requests.get(url)", Harm.NETWORK),
        ("subprocess.run(['ls'])", Harm.PROCESS),
        ("typer.confirm('sure?')", Harm.ASKS),
    ],
)
@pytest.mark.parametrize(
    "use",
    [
        "TABLE = {'x': tools.x}\n\ndef pick(name):\n    return TABLE[name]()\n",
        "def pick(name):\n    return tools.x()\n",
        "from tools import x\n\nTABLE = [x]\n\ndef pick(name):\n    return TABLE[0]()\n",
    ],
    ids=["a dict", "a call", "a list"],
)
def test_obstacles_in_tools_of_other_files(
    use: str, tool: str, harm: Harm, tmp_path: Path
) -> None:
    found = project(
        tmp_path,
        agent=f"import tools\n{use}\ndef run(task):\n    messages = [task]\n    pick('x')\n    return {CALL}\n",
        tools=f"import requests, subprocess, typer\n\ndef x(url=''):\n    {tool}\n\ndef unused():\n    input()\n",
    )
    assert harms(found) - {Harm.CLOCK} == {harm}


@pytest.mark.parametrize(
    "line",
    [
        "run('at import')",
        "ARGS = parser.parse_args()",
        "loop = asyncio.get_event_loop(); loop.run_until_complete(serve())",
        "while True: schedule.run_pending()",
        "SocketModeHandler(app, 'token').start()",
        "bot = discord.Client(); bot.run('token')",
    ],
)
def test_work_at_import_is_an_obstacle(line: str) -> None:
    agent = f"def run(task):\n    messages = [task]\n    return {CALL}\n"
    assert Harm.IMPORT in harms(of(f"{agent}\n{line}\n"))
    guarded = f"{agent}\nif __name__ == '__main__':\n    {line}\n"
    assert Harm.IMPORT not in harms(of(guarded))


def test_a_script_that_is_run_is_never_imported() -> None:
    """Each episode runs it whole, with what it asks a person and the model."""
    script = f"task = input()\nmessages = [task]\nreply = {CALL}\nprint(reply)\n"
    found = of(script)
    assert first(found).is_script and harms(found) == {Harm.ASKS}


# -------------------------------------------------------------------------- --entry


@pytest.mark.parametrize(
    "entry", ["Session.run", "session:Session.run", "app/session.py:run"]
)
def test_the_users_entry_needs_no_path_to_a_call(entry: str, tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "pyproject.toml").touch()
    agent = tmp_path / "app" / "agent.py"
    agent.write_text(
        f"from session import Session\n\ndef ask(messages):\n    return {CALL}\n"
    )
    (tmp_path / "app" / "session.py").write_text(
        "class Session:\n    def run(self, question):\n        return REGISTRY['x'](question)\n"
    )
    found = survey([read_source(agent)], entry=entry)
    assert found.entry_points[-1].name == "Session.run"
    assert found.entry_points[-1].score == UNSEEN


def test_effects_are_listed_as_they_stand_in_the_file() -> None:
    names = [f"step_{letter}" for letter in "hagcbfed"]
    steps = "".join(
        f"def {name}():\n    import os\n    os.remove('{name}')\n" for name in names
    )
    runs = "def run(task):\n    messages = [task]\n"
    calls = "".join(f"    {name}()\n" for name in reversed(names))
    found = of(f"import os\n{steps}{runs}{calls}    return {CALL}\n")
    lines = [effect.place.line for effect in found.files[0].effects]
    assert len(lines) == len(names)
    assert lines == sorted(lines)


# -------------------------------------------------------------- what comes before and after

CLIENT = f"""
class Client:
    async def connect(self, script: str):
        self.session = script

    async def ask(self, question):
        messages = [question]
        return {CALL}

    async def chat(self):
        return await self.ask("")

    async def aclose(self):
        pass
"""


@pytest.mark.parametrize(
    ("main", "script"),
    [
        ("c = Client()\n    await c.connect('server.py')\n    await c.ask('?')", "'server.py'"),
        ("c = Client()\n    ok = await c.connect(script='s.py')\n    await c.chat()", "'s.py'"),
        ("c = Client()\n    path = sys.argv[1]\n    await c.connect(path)\n    await c.chat()", None),
        ("c = Client()\n    await c.connect(input())\n    await c.chat()", None),
    ],
)  # fmt: skip
def test_setup_is_what_the_project_calls_first(main: str, script: str | None) -> None:
    text = f"import sys\n{CLIENT}\nasync def main():\n    {main}\n"
    found = of(text, entry="Client.ask")
    entry = next(each for each in found.entry_points if each.name == "Client.ask")
    (call,) = entry.setup
    assert (call.name, call.is_async) == ("connect", True)
    (given,) = call.parameters
    made = None if given.made is None else given.made.value
    assert made == script  # what a person gives is the scenario's
    assert [each.name for each in entry.cleanup] == ["aclose"]


@pytest.mark.parametrize(
    "main",
    [
        "c = Client()\n    await c.ask('?')\n    await c.connect('late')",
        "other = make()\n    await other.connect('x')\n    await Client().ask('?')",
    ],
)
def test_what_comes_later_or_is_anothers_is_no_setup(main: str) -> None:
    found = of(f"{CLIENT}\nasync def main():\n    {main}\n", entry="Client.ask")
    entry = next(each for each in found.entry_points if each.name == "Client.ask")
    assert not entry.setup and not entry.cleanup


LOOPING = """
class Base:
    def run(self, task):
        messages = [task]
        for _ in range(3):
            reply = {call}
            messages.append(reply)
        return self.finish(reply)
"""


def test_an_inherited_loop_runs_on_the_class_that_the_user_named(
    tmp_path: Path,
) -> None:
    found = project(
        tmp_path,
        helper="from base import Base\n\nclass Helper(Base):\n    def __init__(self, tone: str):\n        self.tone = tone\n",
        base=LOOPING.format(call=CALL),
    )
    entry = first(found)
    assert (entry.called, entry.name) == ("Helper.run", "Base.run")
    assert entry.home.name == "helper.py" and entry.place.path.name == "base.py"
    assert [p.name for p in entry.constructor] == ["tone"]


@pytest.mark.parametrize("derived", ["class Helper(Base):", "class Helper(base.Base):"])
def test_an_abstract_class_is_run_as_what_implements_it(
    derived: str, tmp_path: Path
) -> None:
    abstract = "\n    @abc.abstractmethod\n    def finish(self, reply): ...\n"
    head = "import base\nfrom base import Base\n\n"
    found = project(
        tmp_path,
        base="import abc\n" + LOOPING.format(call=CALL) + abstract,
        helper=f"{head}{derived}\n    def finish(self, reply):\n        return reply\n",
    )
    assert (first(found).called, first(found).is_abstract) == ("Helper.run", False)
    (tmp_path / "helper.py").unlink()
    alone = survey([read_source(tmp_path / "base.py")])
    assert (first(alone).name, first(alone).is_abstract) == ("Base.run", True)
    assert [p.name for p in first(alone).needs if p.is_object] == ["agent"]


def test_a_reward_that_is_returned_is_no_answer() -> None:
    text = f"def run(task):\n    messages = [task]\n    reply = {CALL}\n    reward = score(reply)\n    return reward\n"
    entry = first(of(text))
    assert not entry.exits and len(entry.rewards) == 1


@pytest.mark.parametrize(
    ("own", "is_base"),
    [("", True), ("    name = 'base'\n", False), ("    def name(self): ...\n", False)],
)
def test_a_class_that_lacks_what_derived_ones_set_is_run_as_these(
    own: str, is_base: bool
) -> None:
    text = f"class Chat:\n{own}    def ask(self, task):\n        messages = [self.name, task]\n        return {CALL}\n"
    derived = "class Kimi(Chat):\n    def __init__(self):\n        self.name = 'kimi'\n\nclass Qwen(Chat):\n    name = 'qwen'\n"
    called = {each.called for each in of(f"{text}\n{derived}").entry_points}
    assert called == ({"Kimi.ask", "Qwen.ask"} if is_base else {"Chat.ask"})


@pytest.mark.parametrize("base", ["BaseModel", "weave.Object", "Base"])
def test_fields_are_a_constructors_where_a_base_class_makes_it(base: str) -> None:
    text = f"from lib import BaseModel, weave\n\nclass Base(BaseModel):\n    name: str\n\nclass Agent({base}):\n    prompt: str\n    limit: int = 3\n\n    def run(self, task):\n        messages = [self.prompt, task]\n        return {CALL}\n"
    names = [p.name for p in first(of(text)).constructor]
    assert names == ["name"] * (base == "Base") + ["prompt", "limit"]


# ------------------------------------------------------------------- turns, tools, limits


@pytest.mark.parametrize(
    ("body", "header"),
    [
        # It extends what it sends: itself, by a helper, as an attribute.
        ("for _ in range(3):\n  r = ask(messages)\n  messages.append(r)", "for _ in range(3)"),
        ("while True:\n  r = ask(messages)\n  note(messages, r)", "while True"),
        ("for case in cases:\n  messages = [case]\n  while True:\n   r = ask(messages)\n   messages += [r]", "while True"),
        # Around a retry.
        ("for turn in range(9):\n  for attempt in range(3):\n   r = ask(messages)\n  messages.append(r)", "for turn in range(9)"),
        # Only tries again, goes through data, or asks a person.
        ("for attempt in range(3):\n  r = ask(messages)", None),
        ("while True:\n  try:\n   r = ask(messages)\n   return r\n  except OSError:\n   pass", None),
        ("for case in cases:\n  r = ask([case])", None),
        ("while True:\n  r = ask([input()])\n  print(r)", None),
        # It may keep its conversation elsewhere.
        ("for _ in range(3):\n  r = ask(build())", "for _ in range(3)"),
    ],
)  # fmt: skip
def test_turn_loops_are_told_from_retries_and_data(
    body: str, header: str | None
) -> None:
    text = f"def ask(messages):\n return {CALL}\n\ndef note(log, reply):\n log.append(reply)\n\ndef run(cases):\n messages = []\n "
    found = of(text + body.replace("\n", "\n "))
    loop = found.files[0].calls[0].loop
    assert (None if loop is None else loop.header) == header


@pytest.mark.parametrize(
    ("head", "guard", "limit"),
    [
        ("for _ in range(5)", "", "5"),
        ("for _ in range(1, most + 1)", "", "most"),
        ("for _ in range(2, 8)", "", "6"),
        ("for _ in range(first, last)", "", "last - first"),
        ("while turns < self.most", "", "self.most"),
        ("while turns <= most", "turns += 1", "most + 1"),
        ("while most >= turns", "turns += 1", "most + 1"),
        ("while turns <= 4", "turns += 1", "5"),
        ("while self.turns <= most", "self.turns += 1", "most + 1"),
        ("number = 1\n while number <= most", "number += 1", "most"),
        ("number = 1\n while number < most", "number += 1", "most - 1"),
        ("while left > 0", "left -= 1", "left"),
        ("while 1 <= left", "left -= 1", "left"),
        ("left = most\n while left := left - 1", "", "most - 1"),
        ("left = most\n while left", "left -= 1", "most"),
        ("while left", "left -= 1", "left"),
        ("while left", "tried -= 1", None),
        ("while True", "turns += 1\n  if turns >= MOST:\n   break", "MOST"),
        # It counts no turns.
        ("while True", "texts[task] += reply\n  if why == 'stop':\n   break", None),
        ("while True", "said += reply\n  if said == task:\n   break", None),
        ("while True", "turns += 1\n  if turns > MOST:\n   raise TimeoutError", "MOST"),
        ("while True", "if turns > MOST:\n   break", None),  # it counts nothing
        # It counts other things than turns.
        ("while True", "if cut:\n   tries += 1\n   if tries > MOST:\n    break", None),
        (
            "while True",
            "if not more:\n   break\n  else:\n   turns += 1\n  if turns > MOST:\n   break",
            "MOST",
        ),
        ("while True", "", None),
    ],
)
def test_turn_limits(head: str, guard: str, limit: str | None) -> None:
    text = f"def run(task):\n messages = [task]\n turns = 0\n {head}:\n  messages.append({CALL})\n  {guard}\n"
    loop = of(text).files[0].calls[0].loop
    assert loop is not None and loop.turn_limit == limit


REPLY = 'messages.append({"role": "tool", "content": %s})'


@pytest.mark.parametrize(
    ("lines", "run"),
    [
        (["result = TOOLS[name](**args)", REPLY % "str(result)"], "TOOLS[name](**args)"),
        (["found = execute_tool(name, args)", "text = json.dumps(found)", REPLY % "text"], "execute_tool(name, args)"),
        ([REPLY % "json.dumps(await registry.call(name, args))"], "registry.call(name, args)"),
        (["try:", " out = tools.dispatch(name, args)", "except Exception as e:", " out = f'failed: {e}'", REPLY % "out"], "tools.dispatch(name, args)"),
        (["outs = []", "outs.append(handle(name, args))", "for out in outs:", " " + REPLY % "out"], "handle(name, args)"),
        (["for call, out in zip(calls, await gather(*[execute(c) for c in calls])):", " " + REPLY % "out"], "execute(c)"),
        (["log(name, perform(name, args))"], "perform(name, args)"),
        (["out = perform(name, args)", "messages.append({'role': 'user', 'content': f'Observation: {out}'})"], "perform(name, args)"),
        (["out = perform(name, args)", "messages.append(dict(type='function_call_output', output=out))"], "perform(name, args)"),
    ],
)  # fmt: skip
def test_tools_run_where_their_reply_comes_from(lines: list[str], run: str) -> None:
    body = "".join(f"\n  {line}" for line in lines)
    log = f"def log(messages, content):\n {REPLY % 'content'}\n"
    text = f"{log}\nasync def run(task):\n messages = [task]\n while True:\n  reply = {CALL}\n  name = args = calls = reply{body}\n"
    execution = of(text.replace("log(name,", "log(messages,")).files[0].tool_execution
    assert execution is not None
    line = text.replace("log(name,", "log(messages,").splitlines()[
        execution.place.line - 1
    ]
    assert line[execution.place.column - 1 :].startswith(run)


@pytest.mark.parametrize(
    ("body", "harm"),
    [
        ("import requests\nrequests.get(task)", Harm.NETWORK),
        ("import requests\nrequests.Timeout(3)", None),
        ("import pathlib\npathlib.Path(task).open('a')", Harm.WRITES),
        ("import pathlib\npathlib.Path(task).open()", None),
        ("import somelib\nsomelib.convert(task)", Harm.UNKNOWN),
        ("from somelib.deep import Converter\nConverter().convert(task)", Harm.UNKNOWN),
        ("import json\njson.loads(task)", None),
        ("import numpy as np\nnp.array([task])", None),
        ("import anthropic\nanthropic.Anthropic()", None),
        (
            "from tavily import TavilyClient; search = TavilyClient()\nsearch.search(task)",
            Harm.NETWORK,
        ),
        ("import httpx; web = httpx.Client()\nweb.send(task)", Harm.NETWORK),
        ("import random; dice = random.Random(7)\ndice.choice(task)", None),
        ("from tkinter import messagebox\nmessagebox.askyesno(task)", Harm.ASKS),
        (
            "from rich.console import Console; console = Console()\nconsole.input(task)",
            Harm.ASKS,
        ),
        (
            "from rich.console import Console; console = Console()\nconsole.print(task)",
            None,
        ),
    ],
)
def test_what_calls_do_to_a_replay(body: str, harm: Harm | None) -> None:
    line, call = body.split("\n")
    found = of(
        f"{line}\n\ndef run(task):\n    messages = [task]\n    {call}\n    return {CALL}\n"
    )
    assert harms(found) == ({harm} if harm is not None else set())


def test_a_parameter_called_input_asks_nobody() -> None:
    found = of(
        f"def run(input, task):\n    messages = [input(task)]\n    note(input)\n    return {CALL}\n"
    )
    assert not harms(found)


@pytest.mark.parametrize(
    "line",
    [
        "raise RuntimeError('no key')",
        "if not KEY:\n    raise SystemExit",
        "if not KEY:\n    os._exit(1)",
        "if KEY is None:\n    print('Set KEY')\n    exit(1)",
    ],
)
def test_a_module_that_refuses_to_be_imported(line: str) -> None:
    found = of(
        f"import os\nKEY = os.getenv('KEY')\n{line}\n\ndef run(task):\n    messages = [task]\n    return {CALL}\n"
    )
    assert harms(found) == {Harm.IMPORT}


def test_what_sets_an_agent_up_counts(tmp_path: Path) -> None:
    text = f"import subprocess\n\nclass Agent:\n    def connect(self):\n        self.server = subprocess.Popen('server')\n\n    def run(self, task):\n        messages = [task]\n        return {CALL}\n"
    assert not harms(of(text))
    assert harms(
        of(
            f"{text}\ndef main():\n    agent = Agent()\n    agent.connect()\n    agent.run('?')\n"
        )
    ) == {Harm.PROCESS}


@pytest.mark.parametrize(
    ("returned", "answers"),
    [
        ("reply", ["reply"]),
        ("jsonify(reply)", ["reply"]),
        ("JSONResponse(content=reply, status_code=200)", ["reply"]),
        ("jsonify(reply), 200", ["reply"]),
        ("jsonify(error='no'), 404", []),
        ("{'answer': reply, 'error': None}", ["{'answer': reply, 'error': None}"]),
        ("{'answer': None, 'error': str(reply)}", []),
        ("{'text': reply, 'completed': False}", []),
        ("1", []),
        ("True", []),
        ("'nothing found'", ["'nothing found'"]),
        ("reply, 1", ["(reply, 1)"]),
    ],
)
def test_what_of_a_return_is_an_answer(returned: str, answers: list[str]) -> None:
    web = "from fastapi.responses import JSONResponse\nfrom flask import jsonify\n"
    found = of(
        f"{web}\ndef run(task):\n    messages = [task]\n    reply = {CALL}\n    return {returned}\n"
    )
    assert [each.answer for each in first(found).exits] == answers


TURN = """
    def {name}(self):
        for _ in range(5):
            reply = client.chat.completions.create(model="m", messages=self.messages)
            self.messages.append(reply)
            if not reply.tool_calls:
                return
"""


@pytest.mark.parametrize("name", ["_process", "respond", "run_turn"])
def test_a_turn_that_takes_nothing_is_part_of_the_chat(name: str) -> None:
    found = of(
        f"class Bot:\n    def __init__(self):\n        self.messages = []\n{TURN.format(name=name)}\n"
        f"    def chat(self):\n        while True:\n            text = input('> ')\n"
        f"            self.messages.append({{'role': 'user', 'content': text}})\n            self.{name}()\n"
    )
    assert first(found).name == "Bot.chat"
    assert first(found).terminal is not None


def test_what_is_made_the_same_each_time_is_no_scenario(tmp_path: Path) -> None:
    path = tmp_path / "agent.py"
    path.write_text(
        f"from openai import OpenAI\n\nclient = OpenAI()\n\nclass Settings:\n    pass\n\nclass Bot:\n    def __init__(self, settings: Settings):\n        self.messages = []\n{TURN.format(name='run')}\n"
        "def main():\n    Bot(Settings()).run()\n"
    )
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 2
    assert b"takes nothing that a scenario could set" in b" ".join(done.stderr.split())


@pytest.mark.parametrize(
    "ask", ["self.call_llm(messages)", "claude.messages.create(tools=tools)"]
)
def test_what_asks_a_model_runs_no_tool(ask: str) -> None:
    found = of(
        f"""
class Desk:
    def call_llm(self, messages):
        return {CALL}

    def run(self, task, tools):
        messages = [task]
        for _ in range(5):
            reply = self.call_llm(messages)
            note = {ask}
            result = self.desk.look(reply)
            messages.append({{"role": "tool", "content": note.text + str(result)}})
        return reply
"""
    )
    execution = found.files[0].tool_execution
    assert execution is not None
    assert execution.place.line == 11


CREATE = "client.chat.completions.create"
ASKING = """
def solve(task):
    messages = [{{"role": "user", "content": task}}]
    for _ in range(5):
        reply = {ask}(messages=messages)
        messages.append(reply)
    return reply
"""


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"agent": f"ask = {CREATE}\n{ASKING.format(ask='ask')}"}, "solve"),
        (
            {
                "agent": f"from functools import partial\n\nask = partial({CREATE}, model='m')\n"
                f"{ASKING.format(ask='ask')}\nasking = 'no function'\n"
            },
            "solve",
        ),
        (
            {
                "agent": f"from llm import ask as think\n{ASKING.format(ask='think')}",
                "llm": f"from openai import OpenAI\n\nclient = OpenAI()\nask = {CREATE}\n",
            },
            "solve",
        ),
        (
            {
                "agent": f"import llm\n{ASKING.format(ask='llm.ask')}",
                "llm": f"from openai import OpenAI\n\nclient = OpenAI()\nask = {CREATE}\n",
            },
            "solve",
        ),
        (
            {
                "agent": "class Agent:\n    def __init__(self, client):\n"
                f"        self.ask = {CREATE}\n\n    def solve(self, task):\n"
                "        messages = [task]\n        while True:\n"
                "            messages.append(self.ask(messages=messages))\n"
            },
            "Agent.solve",
        ),
    ],
    ids=["a name", "a partial", "imported", "of a module", "an attribute"],
)
def test_what_asks_by_another_name_is_found(
    files: dict[str, str], name: str, tmp_path: Path
) -> None:
    assert first(project(tmp_path, **files)).called == name


@pytest.mark.parametrize(
    ("table", "role"),
    [
        ("TOOLS = {'look': look}", Role.AUXILIARY),
        ("TOOLS = dict(look=look)", Role.AUXILIARY),
        ("TOOLS = {}\nTOOLS['look'] = look", Role.AUXILIARY),
        ("TOOLS = {'look': look}\nlook('first')", Role.POLICY),
    ],
)
def test_what_only_a_table_of_tools_leads_to_is_no_policy(
    table: str, role: Role
) -> None:
    found = of(
        f"""
def look(text):
    reply = client.chat.completions.create(model="m", messages=[{{"role": "user", "content": text}}])
    return reply.choices[0].message.content

{table}

def run(task, tools):
    messages = [task]
    while True:
        reply = client.chat.completions.create(model="m", messages=messages, tools=tools)
        messages.append(reply)
        for call in reply.tool_calls:
            result = TOOLS[call.name](call.arguments)
            messages.append({{"role": "tool", "content": result}})
"""
    )
    roles = {call.function: call.role for call in found.calls}
    assert roles == {"look": role, "run": Role.POLICY}


ONE_TURN = f"""
def ask(question):
    messages = [dict(role="user", content=question)]
    return {CALL}.choices[0].message.content
"""


@pytest.mark.parametrize(
    "rest",
    [
        "while True:\n    print(ask(input('> ')))\n",
        "print(ask(input('> ')))\n",
        "def main():\n    question = input('> ')\n    print(ask(question))\n\nmain()\n",
    ],
)
def test_a_file_that_waits_for_a_person_is_run_not_imported(rest: str) -> None:
    script = first(of(ONE_TURN + rest))
    assert script.is_script
    assert script.terminal is not None and script.terminal.asks
    assert first(of(ONE_TURN + rest, entry="ask")).called == "ask"
    guarded = "".join(f"    {line}\n" for line in rest.splitlines())
    guarded = f"if __name__ == '__main__':\n{guarded}"
    assert not first(of(ONE_TURN + guarded)).is_script


@pytest.mark.parametrize(
    ("returned", "keeps"),
    [
        ("{'success': True}", True),
        ("dict(success=True)", False),  # what a call gives is not known
        ("{'ok': True, 'code': 0}", True),
        ("{'answer': '', 'turns': 5}", False),
        ("{'text': reply}", False),
        ("True", True),
    ],
)
def test_a_dict_of_constants_is_a_status(returned: str, keeps: bool) -> None:
    found = of(
        f"""
def run(task):
    messages = [task]
    try:
        reply = {CALL}
        show(reply)
    except Exception as error:
        return {{"error": str(error)}}
    return {returned}
"""
    )
    assert first(found).keeps_answer is keeps


INHERITED = f"""
class Base:
    def run(self, task):
        messages = [task]
        return {CALL}
"""


@pytest.mark.parametrize("name", ["Travel.run", "agent:Travel.run"])
@pytest.mark.parametrize(
    "files",
    [
        {"agent": f"{INHERITED}\nclass Travel(Base):\n    tools = []\n"},
        {
            "agent": "from base import Base\n\nclass Near(Base):\n    pass\n\nclass Travel(Near):\n    pass\n",
            "base": INHERITED,
        },
    ],
    ids=["of the file", "of another's"],
)
def test_a_method_is_named_by_the_class_that_inherits_it(
    files: dict[str, str], name: str, tmp_path: Path
) -> None:
    project(tmp_path, **files)
    found = survey([read_source(tmp_path / "agent.py")], entry=name)
    assert [e.called for e in found.entry_points if e.class_name == "Travel"] == [
        "Travel.run"
    ]


@pytest.mark.parametrize(
    "line",
    [
        "self.near, self.far = near, far",
        "(self.near, self.far) = (near, far)",
        "self.near, (self.far, self.turn) = near, (far, 0)",
        "[self.near, self.far] = [near, far]",
    ],
)
def test_what_several_targets_are_assigned_is_known(line: str) -> None:
    found = of(
        f"""
class Player:
    def take(self, board):
        messages = [board]
        return {CALL}

class Table:
    def __init__(self, near: Player, far: Player):
        {line}

    def play(self, board):
        for _ in range(9):
            board = self.near.take(board)
            board = self.far.take(board)
        return board
"""
    )
    assert first(found).called == "Table.play"


HANDLER = """
import {module}

app = {module}.App()

{handler}

def answer(text):
    messages = [dict(role="user", content=text)]
    return {call}.choices[0].message.content
"""


@pytest.mark.parametrize(
    ("module", "handler"),
    [
        (
            "slack",
            "@app.event('message')\ndef handle(event, say):\n    say(answer(event['text']))",
        ),
        (
            "bot",
            "@app.message_handler()\nasync def handle(message):\n    await message.reply(answer(message.text))",
        ),
        (
            "telegram",
            "async def run(update, context):\n    await update.reply(answer(update.text))\n\napp.add_handler(telegram.MessageHandler(None, run))",
        ),
        (
            "tornado",
            "def run(request):\n    return answer(request.body)\n\napp.add_route('/', run)",
        ),
        ("celery", "@app.task\ndef handle(job, text):\n    job.done = answer(text)"),
        (
            "fastapi",
            "@app.websocket('/chat')\nasync def run(socket):\n    while True:\n        await socket.send_text(answer(await socket.receive_text()))",
        ),
    ],
    ids=lambda value: value if value.isidentifier() else "",
)
def test_a_handler_comes_after_what_it_calls(module: str, handler: str) -> None:
    found = of(HANDLER.format(module=module, handler=handler, call=CALL))
    ranked = [each.called for each in found.entry_points]
    assert ranked[0] == "answer"
    assert found.entry_points[0].score > found.entry_points[1].score


def test_a_bound_task_is_given_itself() -> None:
    found = of(
        f"@app.task(bind=True, max_retries=3)\ndef run(self, job, text):\n    messages = [text]\n    return {CALL}\n"
    )
    assert [each.name for each in first(found).parameters] == ["job", "text"]


@pytest.mark.parametrize(
    ("draw", "harm"),
    [
        ("np.random.choice(WORDS)", {Harm.CLOCK}),
        ("np.random.default_rng()", {Harm.CLOCK}),
        ("np.random.default_rng(7)", set()),
        ("np.array(WORDS)", set()),
    ],
)
def test_chance_of_numpy(draw: str, harm: set[Harm]) -> None:
    found = of(
        f"import numpy as np\n\nWORDS = ['a', 'b']\n\ndef run(task):\n    messages = [task, {draw}]\n    return {CALL}\n"
    )
    assert harms(found) == harm


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("client.run('key')", ["client.run()"]),
        ("client.start_polling()", ["client.start_polling()"]),
        ("uvicorn.run(client, port=80)", ["uvicorn.run()"]),
        ("if __name__ == '__main__':\n    client.run('key')", []),
        (
            "try:\n    asyncio.run(client.start())\nfinally:\n    pass",
            ["asyncio.run()"],
        ),
        ("def begin():\n    client.run('key')\n\nbegin()", ["begin()"]),
        ("def begin():\n    asyncio.run(client.start())\n\nbegin()", ["begin()"]),
        ("def begin():\n    asyncio.run(client.start())", []),
        ("done = client.run('key')", []),  # it comes back
        ("subprocess.run(['ls'])", []),
    ],
)
def test_what_serves_when_it_is_imported(line: str, what: list[str]) -> None:
    found = of(
        f"import asyncio\nimport subprocess\nimport discord\nimport uvicorn\n\nclient = discord.Bot()\n\n"
        f"def run(task):\n    messages = [task]\n    return {CALL}\n\n{line}\n"
    )
    assert [e.what for e in found.effects(Harm.IMPORT)] == what


def test_a_file_that_nothing_imports_obstructs_nothing(tmp_path: Path) -> None:
    (tmp_path / "bench.py").write_text(
        "from agent import run\n\nfor task in ['a', 'b']:\n    print(run(task))\n"
    )
    (tmp_path / "agent.py").write_text(
        f"def run(task):\n    messages = [task]\n    return {CALL}\n"
    )
    both = [read_source(tmp_path / name) for name in ("agent.py", "bench.py")]
    assert not survey(both).effects(Harm.IMPORT)


def test_a_file_that_is_run_is_one_candidate() -> None:
    found = of(
        f"{ONE_TURN}\n\ndef solve(task):\n    return ask(task + ask(task))\n\n"
        "while True:\n    text = input('> ')\n    print(ask(text), solve(text))\n"
    )
    assert [each.is_script for each in found.entry_points] == [True]


@pytest.mark.parametrize(
    ("before", "is_object"),
    [
        (f"message = {CALL}.choices[0].message", False),
        (f"reply = {CALL}\n        message = reply.choices[0].message", False),
        (
            f"if message is None:\n            message = Message()\n        reply = {CALL}",
            True,
        ),
        (f"message = message or Message()\n        reply = {CALL}", True),
        (f"print(message.author)\n        message = {CALL}", True),
        (f"reply = {CALL}", True),
    ],
)
def test_a_name_that_is_used_again_says_nothing_of_the_parameter(
    before: str, is_object: bool
) -> None:
    found = of(
        f"""
def ask(message):
    messages = [dict(role="user", content=message)]
    for _ in range(4):
        {before}
        messages.append(message)
        if not message.tool_calls:
            return message.content
"""
    )
    assert first(found).parameters[0].is_object is is_object


@pytest.mark.parametrize("role", ["Role.TOOL", "Role.TOOL.value", "chat.Role.FUNCTION"])
def test_the_role_of_a_reply_may_be_an_enumerations(role: str) -> None:
    found = of(
        f"""
def run(task, tools):
    messages = [Message(role=Role.USER, content=task)]
    for _ in range(5):
        reply = {CALL}
        messages.append(Message(role=Role.USER, content=tools.describe(reply)))
        outcome = tools.carry_out(reply)
        messages.append(Message(role={role}, content=outcome))
    return reply
"""
    )
    execution = found.files[0].tool_execution
    assert execution is not None and execution.how == "handed to tools.carry_out"


@pytest.mark.parametrize(
    "parse", ["eval", "ast.literal_eval", "Input.model_validate_json"]
)
def test_what_parses_arguments_runs_no_tool(parse: str) -> None:
    found = of(
        f"""
def run(task, call):
    messages = [task]
    for _ in range(5):
        reply = {CALL}
        given = {parse}(call.function.arguments)
        messages.append({{"role": "tool", "content": price(given["city"], given)}})
    return reply
"""
    )
    execution = found.files[0].tool_execution
    assert execution is not None and execution.how == "handed to price"


RETRIED = f"""
class Session:
    def __init__(self):
        self.messages = []

    def chat(self, text):
        HEAD:
            try:
                reply = {CALL.replace("messages=messages", "messages=self.messages")}
                self.messages.append(reply)
                END
            except OpenAIError as error:
                FAILED

class Agent:
    def run(self, task):
        session = Session()
        for _ in range(5):
            task = look(session.chat(task))
        return task
"""


@pytest.mark.parametrize(
    ("head", "end", "failed", "episode"),
    [
        ("while retry", "return reply", "retry -= 1", "Agent.run"),
        ("for n in range(3)", "return reply", "time.sleep(2**n)", "Agent.run"),
        ("for n in range(3)", "break", "delay = 2 * n", "Agent.run"),
        # What it is told of the failure is a turn, and so is a tool's result.
        (
            "for n in range(3)",
            "return parse(reply)",
            "self.messages.append(error)",
            "chat",
        ),
        ("for n in range(3)", "return parse(reply, text)", "text = str(error)", "chat"),
        (
            "while True",
            "if reply.tool_calls:\n                    continue\n                return reply",
            "raise",
            "chat",
        ),
    ],
)
def test_a_loop_that_only_tries_again_is_no_agents(
    head: str, end: str, failed: str, episode: str
) -> None:
    found = of(
        RETRIED.replace("HEAD", head).replace("END", end).replace("FAILED", failed)
    )
    (call,) = [call for file in found.files for call in file.calls]
    assert call.loop is not None
    is_agents = call.loop.header == "for _ in range(5)"
    assert is_agents is (episode == "Agent.run")
    if is_agents:
        assert first(found).called == episode


def test_a_named_function_is_looked_for_in_the_whole_project(tmp_path: Path) -> None:
    """No import leads there: a registry does, at run time."""
    (tmp_path / "pyproject.toml").touch()
    for name, text in {
        "llm": f"def ask(messages):\n    return {CALL}\n",
        "service": "import importlib\n\ndef answer(question: str):\n"
        "    return importlib.import_module('llm').ask([question])\n",
    }.items():
        (tmp_path / f"{name}.py").write_text(text)
    found = survey([read_source(tmp_path / "llm.py")], entry="answer")
    assert [e.called for e in found.entry_points if e.score == UNSEEN] == ["answer"]


@pytest.mark.parametrize("name", ["Request", "Response", "BackgroundTasks"])
@pytest.mark.parametrize("record", ["(BaseModel)", ""], ids=["pydantic", "a dataclass"])
def test_a_record_that_is_called_like_a_frameworks_object_is_a_body(
    name: str, record: str
) -> None:
    decorator = "" if record else "@dataclass\n"
    text = f"""
from dataclasses import dataclass
from fastapi import FastAPI
from openai import OpenAI
from pydantic import BaseModel

app = FastAPI()
client = OpenAI()

{decorator}class {name}{record}:
    text: str

@app.post("/ask")
def ask(asked: {name}):
    messages = [dict(role="user", content=asked.text)]
    return {CALL}
"""
    entry = first(of(text))
    assert [field.name for field in entry.parameters[0].fields or ()] == ["text"]


# ------------------------------------------------- parts that a helper stands in front of

DESK = """
    import asyncio
    from openai import AsyncOpenAI

    class Worker:
        async def investigate(self, part):
            messages = [{{"role": "user", "content": part}}]
            for _ in range(5):
                reply = await AsyncOpenAI().chat.completions.create(model="m", messages=messages, tools=[])
                messages.append(reply)
            return reply.choices[0].message.content

    {function}

    class Desk:
        async def plan(self, question):
            messages = [{{"role": "user", "content": question}}]
            reply = await AsyncOpenAI().chat.completions.create(model="m", messages=messages)
            return reply.choices[0].message.content.splitlines()

        {method}

        async def answer(self, question):
            parts = await self.plan(question)
            {inner}
            notes = {notes}
            messages = [{{"role": "user", "content": question + str(notes)}}]
            reply = await AsyncOpenAI().chat.completions.create(model="m", messages=messages)
            return reply.choices[0].message.content

    async def amain(question):
        print(await Desk().answer(question))

    if __name__ == "__main__":
        asyncio.run(amain("Who?"))
"""
WAITS = "async def {name}:{indent}async with SEMAPHORE: return await Worker().investigate(part)"


@pytest.mark.parametrize(
    ("at", "name", "notes"),
    [
        (
            "method",
            "_one(self, part)",
            "await asyncio.gather(*(self._one(part) for part in parts))",
        ),
        ("method", "_one(self, part)", "[await self._one(part) for part in parts]"),
        (
            "method",
            "_one(self, part)",
            "[t.result() for t in [asyncio.create_task(self._one(part)) for part in parts]]",
        ),
        (
            "function",
            "_one(part)",
            "await asyncio.gather(*[_one(part) for part in parts])",
        ),
        ("inner", "one(part)", "await asyncio.gather(*(one(part) for part in parts))"),
    ],
)
def test_a_part_behind_a_helper_is_a_part(at: str, name: str, notes: str) -> None:
    depth = {"function": 4, "method": 8, "inner": 12}[at] + 4
    helper = WAITS.format(name=name, indent="\n" + " " * depth)
    places = {"function": "", "method": "", "inner": "", at: helper}
    found = of(DESK.format(**places, notes=notes))
    best, *others = found.entry_points
    assert best.name == "Desk.answer" and not near(best, others)


TEAM = """\
from abc import ABC, abstractmethod
from openai import OpenAI


class Agent(ABC):
    @abstractmethod
    def process(self, task: str) -> str: ...

    def ask(self, prompt):
        messages = [{"role": "user", "content": prompt}]
        return OpenAI().chat.completions.create(model="m", messages=messages).choices[0].message.content


class Researcher(Agent):
    def process(self, task: str) -> str:
        return self.ask(f"Research: {task}")


class Writer(Agent):
    def process(self, task: str) -> str:
        return self.ask(f"Write: {task}")


class Manager(Agent):
    def __init__(self, workers):
        self.workers = workers

    def process(self, task: str) -> str:
        results = self._execute(self._plan(task), task)
        return self._put_together(task, results)

    def _plan(self, task):
        return [name for name in self.workers if name in self.ask(f"Who does {task}?")]

    def _execute(self, plan, task):
        results = {}
        for name in plan:
            worker = self.workers[name]
            results[name] = worker.process(task)
        return results

    def _put_together(self, task, results):
        return self.ask(f"Task: {task}. Put together: {results}")


"""
TEAMS = {
    "made here": 'def main():\n    team = Manager({"r": Researcher(), "w": Writer()})\n    print(team.process("a"))\n',
    "of a factory": 'def team():\n    return Manager({"r": Researcher(), "w": Writer()})\n\n\ndef main():\n    print(team().process("a"))\n',
    "at module level": 'team = Manager({"r": Researcher(), "w": Writer()})\nprint(team.process("a"))\n',
}


@pytest.mark.parametrize("team", TEAMS)
def test_the_implementation_that_the_project_uses_comes_first(
    team: str, tmp_path: Path
) -> None:
    agent = tmp_path / "team.py"
    agent.write_text(TEAM + TEAMS[team])
    found = survey([read_source(agent)]).entry_points
    assert found[0].called == "Manager.process"


NARRATE = (
    "from openai import OpenAI\n\n\ndef narrate(prompt):\n"
    "    said = [{'role': 'system', 'content': 'You narrate.'}, {'role': 'user', 'content': prompt}]\n"
    f"    return OpenAI().{CALL.removeprefix('client.')}.content\n\n\n".replace(
        "messages=messages", "messages=said"
    )
)
# What a game tells a helper that keeps nothing, and whether its turns make one conversation.
GAMES = {
    "a growing text": ("context = 'A hall.'", "told = narrate(f'{context} {line}')\n        context += line + told", True),
    "a text made anew": ("context = 'A hall.'", "told = narrate(context + line)\n        context = f'{context} {line} {told}'", True),
    "what was said last": ("told = 'A hall.'", "told = narrate(told + line)", True),
    "lines": ("lines = []", "told = narrate(' '.join([*lines, line]))\n        lines.append(told)", True),
    "each line by itself": ("", "told = narrate(line)", False),
    "a count": ("turn = 0", "turn += 1\n        told = narrate(f'{turn}: {line}')", False),
}  # fmt: skip


@pytest.mark.parametrize("kind", GAMES)
def test_a_game_whose_helper_keeps_nothing_is_the_episode(kind: str) -> None:
    before, turn, is_one = GAMES[kind]
    found = of(
        f"{NARRATE}def main():\n    {before or 'pass'}\n    while True:\n        line = input('> ')\n"
        f"        if line == 'quit':\n            break\n        {turn}\n        print(told)\n"
    )
    assert first(found).name == ("main" if is_one else "narrate")


@pytest.mark.parametrize(
    ("turn", "is_one"),
    [
        ("told = narrate(board.text())\n        board.play(told, line)", True),
        ("asked = board.text()\n        told = narrate(asked)\n        move = told.strip()\n        board.play(move)", True),
        ("board.play(line)\n        told = narrate(board.text())", False),
        ("told = narrate(board.text() + line)\n        log.note(told)", False),
    ],
)  # fmt: skip
def test_a_loop_that_tells_an_object_is_as_likely_as_its_helper(
    turn: str, is_one: bool
) -> None:
    """The object writes the next question; what is merely noted is none of it."""
    found = of(
        f"{NARRATE}def main():\n    board = Board()\n    while True:\n        line = input('> ')\n"
        f"        if line == 'quit':\n            break\n        {turn}\n        print(told)\n"
    )
    likely, *others = found.entry_points
    assert ("main" in {e.name for e in (likely, *near(likely, others))}) == is_one
