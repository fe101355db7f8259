"""A loop that lets an agent go on, which keeps the conversation in itself, is the episode's."""

from __future__ import annotations

from pathlib import Path

import pytest

from art_adapt.source import Source
from art_adapt.survey.survey import survey

CHAT = """\
import argparse
import sys

from openai import OpenAI


class Chat:
    def __init__(self, task="Work."):
        self.done = False
        self.messages = [{"role": "system", "content": task}]

    def add(self, role, text):
        self.messages.append({"role": role, "content": text})

    def step(self):
        reply = OpenAI().chat.completions.create(model="m", messages=self.messages)
        said = reply.choices[0].message.content
        self.add("assistant", said)
        self.done = "DONE" in said
        return said


"""
ASKED = CHAT.replace("step(self):", 'ask(self, text):\n        self.add("user", text)')
GOES_ON = {
    "a step in a command": f"""{CHAT}\
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("task")
    agent = Chat(parser.parse_args().task)
    while not agent.done:
        agent.step()
    print(agent.messages[-1])
""",
    "counted steps in a command": f"""{CHAT}\
def main():
    agent = Chat(sys.argv[1])
    for _ in range(10):
        if "DONE" in agent.step():
            break
    print(agent.messages[-1])
""",
    "a fixed word": f"""{ASKED}\
def main():
    chat = Chat()
    answer = chat.ask(sys.argv[1])
    for _ in range(5):
        if "DONE" in answer:
            break
        answer = chat.ask("Continue.")
    print(answer)
""",
}
OTHERS = {
    "a person types": """\
def main():
    chat = Chat()
    while True:
        print(chat.ask(input("> ")))
""",
    "each turn makes its own": """\
def main():
    for _ in range(10):
        chat = Chat()
        print(chat.ask("Tell a joke."))
""",
    "what comes in": """\
def main():
    chat = Chat()
    while True:
        print(chat.ask(queue.get()))
""",
}


def entry_of(text: str) -> str:
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())])
    return found.entry_points[0].called


STAGES = """\
from openai import OpenAI


def ask(text):
    messages = [{"role": "user", "content": text}]
    return OpenAI().chat.completions.create(model="m", messages=messages).choices[0].message.content


def query(question):
    return ask("Write a query for: " + question)


def explain(question, rows):
    return ask(f"Explain {rows} to somebody who asked {question}")


def main():
    while True:
        question = input("> ")
        if question == "quit":
            break
"""
ANEW = """\
from openai import OpenAI


class Chat:
    def __init__(self, task):
        self.task, self.log = task, []

    def step(self):
        asked = [{"role": "user", "content": self.task}]
        reply = OpenAI().chat.completions.create(model="m", messages=asked)
        self.log.append(reply)
        return reply.choices[0].message.content


"""
WHOLE = """\
from openai import OpenAI


class Agent:
    def __init__(self, model="m"):
        self.model, self.messages = model, []

    def run(self, task):
        self.messages = [{"role": "user", "content": task}]
        for _ in range(8):
            reply = OpenAI().chat.completions.create(model="m", messages=self.messages)
            self.messages.append(reply.choices[0].message)
            if not reply.choices[0].message.tool_calls:
                return reply.choices[0].message.content


"""
REPEATED = {
    "an agent that keeps nothing": f"""{ANEW}\
def vote(k=5):
    chat, votes = Chat("Why?"), []
    for _ in range(k):
        votes.append(chat.step())
    return max(votes, key=votes.count)
""",
    "a whole agent": f"""{WHOLE}\
def evaluate(k=5):
    agent, answers = Agent(), []
    for _ in range(k):
        answers.append(agent.run("What is 2 + 2?"))
    return answers
""",
}


@pytest.mark.parametrize("case", REPEATED)
def test_a_repeated_question_is_no_conversation(case: str) -> None:
    source = Source(Path("/nowhere/agent.py"), REPEATED[case].encode())
    repeats = [
        e for e in survey([source]).entry_points if e.name in ("vote", "evaluate")
    ]
    assert repeats and not any("drives" in each.features for each in repeats)


UNSET = {
    "tested first": ("log = None", "    if log:\n        log(task)\n", "log = print"),
    "handed on": ("place = None", "    open_in(place or '.')\n", "place = 'x'"),
    "its own": ("", "    words = [w for w in task.split()]\n", "w = 1"),
    "a handler's": ("", "    try:\n        int(task)\n    except ValueError as e:\n        print(e)\n", "e = 0"),
}  # fmt: skip


@pytest.mark.parametrize("case", UNSET)
def test_a_variable_that_may_be_unset_sets_nobody_up(case: str) -> None:
    first, use, sets = UNSET[case]
    asks = STAGES.partition("def query")[0].replace(
        "def ask(text)", f"{first}\n\n\ndef ask(text)"
    )
    program = f"{asks}def solve(task):\n{use}    return ask(task)\n\n\n"
    name = sets.partition(" ")[0]
    starts = (
        f"def main():\n    global {name}\n    {sets}\n    print(solve(input()))\n\n\n"
    )
    guard = f'if __name__ == "__main__":\n    {sets}\n    main()\n'
    assert entry_of(program + starts + guard) == "solve"


@pytest.mark.parametrize("case", GOES_ON)
def test_a_loop_that_lets_it_go_on_is_the_episode(case: str) -> None:
    assert entry_of(GOES_ON[case]) == "main"


@pytest.mark.parametrize("case", OTHERS)
def test_a_loop_that_begins_anew_or_hands_on_is_none(case: str) -> None:
    assert entry_of(ASKED + OTHERS[case]) == "Chat.ask"


def test_a_function_that_lets_it_go_on_goes_before_its_command() -> None:
    solve = """\
def solve(task):
    agent = Chat(task)
    while not agent.done:
        agent.step()
    return agent.messages[-1]


"""
    assert (
        entry_of(f"{CHAT}{solve}def main():\n    print(solve(sys.argv[1]))\n")
        == "solve"
    )


@pytest.mark.parametrize(
    "turn",
    [
        "            rows = run(query(question))\n            print(explain(question, rows))\n",
        "            found = query(question)\n            print(explain(question=question, rows=run(found)))\n",
    ],
)
def test_a_chat_that_runs_the_stages_of_an_agent_is_no_mere_relay(turn: str) -> None:
    assert entry_of(STAGES + turn.replace("            ", "        ")) == "main"


def test_a_chat_that_hands_on_what_is_typed_is_a_relay() -> None:
    assert entry_of(f"{STAGES}        print(query(question))\n") == "query"


def test_what_is_asked_after_the_answer_is_no_stage_of_it() -> None:
    turn = (
        "        found = query(question)\n        print(found)\n"
        "        print(explain(question, found))\n"
    )
    assert entry_of(STAGES + turn) == "query"


@pytest.mark.parametrize("shown", ["", "    print(found)\n"])
def test_a_program_that_shows_what_it_hands_on_still_has_its_stages_as_parts(
    shown: str,
) -> None:
    program = STAGES.partition("def main")[0] + (
        "def main():\n    question = sys.argv[1]\n    found = query(question)\n"
        f"{shown}    print(explain(question, found))\n"
    )
    entries = survey([Source(Path("/nowhere/agent.py"), program.encode())]).entry_points
    assert entries[0].name == "main"
    assert "part" in next(each.features for each in entries if each.name == "query")
