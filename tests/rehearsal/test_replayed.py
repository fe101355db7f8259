"""A rehearsal replays a run's row with the run's replies, and compares all that is asked."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from agent_files import art_adapt, first_now
from test_as_seen import told_of
from test_rehearse import REWARD, rehearse

ASKS_WHAT_THE_RUN_ASKED = "sends the run's requests"
HEAD = """\
import asyncio
import json
import random
import sys

from openai import AsyncOpenAI, OpenAI

TOOLS = [{"type": "function", "function": {"name": "book", "parameters": {
    "type": "object", "properties": {"slot": {"type": "string", "enum": ["nine"]}},
    "required": ["slot"]}}}]


def ask(messages, **more):
    reply = OpenAI().chat.completions.create(model="m", messages=messages, **more)
    return reply.choices[0].message


"""
# Each takes a task from the command line, and is trained by its function run.
AGENTS = {
    "tools": """\
class Desk:
    def __init__(self, place="Rome"):
        self.place, self.taken = place, {}

    def book(self, slot):
        if slot in self.taken:
            return "not available"
        self.taken[slot] = True
        return "booked in " + self.place


def run(task: str, place: str = "Rome") -> str:
    desk = Desk(place)
    messages = [{"role": "system", "content": "You book."}, {"role": "user", "content": task}]
    while True:
        message = ask(messages, tools=TOOLS)
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            try:
                result = desk.book(**json.loads(call.function.arguments))
            except Exception as error:
                result = str(error)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
""",
    "side by side": """\
async def part(task: str, role: str) -> str:
    asked = [{"role": "system", "content": role}, {"role": "user", "content": task}]
    await asyncio.sleep(random.random() / 50)
    reply = await AsyncOpenAI().chat.completions.create(model="m", messages=asked)
    return str(reply.choices[0].message.content)


async def all_of(task: str) -> str:
    found = await asyncio.gather(*(part(task, role) for role in ("Plan.", "Doubt.", "Sum up.")))
    return "; ".join(found)


def run(task: str) -> str:
    return asyncio.run(all_of(task))
""",
    "responses": """\
def run(task: str) -> str:
    client = OpenAI()
    first = client.responses.create(model="m", instructions="Be brief.", input=task)
    more = client.responses.create(
        model="m", input="Shorter.", previous_response_id=first.id)
    return more.output_text
""",
    "chance": """\
def run(task: str) -> str:
    name = "".join(random.choices("abcdefgh", k=12))
    said = ask([{"role": "user", "content": f"{name} asks: {task}"}])
    return str(said.content)
""",
}
MAIN = '\n\nif __name__ == "__main__":\n    print(run(sys.argv[1]))\n'
TASK = "The one at nine, please, if there is one"


def rehearsed_after(
    folder: Path,
    agent: str,
    change: tuple[str, str] = ("", ""),
    tasks: Sequence[str] = (TASK,),
    main: str = MAIN,
) -> tuple[list[str], list[str]]:
    """Watch runs, adapt, change a text of the agent or the train module, and rehearse.

    Return what the report says of the runs: as it was, and otherwise.
    """
    (folder / "pyproject.toml").touch()
    (folder / "agent.py").write_text(HEAD + agent + main)
    (folder / "rewards.py").write_text(REWARD)
    for task in tasks:
        run = ("capture", "--scripted", "--", sys.executable, "agent.py", task)
        done = art_adapt(*run, cwd=folder)
        assert done.returncode == 0, done.stderr.decode()
    adapting = ("--isolated", "--reward", "rewards:f", "agent.py")
    done = art_adapt(*adapting, cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    was, now = change
    files = [folder / "agent.py", folder / "agent_train.py"]
    texts = [file.read_text() for file in files]
    assert any(was in text for text in texts), was
    for file, text in zip(files, texts, strict=True):
        file.write_text(text.replace(was, now) if was else text)
    alike, apart = told_of(folder, "run")
    return [each for each in alike if ASKS_WHAT_THE_RUN_ASKED in each], apart


@pytest.mark.parametrize("kind", first_now(["tools", "side by side", "responses"]))
def test_an_episode_as_the_run_asks_what_it_asked(kind: str, tmp_path: Path) -> None:
    alike, apart = rehearsed_after(tmp_path, AGENTS[kind])
    assert alike and not apart, apart


# What is changed after the run: of what agent, how, and what is said of it.
CHANGED = {
    "a default in place of what the run gave": (
        "tools",
        ("Desk(place)", "Desk('Paris')"),
        "the message of the tool was 'booked in Rome' in the run that was seen, and is 'booked "
        "in Paris' in the episode of its row",
    ),
    "a number in the prompt": (
        "tools",
        ('"You book."', '"You book 3 at most."'),
        "the prompt was 'You book.'",
    ),
    "an object that is shared, and full": (
        "tools",
        (
            "    desk = Desk(place)\n",
            "    desk = Desk(place)\n    desk.taken['nine'] = 1\n",
        ),
        "the message of the tool was 'booked in Rome'",
    ),
    "one of several side by side": (
        "side by side",
        ('"Doubt.", ', ""),
        "the run asked 3 times for its row, an episode of that row 2 times",
    ),
    "the prompt of a response": (
        "responses",
        ("Be brief.", "Be long."),
        "the prompt was 'Be brief.'",
    ),
    "what follows a response": (
        "responses",
        ("Shorter.", "Longer."),
        "the message of the user was 'Shorter.'",
    ),
    "an error": (
        "tools",
        ("        if slot in", "        raise SystemError('down')\n        if slot in"),
        "the message of the tool was 'booked in Rome' in the run that was seen, and is 'down'",
    ),
    "an error that ends it": (
        "tools",
        ("final_answer(message.content)", "final_answer(json.loads('down'))"),
        "with the replies of the watched run, an episode of its row failed: ",
    ),
    "another answer": (
        "responses",
        ("more.output_text", '"the end"'),
        "the run returned ",
    ),
}


@pytest.mark.parametrize("what", first_now(CHANGED))
def test_what_an_episode_asks_otherwise_is_said(what: str, tmp_path: Path) -> None:
    kind, change, said = CHANGED[what]
    alike, apart = rehearsed_after(tmp_path, AGENTS[kind], change)
    assert not alike
    assert any(each.startswith(said) for each in apart), apart


# What is changed after the run, and whether that is a finding: nothing comes before it.
FOUND = {
    "a prompt": ("tools", ('"You book."', '"You sell."'), True),
    "the task": ("tools", ('"content": task}', '"content": "Book."}'), True),
    "fewer requests": ("side by side", ('"Doubt.", ', ""), True),
    "a number": ("tools", ('"You book."', '"You book 3."'), False),
    "what a tool says": ("tools", ('"booked in "', '"sold in "'), False),
    "another order": ("responses", ("Be brief.", "brief. Be"), False),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", FOUND)
def test_an_episode_that_starts_otherwise_is_a_finding(
    what: str, tmp_path: Path
) -> None:
    kind, change, is_found = FOUND[what]
    _, apart = rehearsed_after(tmp_path, AGENTS[kind], change)
    _, said, _ = rehearse("agent_train.py", "--json", cwd=tmp_path)
    found = {each["name"] for each in json.loads(said)["findings"]}
    assert ("otherwise" in found) is is_found, said
    assert apart or what == "another order", apart


SLOW = """\
import time


def run(task: str) -> str:
    said = ""
    for part in ("Plan.", "Do.", "Check."):
        time.sleep(PAUSE)
        said = str(ask([{"role": "user", "content": f"{part} {task} {said}"}]).content)
    return said
"""


@pytest.mark.slow
def test_a_replay_that_takes_too_long_is_not_compared(tmp_path: Path) -> None:
    """Its run was quick: the episode is stopped, and nothing is said of what it asked."""
    quick = SLOW.replace("PAUSE", "0.01")
    alike, apart = rehearsed_after(tmp_path, quick, ("sleep(0.01)", "sleep(5)"))
    assert not alike and not any("asked" in each for each in apart), apart
    _, said, _ = rehearse("agent_train.py", "--json", cwd=tmp_path)
    assert "is run again ends in time" in said and "no row has" not in said


MANY = """\
def run(task: str) -> str:
    said = ""
    for number in range(320):
        said = str(ask([{"role": "user", "content": f"{number} {task}"}]).content)
    return said
"""


@pytest.mark.slow
def test_a_long_episode_that_a_run_has_shown_to_end_is_no_endless_one(
    tmp_path: Path,
) -> None:
    rehearsed_after(tmp_path, MANY)
    _, said, _ = rehearse("agent_train.py", "--json", "--steps", "1", cwd=tmp_path)
    found = {each["name"] for each in json.loads(said)["findings"]}
    assert "endless" not in found


@pytest.mark.slow
def test_what_chance_draws_is_not_compared(tmp_path: Path) -> None:
    alike, apart = rehearsed_after(tmp_path, AGENTS["chance"])
    assert alike and not any("was" in each and "in the run" in each for each in apart)


LEAVING = """\
SAID = []


def run(task: str) -> str:
    SAID.append(task)
    said = ask([{"role": "user", "content": " and ".join(SAID)}])
    return str(said.content)
"""
TWICE = MAIN.replace("print(run(sys.argv[1]))", "print([run(t) for t in sys.argv[1:]])")


@pytest.mark.slow
def test_a_later_row_lacks_what_an_earlier_episode_left(tmp_path: Path) -> None:
    """The run's second episode was told of the first; the row's own is not."""
    two = TWICE.replace("sys.argv[1:]", "('The first of all', 'The second one')")
    alike, apart = rehearsed_after(tmp_path, LEAVING, main=two)
    assert not alike
    assert any("'The first of all and The second one'" in e for e in apart), apart


@pytest.mark.slow
def test_a_row_that_was_edited_is_not_the_runs(tmp_path: Path) -> None:
    alike, apart = rehearsed_after(tmp_path, AGENTS["tools"])
    rows = tmp_path / "scenarios.jsonl"
    row = json.loads(rows.read_text())
    rows.write_text(json.dumps({**row, "task": "The one at ten, if it is free"}))
    alike, apart = told_of(tmp_path, "run")
    assert not any(ASKS_WHAT_THE_RUN_ASKED in each for each in alike) and not apart


@pytest.mark.wide
@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"captured": None}, "no row has the key `captured`"),
        ({"task": "The one at ten, if it is free"}, "or do not fit them"),
    ],
)
def test_why_no_episode_was_compared_is_said(
    change: dict[str, Any], why: str, tmp_path: Path
) -> None:
    rehearsed_after(tmp_path, AGENTS["tools"])
    rows = tmp_path / "scenarios.jsonl"
    rows.write_text(json.dumps({**json.loads(rows.read_text()), **change}))
    _, said, _ = rehearse("agent_train.py", "--json", "--steps", "1", cwd=tmp_path)
    (told,) = (e for e in json.loads(said)["unwitnessed"] if "was compared with" in e)
    assert why in told


LISTING = """\
import os


def run(task: str) -> str:
    asked = [{"role": "user", "content": f"{task} Files: {' '.join(sorted(os.listdir('.')))}"}]
    return str(ask(asked).content)
"""


@pytest.mark.slow
def test_files_that_art_adapt_has_written_since_are_no_difference(
    tmp_path: Path,
) -> None:
    alike, apart = rehearsed_after(tmp_path, LISTING)
    assert alike and not apart, apart


@pytest.mark.slow
def test_a_difference_is_quoted_where_it_is_beside_such_files(tmp_path: Path) -> None:
    agent = LISTING.replace("{task} Files: ", "Files: ").replace(
        "'.')))}", "'.')))} Stay calm, {task}"
    )
    _, apart = rehearsed_after(tmp_path, agent, ("Stay calm", "Stay loud"))
    assert any("rewards.py Stay loud, " in each for each in apart), apart
