"""A rehearsal names the roles that one episode trains, and one of them can be left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_files import art_adapt, first_now
from test_rehearse import rehearse
from test_witnesses import rehearsed

SAY = """\
def say(role, text):
    asked = [{"role": "system", "content": role}, {"role": "user", "content": text}]
    reply = client.chat.completions.create(model="m", messages=asked)
    return reply.choices[0].message.content


"""
RUN = """\
def run_agent(question: str) -> str:
    said = ""
    for _ in range(2):
        said += say("You are a player.", question + said)
        if veto(said):
            return said
    return said
"""
# What oversees the player, and how it is named to be left out.
ROLES = {
    "a function": (
        SAY
        + 'def veto(said):\n    return "no" in say("You oversee.", said)\n\n\n'
        + RUN,
        "veto",
    ),
    "a method": (
        SAY
        + "class Overseer:\n    def looks(self, said):\n"
        + '        return "no" in say("You oversee.", said)\n\n\nveto = Overseer().looks\n\n\n'
        + RUN,
        "Overseer.looks",
    ),
    "a request of its own": (
        SAY
        + "def veto(said):\n    reply = client.chat.completions.create(\n        model='m', messages=[\n"
        + "            {'role': 'developer', 'content': 'You oversee.'},\n"
        + "            {'role': 'user', 'content': said}])\n"
        + '    return "no" in reply.choices[0].message.content\n\n\n'
        + RUN,
        "veto",
    ),
    "responses": (
        SAY
        + "def veto(said):\n    reply = client.responses.create(\n        model='m', instructions='You oversee.', input=said)\n"
        + '    return "no" in reply.output_text\n\n\n'
        + RUN,
        "veto",
    ),
    "instructions with the state": (
        SAY
        + 'def veto(said):\n    return "no" in say(f"You oversee. So far: {said}", said)\n\n\n'
        + RUN,
        "veto",
    ),
}
# Without a system message, and through another SDK.
PROMPTED = """\
def ask(text):
    asked = [{"role": "user", "content": text}]
    reply = client.chat.completions.create(model="m", messages=asked)
    return reply.choices[0].message.content


def veto(said):
    return "no" in ask("You oversee. " + said)


def move(said):
    return ask("You play. " + said)


def run_agent(question: str) -> str:
    said = question
    for _ in range(2):
        said += move(said)
        if veto(said):
            return said
    return said
"""
ROLES["prompts of users"] = (PROMPTED, "veto")
ROLES["litellm"] = (
    "import litellm\n\n\n"
    + PROMPTED.replace("client.chat.completions.create", "litellm.completion"),
    "veto",
)
ONE = {
    "one conversation of two functions, without instructions": (
        "def go_on(messages):\n"
        '    reply = client.chat.completions.create(model="m", messages=messages)\n'
        '    messages.append({"role": "assistant", "content": reply.choices[0].message.content})\n\n\n'
        "def run_agent(question: str) -> str:\n"
        '    messages = [{"role": "user", "content": question}]\n    go_on(messages)\n'
        '    messages.append({"role": "user", "content": "Sure?"})\n'
        '    reply = client.chat.completions.create(model="m", messages=messages)\n'
        "    return reply.choices[0].message.content\n"
    ),
    "one conversation of two functions": (
        "def go_on(messages):\n"
        '    reply = client.chat.completions.create(model="m", messages=messages)\n'
        '    messages.append({"role": "assistant", "content": reply.choices[0].message.content})\n\n\n'
        "def begin(question):\n"
        '    messages = [{"role": "system", "content": "You help."}, {"role": "user", "content": question}]\n'
        "    go_on(messages)\n    return messages\n\n\n"
        "def run_agent(question: str) -> str:\n    messages = begin(question)\n"
        '    messages.append({"role": "user", "content": "Sure?"})\n    go_on(messages)\n'
        '    return messages[-1]["content"]\n'
    ),
    "a state in the instructions": SAY
    + "def run_agent(question: str) -> str:\n    said = ''\n    for _ in range(2):\n"
    + '        said += say(f"You play. So far: {said}", question)\n    return said\n',
}


@pytest.mark.parametrize("kind", first_now(ROLES, 1))
def test_the_roles_of_an_episode_are_named(kind: str, tmp_path: Path) -> None:
    agent, aside = ROLES[kind]
    told = rehearsed(tmp_path, agent, "run_agent")
    roles = {role["function"]: role for role in told["figures"]["roles"]}
    assert aside in roles and len(roles) == 2, roles
    assert roles[aside]["opening"].startswith("You oversee.")
    again = art_adapt("-y", "--auxiliary", aside, "agent.py", cwd=tmp_path)
    assert again.returncode == 0, again.stderr.decode()
    _, said, _ = rehearse("agent_train.py", "--json", cwd=tmp_path)
    assert not json.loads(said)["figures"]["roles"]


@pytest.mark.wide
@pytest.mark.parametrize("kind", first_now(ONE, 1))
def test_one_role_is_not_named(kind: str, tmp_path: Path) -> None:
    assert not rehearsed(tmp_path, ONE[kind], "run_agent")["figures"]["roles"]


# Two sides that one function asks for, each with its own conversation.
SIDES = {
    "a loop": "    for side in ('a buyer, pays little', 'a seller, sells dear') * 2:\n        said = say(f'You are {side}.', question + said)\n",
    "one after the other": "    for _ in range(2):\n        said = say('You are a buyer, pays little.', question + said)\n"
    "        said = say('You are a seller, sells dear.', question + said)\n",
    "with the task": "    for _ in range(2):\n        said = say(f'You are a buyer. {question}', question + said)\n"
    "        said = say(f'You are a seller. {question}', question + said)\n",
}  # fmt: skip


@pytest.mark.wide
@pytest.mark.parametrize("kind", first_now(SIDES, 1))
def test_sides_that_one_function_asks_for_are_named(kind: str, tmp_path: Path) -> None:
    agent = f"{SAY}def run_agent(question: str) -> str:\n    said = ''\n{SIDES[kind]}    return said\n"
    told = rehearsed(tmp_path, agent, "run_agent")
    openings = [each["opening"] for each in told["figures"]["roles"]]
    assert len(openings) == 2
    assert {("buyer" in each, "seller" in each) for each in openings} == {
        (True, False),
        (False, True),
    }
    _, said, _ = rehearse("agent_train.py", cwd=tmp_path)
    assert "to keep one of them out, let a function of its own ask for it" in said


@pytest.mark.slow
def test_roles_that_are_not_shown_are_counted(tmp_path: Path) -> None:
    names = ("plan", "doubt", "count", "draw", "write", "sum_up")
    asking = "".join(
        f"def {each}(question):\n    return say('You are one of those who {each}.', question)\n\n\n"
        for each in names
    )
    called = "".join(f"    said = {each}(question)\n" for each in names)
    agent = (
        f"{SAY}{asking}def run_agent(question: str) -> str:\n{called}    return said\n"
    )
    told = rehearsed(tmp_path, agent, "run_agent")
    assert len(told["figures"]["roles"]) == 6
    _, said, _ = rehearse("agent_train.py", cwd=tmp_path)
    assert "and 2 more" in said
