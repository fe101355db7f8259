"""What a project does to its agent before it runs it, and what of it no episode can have."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from agent_files import art_adapt

HEAD = """\
import json
from openai import OpenAI


class Agent:
    def __init__(self, limit=3):
        self.limit, self.tools = limit, []

    def add_tool(self, name, function):
        self.tools.append({"type": "function", "function": {"name": name, "parameters": {}}})
        return len(self.tools)

    def begin(self, text):
        self.first = text
        return self

    def run(self, text: str) -> str:
        messages = [{"role": "user", "content": text}]
        for _ in range(self.limit):
            message = OpenAI().chat.completions.create(
                model="m", messages=messages, tools=self.tools
            ).choices[0].message
            messages.append(message)
            if not message.tool_calls:
                return message.content
            messages += [{"role": "tool", "tool_call_id": c.id, "content": "3"} for c in message.tool_calls]
        return ""


"""
MAIN = """

if __name__ == "__main__":
    print(make().run("What time is it?"))
"""
# A function that makes the agent, and uses what its methods return.
MAKERS = {
    "kept": """
        def make() -> Agent:
            agent = Agent(limit=8)
            count = agent.add_tool("clock", print)
            print(f"{count} tools")
            return agent
        """,
    "printed": """
        def make():
            agent = Agent(8)
            print("tools:", agent.add_tool("clock", print))
            return agent
        """,
    "asserted": """
        def make():
            agent = Agent(limit=8)
            assert agent.add_tool("clock", print) == 1
            return agent
        """,
    "in a branch": """
        def make():
            agent = Agent(limit=8)
            if agent.add_tool("clock", print) > 9:
                raise ValueError("too many tools")
            return agent
        """,
    "added up": """
        def make():
            made = Agent(limit=8)
            total = 0
            for name in ("clock", "rain"):
                total += made.add_tool(name, print)
            return made
        """,
    "other name": """
        def make():
            agent = Agent(limit=8)
            ready = agent.begin("hello")
            print(ready)
            return agent
        """,
}


def episode_of(tmp_path: Path, program: str, *options: str) -> str:
    (tmp_path / "agent.py").write_text(program)
    done = art_adapt("agent.py", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    module = (tmp_path / "agent_train.py").read_text()
    return module.partition("def episode(")[2].partition("\n\n\n")[0]


@pytest.mark.parametrize("spelling", MAKERS)
def test_a_factory_that_uses_what_setting_up_returns_is_called(
    tmp_path: Path, spelling: str
) -> None:
    program = HEAD + dedent(MAKERS[spelling]) + MAIN
    episode = episode_of(tmp_path, program)
    assert "agent = make()\n    return agent.run(text=scenario.text)" in episode


# Who is told what the agent says; nothing depends on what it returns.
LISTENERS = {
    "annotated": (
        "from slack_sdk import WebClient",
        "client: WebClient",
        "client.chat_update(channel='c', text=said)",
    ),
    "through a helper": (
        "from slack_sdk import WebClient",
        "client: WebClient",
        "tell(client, said)",
    ),
    "awaited": (
        "from mattermost import Driver",
        "driver: Driver",
        "driver.posts.create(said)",
    ),
    "in a branch": (
        "import slack_sdk",
        "client: slack_sdk.WebClient",
        "if said:\n        client.say(said)",
    ),
    "optional": (
        "from slack_sdk import WebClient",
        "client: WebClient | None",
        "client.say(said)",
    ),
}


@pytest.mark.parametrize("spelling", LISTENERS)
def test_an_object_that_is_only_told_is_stood_in_for(
    tmp_path: Path, spelling: str
) -> None:
    imported, parameter, told = LISTENERS[spelling]
    program = f"""\
{imported}
from openai import OpenAI


def tell(who, what):
    who.send(what)


def answer(text: str, {parameter}) -> str:
    said = OpenAI().chat.completions.create(
        model="m", messages=[{{"role": "user", "content": text}}]
    ).choices[0].message.content
    {told}
    return said
"""
    name = parameter.partition(":")[0]
    episode = episode_of(tmp_path, program)
    assert f"{name}=training.stand_in()" in episode
    assert "OpenAI(" not in episode


def test_what_is_read_is_asked_for(tmp_path: Path) -> None:
    program = """\
from slack_sdk import WebClient
from openai import OpenAI


def answer(text: str, client: WebClient) -> str:
    thread = client.history(text)
    return OpenAI().chat.completions.create(
        model="m", messages=[{"role": "user", "content": thread}]
    ).choices[0].message.content
"""
    assert "training.fill_in(" in episode_of(tmp_path, program)


CHAT = """\
import json
from openai import OpenAI
{imports}


class Chat:
    def __init__(self, tools, model):
        self.tools, self.model = tools, model

    def send(self, text: str) -> str:
        return OpenAI().chat.completions.create(
            model=self.model, tools=self.tools, messages=[{{"role": "user", "content": text}}]
        ).choices[0].message.content


{page}


def command(model: str = "gpt-4o-mini"):
    with open("tools.json") as file:
        tools = json.load(file)
    chat = Chat(tools, model)
    while True:
        print(chat.send(input("> ")))
"""
# What only exists while a page or a request runs.
PAGES = {
    "names": (
        "import streamlit as st",
        """
        def page():
            tools = st.session_state.tools
            st.write(Chat(tools, st.session_state.model).send(st.chat_input()))
        """,
    ),
    "key": (
        "import streamlit",
        """
        def page():
            state = streamlit.session_state
            streamlit.write(Chat(state["tools"], "m").send(streamlit.chat_input()))
        """,
    ),
    "imported": (
        "from flask import g, request",
        """
        def page():
            return Chat(g.tools, "m").send(request.args["text"])
        """,
    ),
    "keywords": (
        "from streamlit import session_state as state",
        """
        def page():
            given = {"tools": state.tools, "model": "m"}
            return Chat(**given).send(state.text)
        """,
    ),
    "method": (
        "import flask",
        """
        def page():
            kept = flask.session
            held = kept.get("tools")
            return Chat(tools=held, model="m").send(flask.request.json["text"])
        """,
    ),
}


@pytest.mark.parametrize("spelling", PAGES)
def test_what_a_page_keeps_is_not_taken_over(tmp_path: Path, spelling: str) -> None:
    imports, page = PAGES[spelling]
    episode = episode_of(tmp_path, CHAT.format(imports=imports, page=dedent(page)))
    assert (
        'with open("tools.json") as file:\n        tools = json.load(file)' in episode
    )
    assert "agent = Chat(tools=tools" in episode


WIDGETS = {
    "in the call": "print(Agent(limit=st.sidebar.slider('Rounds', 1, 9)).run(st.text_input('?')))",
    "through a name": "rounds = st.slider('Rounds', 1, 9)\nprint(Agent(limit=rounds).run(st.text_input('?')))",
    "of a condition": "rounds = 2 if st.checkbox('Short') else 9\nprint(Agent(limit=rounds).run(st.text_input('?')))",
    "in a column": "left, right = st.columns(2)\nprint(Agent(limit=int(st.radio('Rounds', '123'))).run(st.text_input('?')))",
    "by a function": "from streamlit import number_input\n\n\ndef page():\n    print(Agent(limit=number_input('Rounds')).run(st.text_input('?')))\n\n\npage()",
}


@pytest.mark.parametrize("way", WIDGETS)
def test_a_widget_is_never_drawn_by_an_episode(way: str, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(HEAD)
    page = f"import streamlit as st\nfrom agent import Agent\n\n{WIDGETS[way]}\n"
    (tmp_path / "page.py").write_text(page)
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    module = (tmp_path / "agent_train.py").read_text()
    assert "agent = Agent()\n" in module
    assert "streamlit" not in module and "from page" not in module


TOLD = """\
import sys
from openai import OpenAI


class Agent:
    def __init__(self, prompt: str, tools: list):
        self.tools = tools
        self.messages = [{"role": "system", "content": prompt}]

    def add_user_message(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})

    def run(self) -> str:
        while True:
            message = OpenAI().chat.completions.create(
                model="m", messages=self.messages, tools=self.tools
            ).choices[0].message
            self.messages.append(message)
            if not message.tool_calls:
                return message.content
            for call in message.tool_calls:
                self.messages.append({"role": "tool", "tool_call_id": call.id, "content": "3"})

    def fork(self) -> "Agent":
        forked = Agent(prompt="", tools=[])
        forked.messages = list(self.messages)
        return forked


"""
ASKED = "    agent.add_user_message(sys.argv[1])\n    print(agent.run())\n"
BUILT = {
    "a default in the function": (
        "def build(prompt=None):\n    return Agent(prompt or 'Be brief.', [{'name': 'read'}])\n\n\n"
        f"def main():\n    agent = build()\n{ASKED}",
        "build()",
    ),
    "what the application gives it": (
        "def build(prompt):\n    made = Agent(prompt or 'Be brief.', [{'name': 'read'}])\n"
        f"    return made\n\n\ndef main():\n    agent = build(None)\n{ASKED}",
        "build(prompt=None)",
    ),
    "a method of the class": (
        "class Maker:\n    @staticmethod\n    def build(kind: str = 'short'):\n"
        "        return Agent('Be ' + kind, [])\n\n\n"
        f"def main():\n    agent = Maker.build()\n{ASKED}",
        "Maker.build()",
    ),
    "nothing but the class": (
        f"def main():\n    agent = Agent('Be brief.', [])\n{ASKED}",
        'Agent(prompt="Be brief.", tools=[])',
    ),
    "one that has tools before one that has none": (
        "def read(path):\n    return open(path).read()\n\n\n"
        "def measure(text):\n    agent = Agent('Be brief.', [])\n"
        "    agent.add_user_message(text)\n    return agent.run()\n\n\n"
        f"def main():\n    agent = Agent('Be brief.', [read])\n{ASKED}",
        'Agent(prompt="Be brief.", tools=[read])',
    ),
}


@pytest.mark.parametrize("kind", BUILT)
def test_what_an_agent_is_told_after_it_was_made_is_the_task(
    tmp_path: Path, kind: str
) -> None:
    """Its prompt and its tools are the agent's, whichever function makes it."""
    program, made = BUILT[kind]
    program = f'{TOLD}{program}\n\nif __name__ == "__main__":\n    main()\n'
    episode = episode_of(tmp_path, program)
    assert f"agent = {made}\n" in episode
    assert (
        "agent.add_user_message(text=scenario.text)\n    return agent.run()" in episode
    )


DIARY = """\
from openai import OpenAI


class Agent:
    def __init__(self, name: str):
        self.name, self.tools = name, []

    def register_tools(self, tools):
        self.tools = tools

    def ask(self, text: str) -> str:
        messages = [{"role": "user", "content": text}]
        reply = OpenAI().chat.completions.create(model="m", messages=messages, tools=self.tools)
        return reply.choices[0].message.content
"""
HELD = """\
import sys
from dataclasses import dataclass

from agent import Agent

TOOLS = [{"type": "function", "function": {"name": "add", "parameters": {}}}]


@dataclass
class Context:
    agent: Agent


def configure_agent(context: Context) -> None:
    context.agent.register_tools(TOOLS)


def show(context: Context) -> None:
    print(context.agent.name)


def main():
    agent = Agent(name="diary")
LINES
    print(agent.ask(sys.argv[1]))


if __name__ == "__main__":
    main()
"""
# What a project does with an object that holds the agent, and what episode() does of it.
HOLDERS = {
    "by its name": (("context = Context(agent=agent)", "configure_agent(context)"), True),
    "by its place": (("held = Context(agent)", "configure_agent(held)"), True),
    "by a keyword": (("held = Context(agent)", "configure_agent(context=held)"), True),
    "only shown": (("context = Context(agent)", "show(context)"), False),
    "another one's": (("context = Context(Agent(name='x'))", "configure_agent(context)"), False),
}  # fmt: skip


@pytest.mark.parametrize("kind", HOLDERS)
def test_an_agent_is_filled_within_another_object(kind: str, tmp_path: Path) -> None:
    lines, filled = HOLDERS[kind]
    (tmp_path / "agent.py").write_text(DIARY)
    body = "\n".join(f"    {line}" for line in lines)
    (tmp_path / "main.py").write_text(HELD.replace("LINES", body))
    assert art_adapt("--isolated", "agent.py", cwd=tmp_path).returncode == 0
    module = (tmp_path / "agent_train.py").read_text()
    episode = module.partition("def episode")[2].partition("\n\n\n")[0]
    assert all(line in episode for line in lines) is filled
    assert ("configure_agent" in episode) is filled
