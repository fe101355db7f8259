"""What a function returns that is the model's answer, and what is none."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from art_adapt.source import Source
from art_adapt.survey.survey import survey

AGENT = """\
from dataclasses import dataclass

from openai import OpenAI

client = OpenAI()


@dataclass
class Result:
    answer: str
    turns: int
    status: str = ""


def run(task):
    messages = [{{"role": "user", "content": task}}]
    if task == "reset":
        return {reset}
    for turn in range(5):
        reply = client.chat.completions.create(model="m", messages=messages, tools=[]).choices[0].message
        messages.append(reply)
        if not reply.tool_calls:
            return {answer}
        messages.append({{"role": "tool", "tool_call_id": "1", "content": "ok"}})
    return {end}
"""


def answers(
    answer: str = "reply.content", reset: str = "None", end: str = "None"
) -> list[str]:
    text = AGENT.format(answer=answer, reset=reset, end=end)
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())])
    return [exit_.answer for exit_ in found.entry_points[0].exits]


@pytest.mark.parametrize("end", ["''", "'awaiting_input'", "None", "True"])
def test_a_word_beside_an_answer_is_a_status(end: str) -> None:
    assert answers(reset="'cleared'", end=end) == ["reply.content"]


def test_a_sentence_is_an_answer_that_somebody_reads() -> None:
    end = "'I do not know.'"
    assert answers(end=end) == ["reply.content", end]


def test_a_fixed_text_is_the_answer_where_nothing_else_is() -> None:
    assert answers("'done'") == ["'done'"]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Result(reply.content, turn)", "reply.content"),
        ("Result(answer=reply.content, turns=turn)", "reply.content"),
        ("Result(reply.content or '', turn, 'answered')", "reply.content or ''"),
        ("Result(f'{reply.content}', turn)", "reply.content"),
    ],
)
@pytest.mark.parametrize(
    "end",
    ["Result('out of turns', 5, 'max')", "Result(answer='out of turns', turns=5)"],
)
def test_the_answer_in_a_record_is_the_text(answer: str, text: str, end: str) -> None:
    """The record that ends without a reply has its answer in the same field."""
    assert answers(answer, end=end) == [text, "'out of turns'"]


@pytest.mark.parametrize("end", ["Result(None, 5)", "Result('', 5)", "None"])
def test_a_record_without_an_answer_has_none(end: str) -> None:
    assert answers("Result(reply.content, turn)", end=end) == ["reply.content"]


def test_a_record_that_shows_no_reply_is_the_answer_as_a_whole() -> None:
    assert answers("Result(tidy(reply), turn)") == ["Result(tidy(reply), turn)"]


@pytest.mark.parametrize(
    "end", ["rewards", "episode_rewards", "{'reward': reward}", "events()", "shown"]
)
def test_rewards_and_streams_are_no_answers(end: str) -> None:
    below = "\n\ndef events():\n    yield 'started'\n\n\nshown = events()\n"
    text = AGENT.format(answer="reply.content", reset="None", end=end) + below
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())])
    assert [e.answer for e in found.entry_points[0].exits] == ["reply.content"]


@pytest.mark.parametrize("end", ["messages", "messages[1:]"])
def test_a_conversation_is_no_answer(end: str) -> None:
    assert answers(end, end=end) == []


PRINTED = """\
import litellm


def plan(task):
    messages = [{"role": "user", "content": task}]
    for _ in range(10):
        reply = litellm.completion(model="m", messages=messages, tools=[])
        message = reply["choices"][0]["message"]
        BODY
        messages.append(message)
"""


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        # Said on the way, and said at the end.
        (
            "if message['content']:\n    print('so far', message['content'])\n"
            "if not message['tool_calls']:\n    print(message['content'])\n    break",
            [12],
        ),
        ("print(message['content'])", [9]),
        (
            "if message['tool_calls']:\n    print('Tools:')\nelse:\n    print(message['content'])\n    return",
            [12],
        ),
        # A goodbye is no answer that ends the loop.
        (
            "print(message['content'])\nif input() == 'bye':\n    print('Goodbye!')\n    break",
            [9],
        ),
    ],
)
def test_of_printed_answers_those_count_after_which_it_ends(
    body: str, lines: list[int]
) -> None:
    indented = body.replace("\n", "\n        ")
    text = dedent(PRINTED).replace("BODY", indented)
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())])
    assert [e.place.line for e in found.entry_points[0].exits] == lines


OWN = """\
class Result:
    def __init__(self, turns, answer):
        self.turns, self.answer = turns, answer
"""
BASED = """\
@dataclass
class Base:
    turns: int


@dataclass
class Result(Base):
    answer: str = ""
"""


@pytest.mark.parametrize("record", [OWN, BASED])
def test_a_field_is_known_by_what_makes_the_record(record: str) -> None:
    start, end = AGENT.index("@dataclass"), AGENT.index("def run")
    agent = f"{AGENT[:start]}{record}\n\n{AGENT[end:]}"
    text = agent.format(
        answer="Result(turns=turn, answer=reply.content)",
        reset="None",
        end="Result(turn, 'out of turns')",
    )
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())])
    marked = [each.answer for each in found.entry_points[0].exits]
    assert marked == ["reply.content", "'out of turns'"]


def test_another_record_has_its_answer_nowhere() -> None:
    agent = AGENT.replace(
        "def run", "class Failed:\n    def __init__(self, code): ...\n\n\ndef run"
    )
    text = agent.format(
        answer="Result(reply.content, 1)", reset="None", end="Failed(3)"
    )
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())])
    assert [e.answer for e in found.entry_points[0].exits] == ["reply.content"]


COMMAND = """\
import argparse
import asyncio

from openai import AsyncOpenAI, OpenAI

client = {client}()


{start} chat(task):
    messages = [{{"role": "user", "content": task}}]
    while True:
        completion = {wait}client.chat.completions.create(model="m", messages=messages, tools=[])
        reply = completion.choices[0].message
        messages.append(reply)
        if not reply.tool_calls:
            {end}
        messages.append({{"role": "tool", "tool_call_id": "1", "content": "ok"}})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("task")
    return {called}


if __name__ == "__main__":
    main()
"""
SYNC = {"client": "OpenAI", "start": "def", "wait": ""}
ASYNC = {"client": "AsyncOpenAI", "start": "async def", "wait": "await "}
PRINTS = "print(reply.content)\n            return"
CALLED = "chat(parser.parse_args().task)"


@pytest.mark.parametrize(
    ("end", "called", "how", "expected"),
    [
        (PRINTS, CALLED, SYNC, []),
        (PRINTS, f"asyncio.run({CALLED})", ASYNC, []),
        ("return reply.content", CALLED, SYNC, ["returned"]),
        ("return reply.content", f"asyncio.run({CALLED})", ASYNC, ["returned"]),
    ],
)
def test_what_prints_and_returns_nothing_is_no_answer(
    end: str, called: str, how: dict[str, str], expected: list[str]
) -> None:
    text = COMMAND.format(end=end, called=called, **how)
    source = Source(Path("/nowhere/agent.py"), text.encode())
    entries = survey([source], entry="agent:main").entry_points
    [main] = [each for each in entries if each.called == "main"]
    assert [exit_.how for exit_ in main.exits] == expected


# What a run returns beside its answer, which is made of what the model said as well.
OF_SEVERAL = """\
from dataclasses import dataclass

from openai import OpenAI

client = OpenAI()


@dataclass
class Block:
    text: str


def complete(messages):
    message = client.chat.completions.create(model="m", messages=messages, tools=[]).choices[0].message
    return message, [Block(message.content)]


def run(task){annotation}:
    messages, trace, calls = [{{"role": "user", "content": task}}], [], 0
    for turn in range(5):
        message, blocks = complete(messages)
        messages.append(message)
        trace.append(blocks)
        if not message.tool_calls:
            text = "".join(block.text for block in blocks)
            return {returned}
        messages.append({{"role": "tool", "tool_call_id": "1", "content": "ok"}})
    return {end}
"""


@pytest.mark.parametrize(
    ("annotation", "returned", "end", "expected"),
    [
        (" -> tuple[str, list]", "text, trace", "'Out of turns.', trace", "text"),
        (" -> Tuple[list, str]", "trace, text", "trace, 'Out of turns.'", "text"),
        (" -> 'tuple[str, list]'", "text, trace", "'', trace", "text"),
        ("", "text, trace", "'Out of turns.', trace", "(text, trace)"),
        (" -> tuple[str, str]", "text, str(trace)", "'', ''", "(text, str(trace))"),
    ],
)
def test_of_several_the_one_that_is_annotated_as_a_text_is_the_answer(
    annotation: str, returned: str, end: str, expected: str
) -> None:
    text = OF_SEVERAL.format(annotation=annotation, returned=returned, end=end)
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())])
    assert found.entry_points[0].exits[0].answer == expected


RECORD = '{{"answer": {answer}, "trace": {trace}, "turns": len(messages)}}'


def test_a_dict_with_the_conversation_has_the_answer_in_it() -> None:
    said, end = (
        RECORD.format(answer=each, trace="messages")
        for each in ("reply.content", "'Out of turns.'")
    )
    assert answers(said, end=end) == ["reply.content", "'Out of turns.'"]


def test_a_dict_without_it_is_the_answer() -> None:
    said = RECORD.format(answer="reply.content", trace="[turn]")
    (found,) = answers(said)
    assert found.startswith("{")


def test_a_conversation_that_a_helper_is_handed_is_one_as_well() -> None:
    text = (
        "from openai import OpenAI\n\n\ndef ask(messages):\n"
        "    return OpenAI().chat.completions.create(model='m', messages=messages).choices[0].message\n\n\n"
        "class Agent:\n    def run(self, task):\n"
        "        self.messages, said = [], None\n"
        "        self.messages.append({'role': 'user', 'content': task})\n"
        "        for turn in range(5):\n"
        "            message = ask(messages=self.messages)\n"
        "            self.messages.append(message)\n"
        "            if not message.tool_calls:\n                said = message.content\n                break\n"
        "        return {'answer': said, 'trace': self.messages}\n"
    )
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())])
    assert [each.answer for each in found.entry_points[0].exits] == ["said"]


@pytest.mark.parametrize(
    "record",
    [
        '{"thought": reply.content, "answer": reply.content[:9], "trace": messages}',
        '{"answer": None, "last": reply.content, "trace": messages}',
    ],
)
def test_a_dict_with_several_parts_of_a_reply_is_whole(record: str) -> None:
    other = '{"answer": reply.content, "trace": messages}'
    found = answers(record.replace("{", "{{").replace("}", "}}").format(), end=other)
    assert found[0].startswith("{")
