"""Answers that no function returns: they are shown to somebody, or kept in a list."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from art_adapt.source import Source
from art_adapt.survey.survey import survey

AGENT = """\
def run(task, ui):
    messages = [{{"role": "user", "content": task}}]
    shown = []
    while True:
        message = client.chat.completions.create(model="m", messages=messages).choices[0].message
        messages.append(message)
        reply = message.content
{ending}
        if not message.tool_calls:
            break
        messages.append({{"role": "user", "content": "go on"}})
"""


def answers(ending: str) -> list[tuple[str, str]]:
    text = AGENT.format(ending=indent(ending, " " * 8))
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())])
    return [(exit_.answer, exit_.how) for exit_ in found.entry_points[0].exits]


@pytest.mark.parametrize(
    ("ending", "answer"),
    [
        ("print(reply)", "reply"),
        ("print(reply + '\\n')", "reply"),
        ("print('Agent: %s' % reply)", "reply"),
        ("print(f'Agent: {reply}')", "reply"),
        ("print(colored(reply, 'green'))", "reply"),
        ("console.print(Panel(Markdown(message.content)))", "message.content"),
        ("ui.chatBotMessage(reply)", "reply"),
        ("ui.show_agent_response(reply)", "reply"),
        ("ui.display(text=reply)", "reply"),
        ("await ctx.send(reply)", "reply"),
        ("message_of.reply(f'{reply}!')", "reply"),
    ],
)
def test_what_shows_an_answer_marks_it(ending: str, answer: str) -> None:
    assert answers(ending) == [(answer, "printed")]


def test_an_answer_that_is_kept_beside_the_conversation_is_marked() -> None:
    assert answers("shown.append(reply)") == [("reply", "added to shown")]


@pytest.mark.parametrize(
    "ending",
    [
        "logger.info(reply)",
        "ui.show_tool_output(reply)",
        "ui.display_thinking(reply)",
        "print(len(reply))",
        "print(f'{len(reply)} characters')",
        "sent = bus.send(reply)",
        "ui.log_message(reply)",
        "messages.append(reply)",
        "print(task)",
    ],
)
def test_what_only_reports_marks_nothing(ending: str) -> None:
    assert answers(ending) == []


TURNS = """\
def main():
    messages = []
    while True:
        messages.append({{"role": "user", "content": input()}})
        {loop}
            message = client.chat.completions.create(model="m", messages=messages).choices[0].message
            messages.append(message)
            if not message.tool_calls:
                print(message.content)
                break
            messages.append({{"role": "tool", "content": ""}})
        else:
            {otherwise}
"""


@pytest.mark.parametrize("loop", ["for _ in range(5):", "while len(messages) < 50:"])
@pytest.mark.parametrize(
    ("otherwise", "marked"),
    [
        ("print('That took too long.')", ["'That took too long.'"]),
        ("said = 'Sorry.'; print(said)", ["said"]),
        ("print('bot>', f'{5} turns')", ["f'{5} turns'"]),
        ("print()", []),
        ("print(*messages)", []),
        ("logger.warning('That took too long.')", []),
        ("messages.clear()", []),
    ],
)
def test_what_is_said_instead_of_an_answer_is_marked(
    loop: str, otherwise: str, marked: list[str]
) -> None:
    text = TURNS.format(loop=loop, otherwise=otherwise)
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())])
    exits = [each.answer for each in found.entry_points[0].exits]
    assert exits == ["message.content", *marked]


ASKED = "client.chat.completions.create(model='m', messages=history{stream})"
STREAM = f"""\
from openai import OpenAI

client = OpenAI()


class Event:
    def __init__(self, content):
        self.content = content


def chat(history):
    for chunk in {ASKED.format(stream=", stream=True")}:
        yield Event(content=chunk.choices[0].delta.content)


def reply(history):
    return {ASKED.format(stream="")}.choices[0].message.content


def main():
    history = []
    while True:
        history.append({{"role": "user", "content": input()}})
        buffer = []
        {{shows}}
        history.append({{"role": "assistant", "content": "".join(buffer)}})
"""
PIECES = [
    "for event in chat(history): print(event.content, end='')",
    "for event in chat(history): buffer.append(event.content)",
    "events = chat(history)\n        for event in events: print(event.content)",
    "for number, event in enumerate(chat(history)): print(number, event.content)",
    "for line in reply(history).splitlines(): print(line)",
    "for event in chat(history):\n            text = event.content\n            print(f'{text}')",
]


def shown(shows: str) -> list[str]:
    text = STREAM.replace("{shows}", shows)
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())])
    (main,) = (each for each in found.entry_points if each.name == "main")
    return [exit_.answer for exit_ in main.exits]


@pytest.mark.parametrize("shows", PIECES)
def test_a_piece_of_an_answer_is_none(shows: str) -> None:
    assert shown(shows) == []


@pytest.mark.parametrize(
    "ending",
    [
        "for _ in range(2): print(reply)",
        "for call in message.tool_calls or []: print(reply)",
        "for line in task.splitlines(): print(line, reply)",
    ],
)
def test_a_loop_beside_it_takes_no_answer_apart(ending: str) -> None:
    assert answers(ending) == [("reply", "printed")]
