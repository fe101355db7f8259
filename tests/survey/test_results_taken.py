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


@pytest.mark.parametrize(
    ("first", "returned", "answer"),
    [
        ("key = uuid.uuid4().hex", "key, text", "text"),
        ("key = None", "text, key or task", "text"),
        ("turns = 0", "turns, text.strip()", "text.strip()"),
        ("found = search(task)", "text, found", "text"),
        # What the model said decides the others, too.
        ("key = None", "text, len(text)", "(text, len(text))"),
        ("key = None", "text, lookup(text)", "(text, lookup(text))"),
        ("key = None", "text, reply.usage", "(text, reply.usage)"),
        (
            "key = None",
            "key, reply.usage.total_tokens",
            "(key, reply.usage.total_tokens)",
        ),
        ("key = None", "key, 'DONE' in text", "(key, 'DONE' in text)"),
        ("key = None", "task, key", "(task, key)"),
    ],
)
def test_the_only_element_that_the_model_said_is_the_answer(
    first: str, returned: str, answer: str
) -> None:
    """Its callers show nothing: a web handler puts both into a record."""
    text = TUPLE.format(using="    return Reply(*run(input()))", kind="")
    text = text.replace("    reply =", f"    {first}\n    reply =", 1)
    assert answers(text.replace("text, reply.usage", returned, 1)) == [answer]


ANNOTATED = {
    "tuple[str | None, str]": "(text, url)",
    "tuple[Optional[str], str]": "(text, url)",
    "Tuple[str, Optional[str]]": "(text, url)",
    "'tuple[str | None, str]'": "(text, url)",
    "tuple[str | None, dict]": "text",
    "tuple[dict, Optional[str]]": "url",
    "tuple[str, dict]": "text",
}


@pytest.mark.parametrize("annotation", ANNOTATED)
def test_a_text_that_may_be_missing_is_a_text(annotation: str) -> None:
    text = TUPLE.format(using="    return Reply(*run(input()))", kind="")
    text = text.replace("run(task):", f"run(task) -> {annotation}:", 1)
    text = text.replace("return text, reply.usage", "return text, url", 1)
    text = text.replace("    text = ", "    url = draw(reply)\n    text = ", 1)
    assert answers(text) == [ANNOTATED[annotation]]


STATISTICS = {
    "of another element": "answer, usage = run(input())\nprint(usage)\nstore(answer)",
    "of its length": "answer, usage = run(input())\nprint(len(answer))",
    "as a condition": "answer, usage = run(input())\nprint('done' if answer else 'failed')",
}


@pytest.mark.parametrize("using", STATISTICS.values(), ids=STATISTICS)
def test_what_is_shown_of_the_rest_is_no_answer(using: str) -> None:
    text = TUPLE.format(using=indent(using, "    "), kind="")
    assert answers(text) == ["(text, reply.usage)"]


def test_another_function_of_the_name_is_another_one() -> None:
    """asyncio.run(main()) exits with what main() returns, and no method run() with it."""
    text = (
        f"{HEAD}class Agent:\n    async def run(self, task):\n"
        '        reply = client.chat.completions.create(model="m", messages=[{"role": "user", "content": task}])\n'
        "        return reply.choices[0].message.content.strip()\n\n\n"
        "async def main():\n    print(await Agent().run(input()))\n\n\n"
        "if __name__ == '__main__':\n    sys.exit(asyncio.run(main()))\n"
    )
    shown = ["reply.choices[0].message.content.strip()"]
    assert answers(text, "Agent.run") == shown


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
def test_an_argument_that_stays_as_it_was_is_no_answer(kind: str) -> None:
    assert answers(GIVEN.format(kind=kind, ending="    return ticket")) == []


@pytest.mark.parametrize(
    ("kind", "ending"),
    [
        ("dict", "ticket['label'] = label\n    return ticket"),
        ("str", "ticket = ticket + label\n    return ticket"),
        ("str", "return {'id': ticket, 'answer': label}"),
        ("str", "return {'label': 'spam', 'ticket': ticket}"),
    ],
)
def test_an_argument_that_holds_what_was_said_is_the_answer(
    kind: str, ending: str
) -> None:
    returned = ending.rpartition("return ")[2]
    assert answers(GIVEN.format(kind=kind, ending=f"    {ending}")) == [returned]


def test_each_tuple_has_its_answer_in_the_same_place() -> None:
    """What gives up returns a tuple as well: a reward would get a text and a tuple."""
    using = indent("answer, usage = run(input())\nprint(answer)", "    ")
    gives_up = TUPLE.format(using=using, kind="").replace(
        "    text = ",
        "    if not reply.choices:\n        return 'I gave up.', None\n    text = ",
    )
    assert answers(gives_up) == ["'I gave up.'", "text"]
