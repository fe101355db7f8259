"""Random agents: calls in every place that Python allows, in every formatting that
people use.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from hypothesis import strategies as st

CALLEES = st.sampled_from(
    [
        "client.chat.completions.create",
        "self.client.chat.completions.create",
        "get_client().chat.completions.create",
        "client.beta.chat.completions.parse",
        "client.chat.completions.with_raw_response.create",
        "(client.chat.completions.create)",
        "client . chat.completions.create",
        "client.with_options(timeout=1).chat.completions.create",
    ]
)
ARGUMENTS = st.sampled_from(
    [
        "(messages=messages)",
        "(**request)",
        "( model = 'm',messages=messages , )",
        "(\n        model='m',  # which\n        messages=messages,\n    )",
        "(\n        messages=[\n            {'role': 'user', 'content': '''a\nb'''},\n        ]\n    )",
        "(messages=messages, stop='é')",
    ]
)


@st.composite
def completions(draw: st.DrawFn) -> str:
    return draw(CALLEES) + draw(ARGUMENTS)


# Statements with one call at {call}; {s} is one level of indentation more.
STATEMENTS = st.sampled_from(
    [
        "reply = {call}",
        "reply = ({call})",
        "return {call}",
        "return({call})",
        "return {call}, 1",
        "return ({call}, 2)",
        "return (\n    {call}\n)",
        "return (  # so\n    {call}\n)",
        "return Result(\n    reply={call},\n)",
        "return [r for r in {call}]",
        "return {{'a': {call}, **rest}}",
        "return lambda: {call}",
        "return -1 if {call} else 'no'",
        "return not {call}",
        "return{call}" if False else "return [{call}]",
        "a = 1; b = {call}; c = 3",
        "if (n := {call}): pass",
        "if ready:\n{s}pass\nelif {call}:\n{s}x = 1\nelse:\n{s}x = 2",
        "while {call}: break",
        "while True:\n{s}break\nelse:\n{s}{call}",
        "for chunk in {call}:\n{s}print(chunk)",
        "with {call} as stream, open('f'):\n{s}return stream.text",
        "with (\n    {call} as stream,\n    open('f'),\n):\n{s}return stream",
        "try:\n{s}reply = {call}\nexcept (ValueError, type({call})) as error:\n{s}return 'failed'\nfinally:\n{s}pass",
        "match {call}:\n{s}case [first, *_] if {call}:\n{s}{s}return first\n{s}case _:\n{s}{s}pass",
        "@retry(3)\ndef inner(x={call}):\n{s}return x",
        "def inner():\n{s}'doc'\n{s}return {call}",
        "class Inner:\n{s}reply = {call}",
        "assert {call}, 'message'",
        "print('answer:', {call}.choices[0].message.content)",
        "x[{call}] = {call}",
        "reply = {call} \\\n    .choices",
        "partial({callee}, model='m')",
        "pool.submit({callee}, messages=messages)",
        "create = {callee}",
    ]
)
FILLERS = st.sampled_from(
    [
        "",
        "# a comment",
        "x = 1  # why",
        "x = 'é'",
        '"""text\n\n  more"""',
        "x = {\n    'a': 1,\n\n    # note\n}",
        "pass;",
        "x = (1 +\n  2)",
        "lambda: 0",
    ]
)
if sys.version_info >= (3, 12):
    STATEMENTS |= st.sampled_from(
        [
            "print(f'{{{call}.choices[0].message.content}}')",
            'return f"{{d["k"]}} {{{call}}}"',
            "def inner[T](x: T) -> T:\n{s}return {call}",
            "type Alias = list[int]; reply = {call}",
        ]
    )


@dataclass(frozen=True)
class Program:
    data: bytes
    calls: int


@st.composite
def programs(draw: st.DrawFn) -> Program:
    unit = draw(st.sampled_from(["    ", "  ", "\t", "       "]))
    blocks: list[str] = []
    calls = 0
    for number in range(draw(st.integers(1, 3))):
        is_method = draw(st.booleans())
        is_async = draw(st.booleans())
        lines: list[str] = [draw(st.sampled_from(['"""Doc."""', "# first", "pass"]))]
        for _ in range(draw(st.integers(1, 4))):
            statement = draw(STATEMENTS)
            call, callee = draw(completions()), draw(CALLEES)
            calls += statement.count("{call}") + statement.count("{callee}")
            lines.append(statement.format(call=call, callee=callee, s=unit))
            lines.append(draw(FILLERS))
        body = "\n".join(_indented(line, unit) for line in "\n".join(lines).split("\n"))
        head = f"{'async ' if is_async else ''}def run_{number}({'self, ' if is_method else ''}client, messages=(), **request):"
        function = f"{head}\n{body}\n{unit}return 0"
        if is_method:
            function = f"class Agent{number}:\n" + "\n".join(
                _indented(line, unit) for line in function.split("\n")
            )
        blocks.append(
            draw(
                st.sampled_from(
                    ["", "@decorated\n" if not is_method else "", "# above\n"]
                )
            )
            + function
        )
    header = draw(
        st.sampled_from(
            [
                "",
                "import os\nfrom openai import OpenAI\n",
                '"""Doc."""\nfrom __future__ import annotations\nimport os, sys\n',
                '"""Doc."""\n',
                "#!/usr/bin/env python\n# comment\n\nx = 1\n",
                "from .llm import x\n",
                "try:\n    import openai\nexcept ImportError:\n    openai = None\n",
            ]
        )
    )
    gap = draw(st.sampled_from(["\n", "\n\n", "\n\n\n"]))
    text = (
        header
        + draw(st.sampled_from(["", "\n", "\n\n"]))
        + gap.join(blocks)
        + draw(st.sampled_from(["", "\n", "\n\n\n"]))
    )
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "latin-1"]))
    if encoding == "latin-1":
        text = "# -*- coding: latin-1 -*-\n" + text
    newline = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    return Program(text.replace("\n", newline).encode(encoding), calls)


def _indented(line: str, unit: str) -> str:
    return unit + line if line.strip() else line
