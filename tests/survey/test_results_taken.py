"""What callers take of a result: one element of a tuple, or an exit code."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from art_adapt.source import Source
from art_adapt.survey.survey import survey

HEAD = """\
import asyncio
import sys

from openai import OpenAI

client = OpenAI()


"""
TUPLE = (
    HEAD
    + """\
{kind}def run(task):
    reply = client.chat.completions.create(model="m", messages=[{{"role": "user", "content": task}}])
    text = reply.choices[0].message.content
    return text, reply.usage


{kind}def main():
{using}
"""
)


def answers(text: str, name: str = "run") -> list[str]:
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())])
    entry = next(each for each in found.entry_points if each.name == name)
    return [each.answer for each in entry.exits]


@pytest.mark.parametrize(
    "using",
    [
        "answer, usage = run(input())\nprint(answer)",
        "answer, usage = run(input())\nprint(f'{answer} ({usage})')",
        "print(run(input())[0])",
        "print(run(task=input())[-2])",
        "(answer, _) = run(input())\nif answer:\n    print('>', answer.strip())",
    ],
)
@pytest.mark.parametrize("kind", ["", "async "])
def test_the_element_that_callers_show_is_the_answer(using: str, kind: str) -> None:
    if kind:
        using = using.replace("run(", "(await run(", 1).replace("())", "()))", 1)
    text = TUPLE.format(using=indent(using, "    "), kind=kind)
    assert answers(text) == ["text"]


@pytest.mark.parametrize(
    "using",
    [
        "store(run(input()))",
        "answer, usage = run(input())\nstore(answer)",
        "pair = run(input())\nprint(pair)",
    ],
)
def test_a_tuple_of_which_nothing_is_shown_stays_whole(using: str) -> None:
    text = TUPLE.format(using=indent(using, "    "), kind="")
    assert answers(text) == ["(text, reply.usage)"]


CODE = (
    HEAD
    + """\
def main(tasks):
    failures = 0
    for task in tasks:
        reply = client.chat.completions.create(model="m", messages=[{{"role": "user", "content": task}}])
        print(reply.choices[0].message.content)
        failures += not reply.choices
    return {result}


{start}
"""
)


@pytest.mark.parametrize(
    "result", ["failures", "1 if failures else 0", "min(failures, 1)"]
)
@pytest.mark.parametrize(
    "start",
    ["sys.exit(main(sys.argv[1:]))", "raise SystemExit(main(sys.argv[1:]))"],
)
def test_an_exit_code_is_no_answer(result: str, start: str) -> None:
    guarded = f"if __name__ == '__main__':\n    {start}"
    shown = ["reply.choices[0].message.content"]
    assert answers(CODE.format(result=result, start=guarded), "main") == shown


def test_a_result_that_the_program_goes_on_with_is_the_answer() -> None:
    kept = "if __name__ == '__main__':\n    print(main(sys.argv[1:]))"
    assert answers(CODE.format(result="failures", start=kept), "main") == ["failures"]


GIVEN = (
    HEAD
    + """\
def ask(text):
    reply = client.chat.completions.create(model="m", messages=[{{"role": "user", "content": text}}])
    return reply.choices[0].message.content


def run(ticket: {kind}, note="") -> object:
    label = ask(str(ticket))
    store(label)
{ending}
"""
)


@pytest.mark.parametrize("kind", ["str", "int", "uuid.UUID"])
@pytest.mark.parametrize(
    "ending",
    [
        "return ticket",
        "return {'status': 'ok', 'ticket': ticket}",
        "return {'id': ticket}",
    ],
)
def test_an_argument_that_stays_as_it_was_is_no_answer(kind: str, ending: str) -> None:
    text = GIVEN.format(kind=kind, ending=f"    {ending}")
    assert answers(text) == []


@pytest.mark.parametrize(
    ("kind", "ending"),
    [
        ("dict", "ticket['label'] = label\n    return ticket"),
        ("str", "ticket = ticket + label\n    return ticket"),
        ("str", "return {'id': ticket, 'answer': label}"),
    ],
)
def test_an_argument_that_holds_what_was_said_is_the_answer(
    kind: str, ending: str
) -> None:
    returned = ending.rpartition("return ")[2]
    assert answers(GIVEN.format(kind=kind, ending=f"    {ending}")) == [returned]
