"""A graph of langgraph runs the functions that were added to it: what invokes it is the episode."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import art_adapt

HEAD = """\
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from openai import AsyncOpenAI, OpenAI


class State(TypedDict, total=False):
    topic: str
    plan: str
    post: str


def ask(prompt: str) -> str:
    messages = [{"role": "user", "content": prompt}]
    return OpenAI().chat.completions.create(model="m", messages=messages).choices[0].message.content


def plan(state: State) -> State:
    return {"plan": ask(f"Plan a post on {state['topic']}")}


def write(state: State) -> State:
    return {"post": ask(f"Write this: {state['plan']}")}


"""
ADDED = """\
graph = StateGraph(State)
graph.add_node("plan", plan)
graph.add_node("write", write)
graph.add_edge(START, "plan")
graph.add_edge("plan", "write")
graph.add_edge("write", END)
"""
INSIDE = ADDED.replace("\n", "\n    ").rstrip()
GRAPHS = {
    "of the module": (
        f"{ADDED}app = graph.compile()\n\n\n"
        'def blog(topic: str) -> str:\n    return app.invoke({"topic": topic})["post"]\n',
        "blog(topic=scenario.topic)",
    ),
    "that a function builds": (
        f"def build():\n    {INSIDE}\n    return graph.compile()\n\n\n"
        'def blog(topic: str) -> str:\n    app = build()\n    state = app.invoke({"topic": topic})\n'
        '    return state["post"]\n',
        "blog(topic=scenario.topic)",
    ),
    "of an object": (
        "class Blog:\n    def __init__(self):\n        self.app = self._build()\n\n"
        f"    def _build(self):\n        {INSIDE.replace(chr(10), chr(10) + '    ')}\n"
        "        return graph.compile()\n\n"
        "    def run(self, topic: str) -> str:\n"
        '        return self.app.invoke({"topic": topic})["post"]\n',
        "agent.run(topic=scenario.topic)",
    ),
    "whose nodes are methods": (
        "class Blog:\n    def __init__(self):\n        graph = StateGraph(State)\n"
        '        graph.add_node("plan", self._plan)\n        graph.add_edge(START, "plan")\n'
        "        self.app = graph.compile()\n\n"
        "    def _plan(self, state: State) -> State:\n"
        "        return {'post': ask(state['topic'])}\n\n"
        "    def run(self, topic: str) -> str:\n"
        '        return self.app.invoke({"topic": topic})["post"]\n',
        "agent.run(topic=scenario.topic)",
    ),
    "in one chain": (
        'app = StateGraph(State).add_node("plan", plan).add_node("write", write)'
        '.add_edge(START, "plan").compile()\n\n\n'
        'def blog(topic: str) -> str:\n    return app.invoke({"topic": topic})["post"]\n',
        "blog(topic=scenario.topic)",
    ),
    "awaited": (
        f"{ADDED}app = graph.compile()\n\n\n"
        "async def blog(topic: str) -> str:\n"
        '    state = await app.ainvoke({"topic": topic})\n    return state["post"]\n',
        "await blog(topic=scenario.topic)",
    ),
    "streamed": (
        f"{ADDED}app = graph.compile()\n\n\n"
        "def blog(topic: str) -> str:\n    state = {}\n"
        '    for state in app.stream({"topic": topic}, stream_mode="values"):\n'
        '        print(state)\n    return state["post"]\n',
        "blog(topic=scenario.topic)",
    ),
    "by its events": (
        f"{ADDED}app = graph.compile()\n\n\n"
        "async def blog(topic: str) -> str:\n    said = []\n"
        '    async for event in app.astream_events({"topic": topic}):\n'
        "        said.append(event)\n    return str(said[-1])\n",
        "await blog(topic=scenario.topic)",
    ),
}


@pytest.mark.parametrize("kind", GRAPHS)
def test_what_invokes_a_graph_is_the_episode(tmp_path: Path, kind: str) -> None:
    source, called = GRAPHS[kind]
    (tmp_path / "blog.py").write_text(HEAD + source)
    run = art_adapt("blog.py", "--yes", cwd=tmp_path)
    assert run.returncode == 0, run.stderr.decode()
    assert f"return {called}" in (tmp_path / "blog_train.py").read_text()


def test_another_librarys_method_of_that_name_runs_no_node(tmp_path: Path) -> None:
    other = GRAPHS["of the module"][0].replace("StateGraph", "Registry")
    head = HEAD.replace("from langgraph.graph import END, START, StateGraph", "")
    (tmp_path / "blog.py").write_text(
        f"from registry import END, START, Registry\n{head}{other}"
    )
    run = art_adapt("blog.py", "--yes", cwd=tmp_path)
    assert b"blog" not in run.stderr.partition(b"entry point")[2].partition(b"\n")[0]
