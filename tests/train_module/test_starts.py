"""Train modules start episodes with what no scenario can hold, without an edit."""

from __future__ import annotations

from pathlib import Path

import pytest
from agents import art_adapt
from scripted_engine import Engine

from train_module.test_training import train

YES = [{"when": {"messages": "."}, "content": "yes"}]
REWARD = "def f(trajectory, scenario):\n    return 0.5\n"
ASK = """\
    messages = [{"role": "user", "content": question}]
    reply = client.chat.completions.create(model=MODEL, messages=messages)
    return reply.choices[0].message.content
"""
HEAD = "from dataclasses import dataclass\n\nfrom openai import OpenAI\n\nMODEL = 'm'\nclient = OpenAI()\n\n\n"
AGENTS = {
    "callables built in main": f"""{HEAD}def search(query):
    return query


def run(question, tools):
    for tool in tools:
        tool["function"](question)
{ASK}

def main():
    tools = [{{"function": search, "about": "finds"}}]
    print(run(input("> "), tools=tools))
""",
    "an object under the guard": f"""{HEAD}class Store:
    def __init__(self, name):
        self.name = name

    def note(self, text):
        self.last = text


class Agent:
    def __init__(self, store: Store):
        self.store = store

    def run(self, question: str) -> str:
        self.store.note(question)
{ASK.replace("    ", "        ").replace("        reply", "        reply")}

if __name__ == "__main__":
    store = Store("notes")
    print(Agent(store).run("What?"))
""",
    "a dataclass": f"""{HEAD}@dataclass
class Task:
    question: str
    limit: int = 3


def run(task: Task) -> str:
    question = task.question
{ASK}""",
    "positional only": f"""{HEAD}def run(question, /):
{ASK}""",
    "a model's name": f"""{HEAD}def run(question: str, model: str):
{ASK.replace("MODEL", "model")}""",
}


def adapted(folder: Path, agent: str) -> str:
    (folder / "agent.py").write_text(agent)
    (folder / "rewards.py").write_text(REWARD)
    (folder / "scenarios.jsonl").write_text('{"question": "a"}\n{"question": "b"}\n')
    options = ("--isolated", "--reward", "rewards:f", "--epochs", "1")
    done = art_adapt(*options, "agent.py", cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode() + done.stderr.decode()


@pytest.mark.parametrize("name", AGENTS)
def test_it_starts_as_the_project_does(name: str, tmp_path: Path) -> None:
    adapted(tmp_path, AGENTS[name])
    with Engine(YES) as engine:
        said = train(tmp_path, engine)
    episodes = [e for groups in said["steps"] for group in groups for e in group]
    assert len(episodes) == 8 and {e["final_answer"] for e in episodes} == {"yes"}


def test_what_only_the_user_knows_is_asked_for(tmp_path: Path) -> None:
    agent = f"{HEAD}def run(question: str, session):\n    session.open()\n{ASK}"
    told = adapted(tmp_path, agent)
    assert "Fill in: session, in episode() of agent_train.py" in told
    with Engine(YES) as engine:
        said = train(tmp_path, engine)
    assert "fill in session" in said["stopped"] and not said["steps"]
    line = int(said["stopped"].split(":")[1])
    written = (tmp_path / "agent_train.py").read_text().splitlines()
    assert "training.fill_in(" in written[line - 1]
