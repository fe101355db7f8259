"""What is kept in a list or dict is found again where an element of it is used."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from art_adapt.source import Source, read_source
from art_adapt.survey.side_effects.harm import Harm
from art_adapt.survey.survey import survey

TOOLS = """
class Save:
    name = "save"

    def execute(self, text):
        open("notes.txt", "w").write(text)


class Look:
    name = "look"

    def execute(self, text):
        return text.upper()


class Unused:
    def execute(self, text):
        input(text)
"""
LOOP = """
def solve(task):
    messages = [{"role": "user", "content": task}]
    for _ in range(5):
        reply = client.chat.completions.create(model="m", messages=messages).choices[0].message
        messages.append(reply)
        for call in reply.tool_calls or []:
            name, arguments = call.function.name, call.function.arguments
            messages.append({"role": "tool", "tool_call_id": call.id, "content": run(name, arguments)})
    return reply.content
"""
TABLES = {
    "a dict": """
        KNOWN = {"save": Save(), "look": Look()}

        def run(name, text):
            return KNOWN[name].execute(text)
    """,
    "a dict's get, through a name": """
        KNOWN = dict(save=Save(), look=Look())

        def run(name, text):
            tool = KNOWN.get(name)
            return tool.execute(text) if tool else "unknown"
    """,
    "a comprehension over a list": """
        KNOWN = {tool.name: tool for tool in [Save(), Look()]}

        def run(name, text):
            return KNOWN[name].execute(text)
    """,
    "a loop that compares names": """
        KNOWN = [Look(), Save()]

        def run(name, text):
            for tool in KNOWN:
                if tool.name == name:
                    return tool.execute(text)
    """,
    "next() of those with the name": """
        KNOWN = (Look(), *[Save()])

        def run(name, text):
            return next(tool for tool in KNOWN if tool.name == name).execute(text)
    """,
    "pairs": """
        KNOWN = {"save": Save()} | {"look": Look()}

        def run(name, text):
            for own, tool in KNOWN.items():
                if own == name:
                    return tool.execute(text)
    """,
    "a function that makes them": """
        def known():
            return [Look(), Save()]

        def run(name, text):
            return {tool.name: tool for tool in known()}[name].execute(text)
    """,
    "a registry": """
        class Registry:
            def __init__(self):
                self._known = {}

            def register(self, tool):
                self._known[tool.name] = tool

            def call(self, name, text):
                return self._known[name].execute(text)

        REGISTRY = Registry()
        REGISTRY.register(Save())
        REGISTRY.register(Look())

        def run(name, text):
            return REGISTRY.call(name, text)
    """,
    "entries that are set at module level": """
        KNOWN = {}
        KNOWN["save"] = Save()
        KNOWN["look"] = Look()

        def run(name, text):
            return KNOWN[name].execute(text)
    """,
    "a function that registers": """
        KNOWN = {}

        def register(tool):
            KNOWN[tool.name] = tool

        register(Save())
        register(Look())

        def run(name, text):
            return KNOWN[name].execute(text)
    """,
    "a decorator": """
        KNOWN = {}

        def tool(function):
            KNOWN[function.__name__] = function
            return function

        @tool
        def save(text):
            return Save().execute(text)

        def run(name, text):
            return KNOWN[name](text)
    """,
    "a decorator with a name": """
        KNOWN = {}

        def tool(name):
            def below(function):
                KNOWN[name] = {"about": name, "function": function}
                return function
            return below

        @tool("save")
        def save(text):
            return Save().execute(text)

        def run(name, text):
            return KNOWN[name]["function"](text)
    """,
    "a registry's decorator": """
        class Registry:
            def __init__(self):
                self.known = {}

            def tool(self, function):
                self.known[function.__name__] = function
                return function

        registry = Registry()

        @registry.tool
        def save(text):
            return Save().execute(text)

        def run(name, text):
            return registry.known[name](text)
    """,
    "an attribute of a base": """
        class Base:
            def __init__(self):
                self.known = []
                self.known.append(Look())
                self.known.extend([Save()])

        class Toolbox(Base):
            def call(self, name, text):
                return [tool for tool in self.known if tool.name == name][0].execute(text)

        def run(name, text):
            return Toolbox().call(name, text)
    """,
    "an annotation": """
        class Toolbox:
            known: "dict[str, Save | Look]"

            def call(self, name, text):
                return self.known[name].execute(text)

        def run(name, text, toolbox=Toolbox()):
            return Toolbox().call(name, text)
    """,
    "functions among others' entries": """
        KNOWN = {
            "save": {"about": "Saves.", "function": Save().execute},
            "look": {"about": "Looks.", "function": Look().execute},
        }

        def run(name, text):
            return KNOWN[name]["function"](text)
    """,
    "a registry's method that looks up": """
        class Registry:
            def __init__(self):
                self._known = {}

            def add(self, tool):
                self._known[tool.name] = tool

            def get(self, name):
                tool = self._known.get(name)
                if tool is None:
                    raise KeyError(name)
                return tool

            def call(self, name, text):
                return self.get(name).execute(text)

        registry = Registry()
        registry.add(Save())

        def run(name, text):
            return registry.call(name, text)
    """,
    "classes": """
        KNOWN = {"save": Save, "look": Look}

        def run(name, text):
            return KNOWN[name]().execute(text)
    """,
    "classes, of which a comprehension makes one each": """
        KNOWN = {kind.name: kind() for kind in (Save, Look)}

        def run(name, text):
            tool = KNOWN[name]
            return tool.execute(text)
    """,
    "the classes derived from one": """
        class Tool:
            pass

        class Keep(Tool):
            name = "keep"

            def execute(self, text):
                open("notes.txt", "w").write(text)

        KNOWN = {kind.name: kind() for kind in Tool.__subclasses__()}

        def run(name, text):
            return KNOWN[name].execute(text)
    """,
    "the classes derived from one, made where they are used": """
        class Tool:
            pass

        class Keep(Tool):
            name = "keep"

            def execute(self, text):
                open("notes.txt", "w").write(text)

        KNOWN = {kind.name: kind for kind in Tool.__subclasses__()}

        def run(name, text):
            return KNOWN.get(name)().execute(text)
    """,
    "what stands in for an unknown class": """
        KNOWN = {}

        def run(name, text):
            tool = KNOWN.get(name, Save)()
            return tool.execute(text)
    """,
    "getattr with a prefix": """
        class Toolbox:
            def tool_save(self, text):
                return Save().execute(text)

            def ask_somebody(self, text):
                return input(text)

            def call(self, name, text):
                return getattr(self, "tool_" + name)(text)

        def run(name, text):
            return Toolbox().call(name, text)
    """,
    "getattr with a name that is made before": """
        class Toolbox:
            def do_save(self, text):
                return Save().execute(text)

            def redo_it(self, text):
                return input(text)

        def run(name, text):
            toolbox = Toolbox()
            method = f"do_{name}"
            handler = getattr(toolbox, method, None)
            return handler(text)
    """,
    "a method that is handed on": """
        import asyncio

        class Toolbox:
            def save(self, text):
                return Save().execute(text)

            def _ask(self, text):
                return input(text)

            def call(self, name, text):
                return asyncio.run(asyncio.to_thread(getattr(self, name), text))

        def run(name, text):
            return Toolbox().call(name, text)
    """,
    "globals()": """
        def tool_save(text):
            return Save().execute(text)

        def run(name, text):
            return globals()[f"tool_{name}"](text)
    """,
    "this module": """
        import sys

        def on_save(text):
            return Save().execute(text)

        def run(name, text):
            return getattr(sys.modules[__name__], "on_%s" % name)(text)
    """,
}


def harms(text: str) -> set[Harm]:
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())])
    assert found.entry_points[0].name == "solve"
    return {effect.harm for file in found.files for effect in file.effects}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_the_tools_of_a_table_are_what_an_episode_runs(table: str) -> None:
    assert harms(TOOLS + dedent(table) + LOOP) == {Harm.WRITES}


@pytest.mark.parametrize(
    "line",
    [
        "from kit import KNOWN",
        "import kit\nKNOWN = kit.KNOWN",
        "from json import *\nfrom kit import *\nfrom os.path import *",
        "from all_of_it import *",
    ],
)
def test_a_table_may_be_imported(line: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    table = 'KNOWN = {"save": Save(), "look": Look()}\n'
    (tmp_path / "kit.py").write_text(TOOLS + table)
    (tmp_path / "all_of_it.py").write_text("from kit import *\n")
    agent = tmp_path / "agent.py"
    run = "def run(name, text):\n    return KNOWN[name].execute(text)\n"
    agent.write_text(f"{line}\n\n{run}{LOOP}")
    found = survey([read_source(agent)])
    assert {e.harm for file in found.files for e in file.effects} == {Harm.WRITES}


@pytest.mark.parametrize(
    "ask",
    [
        "PROVIDERS[name](messages)",
        "PROVIDERS.get(name, plain)(messages)",
        "chosen(messages)",
    ],
)
def test_a_function_is_reached_through_a_table(ask: str) -> None:
    agent = f"""
        def plain(messages):
            return client.chat.completions.create(model="m", messages=messages)

        PROVIDERS = {{"plain": plain}}

        def solve(task, name="plain"):
            chosen = PROVIDERS[name]
            messages = [{{"role": "user", "content": task}}]
            for _ in range(5):
                reply = {ask}
                messages.append(reply)
            return reply.content
    """
    source = Source(Path("/nowhere/agent.py"), dedent(agent).encode())
    found = survey([source])
    assert found.entry_points[0].name == "solve"
    (call,) = found.files[0].calls
    assert call.loop is not None
    assert call.loop.place.line == 10


def test_a_container_in_itself_ends() -> None:
    agent = "KNOWN = []\nKNOWN.append(KNOWN)\nKNOWN.extend(KNOWN)\n\ndef run(name, text):\n    return KNOWN[name].execute(text)\n"
    assert harms(agent + LOOP) == set()


@pytest.mark.parametrize(
    "table",
    [
        "self.known = {'task': self._sub}",
        "self.known = {}\n        self.known['task'] = self._sub",
        "self.known = dict(look=print)\n        self.known.update({'task': self._sub})",
    ],
)
def test_an_agent_that_is_a_tool_is_not_the_episode(table: str) -> None:
    turns = """
        for _ in range(5):
            reply = client.chat.completions.create(model="m", messages=messages).choices[0].message
            messages.append(reply)
            for call in reply.tool_calls or []:
                tool = self.known.get(call.function.name)
                messages.append({"role": "tool", "content": tool(call.function.arguments)})
        return reply.content
"""
    agent = f"""
class App:
    def __init__(self):
        {table}

    def _sub(self, prompt):
        messages = [{{"role": "user", "content": prompt}}]{turns}
    def _turns(self, messages, text):
        messages.append({{"role": "user", "content": text}}){turns}"""
    found = survey([Source(Path("/nowhere/agent.py"), agent.encode())])
    assert found.entry_points[0].name == "App._turns"


def test_what_a_tool_asks_is_no_turn_of_the_loop() -> None:
    agent = f"""
def shorten(text):
    messages = [{{"role": "user", "content": text}}]
    return client.chat.completions.create(model="m", messages=messages)

KNOWN = {{"shorten": shorten}}

def run(name, text):
    return KNOWN[name](text)
{LOOP}"""
    found = survey([Source(Path("/nowhere/agent.py"), agent.encode())])
    tools_call, turn = found.files[0].calls
    assert (tools_call.function, tools_call.loop) == ("shorten", None)
    assert turn.loop is not None


def test_a_local_container_of_the_same_name_is_another() -> None:
    agent = f"""{TOOLS}
KNOWN = {{"look": Look()}}

def unrelated():
    KNOWN = {{}}
    KNOWN["save"] = Save()
    return KNOWN

def run(name, text):
    return KNOWN[name].execute(text)
{LOOP}"""
    assert harms(agent) == set()


def test_a_decorator_that_keeps_the_agent_does_not_run_it() -> None:
    agent = """
class Flow:
    def __init__(self, function):
        self.function = function

    def ask(self, task):
        return self.function(task)

def probe(flow):
    if flow.function.__doc__:
        flow.ask("Are you there?")

def flow(function=None, name=""):
    def around(function):
        kept = Flow(function)
        probe(kept)
        return kept
    return around(function) if function else around

@flow(name="desk")
def solve(task):
    messages = [{"role": "user", "content": task}]
    for _ in range(5):
        reply = client.chat.completions.create(model="m", messages=messages)
        messages.append(reply)
    return reply.content
"""
    found = survey([Source(Path("/nowhere/agent.py"), agent.encode())])
    assert found.entry_points[0].name == "solve"
    assert [e.harm for file in found.files for e in file.effects] == []


@pytest.mark.parametrize(
    "run",
    [
        "    return getattr(kit, name)(text)",
        "    known = dict(inspect.getmembers(kit, inspect.isfunction))\n    return known[name](text)",
        "    known = {n: f for n, f in inspect.getmembers(kit) if callable(f)}\n    return known[name](text)",
    ],
)
def test_tools_of_a_module_are_looked_up_in_it(run: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    save = 'def save(text):\n    open("notes.txt", "w").write(text)\n'
    (tmp_path / "kit.py").write_text(save)
    agent = tmp_path / "agent.py"
    agent.write_text(f"import inspect, kit\n\ndef run(name, text):\n{run}\n{LOOP}")
    found = survey([read_source(agent)])
    assert {e.harm for file in found.files for e in file.effects} == {Harm.WRITES}


@pytest.mark.parametrize(
    "filled",
    [
        'KNOWN = {}\nKNOWN["save"] = save\n',
        "KNOWN = {}\nKNOWN.update(save=save)\n",
        "KNOWN = dict()\nKNOWN |= {'save': save}\n",
        "KNOWN = {}\ndef register(name, tool):\n    KNOWN[name] = tool\nregister('save', save)\n",
    ],
)
@pytest.mark.parametrize("line", ["from kit import KNOWN", "import kit as tools"])
def test_a_table_that_its_own_module_fills_may_be_imported(
    line: str, filled: str, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").touch()
    save = 'def save(text):\n    open("notes.txt", "w").write(text)\n'
    (tmp_path / "kit.py").write_text(save + filled)
    agent = tmp_path / "agent.py"
    table = "KNOWN" if "KNOWN" in line else "tools.KNOWN"
    run = f"def run(name, text):\n    return {table}[name](text)\n"
    agent.write_text(f"{line}\n\n{run}{LOOP}")
    found = survey([read_source(agent)])
    assert {e.harm for file in found.files for e in file.effects} == {Harm.WRITES}


def test_an_object_that_another_module_makes_is_followed(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "kit.py").write_text(TOOLS + "\nkeeper = Save()\n")
    agent = tmp_path / "agent.py"
    run = "def run(name, text):\n    return keeper.execute(text)\n"
    for line in ("from kit import keeper", "import kit\nkeeper = kit.keeper"):
        agent.write_text(f"{line}\n\n{run}{LOOP}")
        found = survey([read_source(agent)])
        assert {e.harm for file in found.files for e in file.effects} == {Harm.WRITES}


def test_an_agent_that_looks_up_its_own_methods_is_no_tool() -> None:
    agent = """
class Agent:
    def solve(self, task):
        messages = [{"role": "user", "content": task}]
        for _ in range(5):
            reply = client.chat.completions.create(model="m", messages=messages).choices[0].message
            messages.append(reply)
            for call in reply.tool_calls or []:
                method = getattr(self, call.function.name)
                messages.append({"role": "tool", "content": method(call.function.arguments)})
        return reply.content

    def look(self, text):
        return text.upper()
"""
    found = survey([Source(Path("/nowhere/agent.py"), agent.encode())])
    assert found.entry_points[0].name == "Agent.solve"
    (call,) = found.files[0].calls
    assert call.role == "policy"
