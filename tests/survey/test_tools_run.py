"""Where tools are run: a call with what the model asked for, and nothing that looks like one."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from art_adapt.source import Source
from art_adapt.survey.survey import survey

AGENT = """\
import json

from openai import OpenAI

client = OpenAI()


def run(task, tools, may):
    messages = [{{"role": "user", "content": task}}]
    while True:
        message = client.chat.completions.create(model="m", messages=messages).choices[0].message
        messages.append(message)
        for call in message.tool_calls:
{body}
            messages.append({{"role": "tool", "tool_call_id": call.id, "content": out}})


{below}
"""


def tools(body: str, below: str = "") -> str | None:
    text = AGENT.format(body=indent(body, " " * 12), below=below)
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())]).files[0]
    return found.tool_execution and found.tool_execution.how


@pytest.mark.parametrize(
    ("body", "how"),
    [
        ('out = tools.run(call["function"]["name"], call["function"]["arguments"])', "handed to tools.run"),
        ('f = call.get("function", {})\nout = tools.go(f.get("name"), f.get("arguments"))', "handed to tools.go"),
        ("asked = json.loads(message.content)\nout = tools.go(asked['name'], asked['arguments'])", "handed to tools.go"),
        ("out = tools[call.function.name](**json.loads(call.function.arguments))", "looked up in tools"),
        ("out = 'unknown ' + call.function.name\nif tools.has(call.id):\n    out = tools.execute(call)", "handed to tools.execute"),
        ("ok = may(call)\nout = tools.execute(call) if ok else 'denied'", "handed to tools.execute"),
        ("out = json.dumps(tools.execute(call), **options)", "handed to tools.execute"),
        ("result = tools.call(name=call.function.name, arguments=call.function.arguments)\nshow(Event(result))\nout = note.text", "handed to tools.call"),
        ("name = call.function.name\nshown(ToolCall(tool_name=name, arguments='{}'))\nresult = tools.call(tool_name=name, arguments='{}')\nout = note.text", "handed to tools.call"),
        ("note = hooks.before_tool_call(call.function.name, call.function.arguments)\nout = note or tools.execute(call)", "handed to tools.execute"),
        ("note = pre_tool_call_block(call.function.name, call.function.arguments)\nout = note or tools.execute(call)", "handed to tools.execute"),
        ("target = call.id\nout = set_tool(target=target) if target == 'set' else tools.go(call.function.name, call.function.arguments)", "handed to tools.go"),
        ("names = ', '.join(sorted(tools.valid_tool_names))\nout = f'one of {names}' if may(call) else tools.go(call.function.name, call.function.arguments)", "handed to tools.go"),
        ("def one(each):\n    return each, tools.execute(each)\nasked, out = one(call)", "handed to tools.execute"),
        ("def one(each):\n    try:\n        result = tools.execute(each.function.name, each.function.arguments)\n        return result\n    except KeyError:\n        return 'none'\nout = pool.submit(one, call).result() if may(call) else one(call)", "handed to tools.execute"),
        ("async def one(each):\n    return tools.execute(each.function.name, each.function.arguments)\nout = asyncio.run(one(call))", "handed to tools.execute"),
    ],
)  # fmt: skip
def test_the_call_that_runs_one_is_found(body: str, how: str) -> None:
    assert tools(body) == how


@pytest.mark.parametrize(
    "body",
    [
        "out = format_output(tools.last)",
        "out = normalize(tools.last, **options)",
        "out = 'no: ' + approve(call)['reason']",
        "seen.add(call.function.name)\nout = 'ok'",
        "assert call.function.name == 'answer'\nout = 'ok'",
        "if call.function.name == 'answer':\n    print(json.loads(call.function.arguments))\nout = 'ok'",
        "if call.function.name == 'answer':\n    log.error('not JSON')\n    saved = json.loads(call.function.arguments)\nout = 'ok'",
        "out = call_to_code(call.function.name, call.function.arguments)",
        "out = ask.on_permission_request(call.function.name, call.function.arguments)['message']",
        "for tool in tools:\n    if tool['function']['name'] == 'search':\n        change(tool)\nout = 'ok'",
        "for _, each in enumerate(schemas):\n    if each.get('function', {}).get('name') == 'search':\n        change(each)\nout = 'ok'",
        "out = dispatch_model(messages)",
        "log_tool_call(name=call.function.name, arguments=call.function.arguments)\nout = 'ok'",
    ],
)
def test_what_converts_compares_or_permits_runs_none(body: str) -> None:
    below = """\
def dispatch_model(messages):
    return client.chat.completions.create(model="m", messages=messages)
"""
    assert tools(body, below) is None


def test_what_a_helper_is_given_besides_is_no_tool() -> None:
    """The text of a reply may come from any caller; only one that runs something counts."""
    below = """\
def answer(call, text):
    return {"role": "tool", "tool_call_id": call.id, "content": text}


def refuse(call, messages):
    messages.append(answer(call, build_text(messages)))
"""
    assert tools("refuse(call, messages)\nout = ''", below) is None


def test_code_that_no_episode_runs_says_nothing() -> None:
    below = """\
def old(call, messages, table):
    out = table[call.function.name](call.function.arguments)
    messages.append({"role": "tool", "content": out})
"""
    assert tools(
        "out = tools.go(call.function.name, call.function.arguments)", below
    ) == ("handed to tools.go")
    assert tools("out = 'ok'", below) is None


ALL_AT_ONCE = """\
from openai import OpenAI

client = OpenAI()


def run(task, toolbox):
    messages = [{{"role": "user", "content": task}}]
    while True:
        message = client.chat.completions.create(model="m", messages=messages).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
{body}
"""


@pytest.mark.parametrize(
    "body",
    [
        "messages.extend(toolbox.execute(message.tool_calls))",
        "messages += toolbox.execute(message.tool_calls)",
        "messages = [*messages, *toolbox.execute(message.tool_calls)]",
        "calls = message.tool_calls\nresults, replies = toolbox.execute(tool_calls=calls)\nmessages.extend(replies)",
        "replies = toolbox.execute(message.tool_calls, strict=True)\nfor reply in replies:\n    messages.append(reply)",
    ],
)
def test_a_library_that_runs_all_requested_tools_is_found(body: str) -> None:
    text = ALL_AT_ONCE.format(body=indent(body, " " * 8))
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())]).files[0]
    assert found.tool_execution is not None
    assert found.tool_execution.how == "handed to toolbox.execute"


def test_the_replies_own_branch_says_what_ran_it() -> None:
    """Two providers in one function, each with its loop over calls, share a name."""
    text = """\
import anthropic
from openai import OpenAI


def run(task, tools, provider):
    messages = [{"role": "user", "content": task}]
    while True:
        if provider == "anthropic":
            reply = anthropic.Anthropic().messages.create(model="c", messages=messages)
            for block in reply.content:
                result = tools.execute(block.name, block.input)
                messages.append({"type": "tool_result", "content": result})
        else:
            message = OpenAI().chat.completions.create(model="m", messages=messages).choices[0].message
            for call in message.tool_calls:
                result = tools.execute(call.function.name, call.function.arguments)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
"""
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())]).files[0]
    assert found.tool_execution is not None
    assert found.tool_execution.place.line == 16
