"""A rehearsal reports requests and replies that an engine would not read, or ART not train."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_files import first_now
from test_witnesses import HEAD, RIGHT, rehearsed

from art_adapt.conversation_signs import (
    calls_without_reply,
    replies_without_call,
    unread_call,
    unread_thinking,
)

SENT = "        message = ask(messages).choices[0].message\n"
NOTES = "NOTES: list[str] = []\n\n\ndef look(city: str) -> str:\n    NOTES.append(city)\n    return str(NOTES)\n\n\n"
BOARD = (
    "class Board:\n    seen = {}\n\n    def add(self, city):\n"
    "        self.seen[city] = len(city)\n        return self.seen\n\n\n"
    "def look(city: str) -> str:\n    return json.dumps(Board().add(city))\n\n\n"
)
DATABASE = (
    "import sqlite3\n\n\ndef look(city: str) -> str:\n"
    '    with sqlite3.connect("weather.db") as db:\n'
    '        return str(db.execute("SELECT sky FROM weather").fetchall())\n\n\n'
)
MISSING = 'def look(city: str) -> str:\n    return open("/srv/weather/" + str(len(city))).read()\n\n\n'

SWALLOWED = (
    "def look(city: str) -> str:\n    try:\n"
    '        return open("/srv/weather/" + city).read()\n    except Exception:\n        return ""\n\n\n'
)


CAPITALS = """\
def run_agent(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    for _ in range(3):
        said = ask(messages).choices[0].message.content or ""
        messages.append({"role": "assistant", "content": said.upper()})
        messages.append({"role": "user", "content": "Go on."})
    return said
"""
# What comes near to one of these and is right.
RIGHT_TOO = {
    "a file is not there that the model made up": (
        'def look(city: str) -> str:\n    return open(f"skies/{city}.txt").read()\n\n\n'
        + RIGHT.replace("str(error)", "repr(error)")
    ),
    "the last request has no tools": """\
def run_agent(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    message = ask(messages).choices[0].message
    if not message.tool_calls:
        return message.content
    messages.append(message)
    for call in message.tool_calls:
        messages.append({"role": "tool", "tool_call_id": call.id, "content": "sunny"})
    look("Rome")
    return client.chat.completions.create(model="m", messages=messages).choices[0].message.content
""",
    "a stream is left early": """\
def run_agent(question: str) -> str:
    messages, said = [{"role": "user", "content": question}], ""
    with client.chat.completions.create(model="m", messages=messages, stream=True) as stream:
        for chunk in stream:
            said += chunk.choices[0].delta.content or ""
            if len(said) > 3:
                break
    return said
""",
    "a step is told what the step before said": """\
def say(messages):
    return client.chat.completions.create(model="m", messages=messages).choices[0].message.content


def run_agent(question: str) -> str:
    rules = {"role": "system", "content": "Help."}
    first = say([rules, {"role": "user", "content": f"Extract: {question}"}])
    second = say([{"role": "assistant", "content": first}, {"role": "user", "content": "Rate that."}])
    told = [rules, {"role": "assistant", "content": second}, {"role": "user", "content": "Sum up."}]
    return say(told)
""",
    "one request is asked several times": """\
def run_agent(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    said = [
        client.chat.completions.create(model="m", messages=messages).choices[0].message.content
        for _ in range(3)
    ]
    return max(said, key=len)
""",
    "scenarios begin alike": """\
def run_agent(question: str) -> str:
    messages = [{"role": "system", "content": "Help."}, {"role": "user", "content": "Answer."}]
    for text in ("hello", question):
        messages.append({"role": "user", "content": text})
        message = client.chat.completions.create(model="m", messages=messages).choices[0].message
        messages.append(message)
    return message.content
""",
}


def changed(*changes: tuple[str, str]) -> str:
    """Return the right agent with other lines."""
    agent = RIGHT
    for old, new in changes:
        assert old in agent, old
        agent = agent.replace(old, new)
    return agent


# What is wrong with an agent, and the finding that says so.
WRONG = {
    "its own replies are left out": (
        """\
def run_agent(question: str) -> str:
    messages = [{"role": "system", "content": "Help."}]
    for at in range(3):
        messages.append({"role": "user", "content": f"{question} ({at})"})
        reply = client.chat.completions.create(model="m", messages=messages)
    return reply.choices[0].message.content
""",
        "history a turn",
    ),
    "a request grows by what tools say alone": (
        """\
def run_agent(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    for at in range(4):
        said = client.chat.completions.create(model="m", messages=messages).choices[0].message.content
        messages.append({"role": "user", "content": f"That is {len(said)} letters long."})
    return said
""",
        "history a turn",
    ),
    "messages are cut to the last two": (
        changed((SENT, f"        messages = messages[:1] + messages[1:][-2:]\n{SENT}")),
        "reply without a call",
    ),
    "old replies stay, old turns go": (
        changed(
            (
                SENT,
                '        kept = [m for m in messages if not getattr(m, "tool_calls", None)]\n'
                + SENT.replace("messages", "kept"),
            )
        ),
        "reply without a call",
    ),
    "a call is left without its reply": (
        changed(("for call in message.tool_calls:", "for call in message.tool_calls[1:]:")),
        "call without a reply",
    ),
    "the first message is written anew": (
        changed(
            (
                SENT,
                '        messages[0] = {"role": "user", "content": f"{question} {len(messages)}"}\n'
                + SENT,
            )
        ),
        "history a turn",
    ),
    "replies are sent back in capitals": (CAPITALS, "history a turn"),
    "an image is sent": (
        changed(
            (
                '"content": question',
                '"content": [{"type": "text", "text": question}, {"type": "image_url", '
                '"image_url": {"url": "data:image/png;base64,AAAA"}}]',
            )
        ),
        "not text",
    ),
    "a template comes with the request": (
        changed(("ask(messages)", 'ask(messages, extra_body={"chat_template": "{{ messages }}"})')),
        "chat template",
    ),
    "a model beside it calls the tools": (
        "def plan(messages):\n    return client.chat.completions.create(  # art: auxiliary\n"
        '        model="big", messages=messages, tools=TOOLS\n    )\n\n\n'
        + changed((SENT, SENT.replace("ask(messages)", "(ask if len(messages) > 1 else plan)(messages)"))),
        "side job",
    ),
    "a list is shared by what tools write": (f"{NOTES}{RIGHT}", "kept"),
    "a class holds what tools write": (f"{BOARD}{RIGHT}", "kept"),
    "a database has no table": (f"{DATABASE}{RIGHT}", "tool fails"),
    "a file is not here": (f"{MISSING}{RIGHT}", "tool fails"),
    "every error of a tool is an empty reply": (f"{SWALLOWED}{RIGHT}", "tool fails"),
}  # fmt: skip
ASKS_WITH_MORE = HEAD.replace(
    "def ask(messages):", "def ask(messages, **more):"
).replace("tools=TOOLS)", "tools=TOOLS, **more)")


@pytest.mark.parametrize("name", first_now(WRONG, 6))
def test_what_spoils_training_is_found(tmp_path: Path, name: str) -> None:
    agent, finding = WRONG[name]
    # Reading gives what is shared a process for each episode: the sign is for what it misses.
    isolate = "none" if finding == "kept" else None
    told = rehearsed(tmp_path, agent, "run_agent", head=ASKS_WITH_MORE, isolate=isolate)
    assert finding in [each["name"] for each in told["findings"]], told["findings"]
    if name == "a database has no table":
        assert any("weather.db" in each for each in told["unwitnessed"])
        (place,) = [e for e in told["findings"] if e["name"] == finding]
        assert place["path"].endswith("agent.py"), place  # where look() is


@pytest.mark.parametrize("name", first_now(RIGHT_TOO))
def test_what_only_comes_near_is_not_found(tmp_path: Path, name: str) -> None:
    told = rehearsed(tmp_path, RIGHT_TOO[name], "run_agent")
    assert told["findings"] == []


@pytest.mark.parametrize(
    "said",
    first_now(
        [
            '<tool_call>\n{"name": "look", "arguments": {"city": "Rome"}}\n</tool_call>',
            "<function=look><parameter=city>Rome</parameter></function>",
            '[TOOL_CALLS] [{"name": "look", "arguments": {"city": "Rome"}}]',
        ]
    ),
)
def test_calls_that_no_parser_read_are_found(tmp_path: Path, said: str) -> None:
    rows = [{"content": f"{said} {at}"} for at in range(9)]
    replies = tmp_path / "replies.jsonl"
    replies.write_text("\n".join(map(json.dumps, rows)))
    told = rehearsed(tmp_path, RIGHT, "run_agent", "--replies", str(replies))
    assert told["findings"][0]["name"] == "unread calls", told["findings"]


TURNS = """\
def run_agent(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    for _ in range(6):
        message = ask(messages).choices[0].message
        calls = message.tool_calls or []
        if not calls:
            return message.content
        REPLY
        for call in calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "sunny"})
"""
# How an agent sends the model's replies back, and what is said of the messages that differ.
CAUSES = {
    "a message for each call": (
        'messages += [{"role": "assistant", "tool_calls": [each]} for each in calls]',
        "sends the model's tool calls back in a message each (assistant: 'I look.' and calls of look, "
        "look, later assistant: calls of look)",
    ),
    "calls without the text": (
        'messages.append({"role": "assistant", "content": None, "tool_calls": calls})',
        "leaves out the text beside the model's tool calls (assistant: 'I look.' and",
    ),
    "other spaces": (
        'messages.append({"role": "assistant", "content": "I   look.", "tool_calls": calls})',
        "sends the model's replies back in another form",
    ),
    "a heading": (
        'messages.append({**message.model_dump(), "content": f"Turn: {message.content}"})',
        "changes the model's replies before it sends them back (assistant: 'I look.' and calls of "
        "look, look, later assistant: 'Turn: I look.' and calls",
    ),
    "an edited task": (
        'messages += [message]; messages[0] = {"role": "user", "content": f"{len(messages)} {question}"}',
        "changes messages that it has already sent (user: ",
    ),
    "as it came": ("messages.append(message)", ""),
    "copied whole": ("messages.append(message.model_dump(exclude_none=True))", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", first_now(CAUSES, 3))
def test_the_message_that_opens_a_history_is_named(tmp_path: Path, name: str) -> None:
    line, said = CAUSES[name]
    call = {"name": "look", "arguments": {"city": "Rome"}}
    rows = [{"when": "sunny", "content": "I look.", "tool_calls": [call]}] * 2
    rows = [{"content": "I look.", "tool_calls": [call, call]}, *rows, {"content": "x"}]
    replies = tmp_path / "replies.jsonl"
    replies.write_text("\n".join(map(json.dumps, rows)))
    agent = TURNS.replace("REPLY", line)
    told = rehearsed(tmp_path, agent, "run_agent", "--replies", str(replies))
    found = [each for each in told["findings"] if each["name"] == "history a turn"]
    if said:
        assert said in found[0]["what"], told["findings"]
    else:
        assert found == []


def test_signs() -> None:
    asked = [{"role": "user", "content": "How is Rome?"}]
    explained = [{"role": "system", "content": "Write <tool_call>{...}</tool_call>."}]
    said = "<tool_call>{}</tool_call>"
    assert unread_call(said, asked) == "<tool_call>"
    assert unread_call(said, explained) is None
    assert unread_call("I would call it a day", asked) is None
    assert unread_thinking("<think>Rome?</think>sunny", asked) == "<think>"
    call = {"role": "assistant", "tool_calls": [{"id": "1"}, {"id": "2"}]}
    reply = {"role": "tool", "tool_call_id": "1", "content": "sunny"}
    assert replies_without_call([call, reply]) == []
    assert replies_without_call([reply, call]) == [reply]
    assert calls_without_reply([call, reply]) == ["2"]
