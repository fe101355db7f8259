"""Lays out literals and calls as formatters do."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Sequence

LINE_LENGTH = 88
# One that means the same in double quotes, with its prefix; no f-string.
PLAIN_STRING = re.compile(r"([rRbBuU]{0,2})'((?!'')[^'\"\\\n]*)'")


def literal(text: str) -> str:
    """Spell a string in Python, in double quotes as formatters do."""
    return json.dumps(text, ensure_ascii=False)


def shortened(text: str, width: int) -> str:
    """Cut a text between words, so that it is no longer than ``width``."""
    if len(text) <= width:
        return text
    return text[: width - 3].rpartition(" ")[0] + "..."


def double_quoted(text: str) -> str:
    """Put the strings of some code into double quotes, as formatters do."""
    lines = text.splitlines(keepends=True)
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, IndentationError):
        return text
    for token in reversed(tokens):
        inner = PLAIN_STRING.fullmatch(token.string)
        if token.type == tokenize.STRING and inner is not None:
            (row, start), (_, end) = token.start, token.end
            line = lines[row - 1]
            lines[row - 1] = f'{line[:start]}{inner[1]}"{inner[2]}"{line[end:]}'
    return "".join(lines)


def tuple_of(name: str, texts: Sequence[str]) -> str:
    """Assign a tuple of strings to a constant, on one line or as formatters break it."""
    spelled = [literal(each) for each in texts]
    start = f"{name}: tuple[str, ...] = "
    inside = f"{spelled[0]}," if len(spelled) == 1 else ", ".join(spelled)
    line = f"{start}({inside})"
    if len(line) <= LINE_LENGTH:
        return line
    return "\n".join([f"{start}(", *(f"    {each}," for each in spelled), ")"])


def render_call(start: str, function: str, arguments: list[str], end: str = "") -> str:
    """Render a call on one line, or broken as formatters do."""
    indent = " " * (len(start) - len(start.lstrip()))
    return "\n".join(_broken(indent, f"{start.lstrip()}{function}", arguments, end))


def _broken(indent: str, start: str, arguments: list[str], end: str) -> list[str]:
    line = f"{indent}{start}({', '.join(arguments)}){end}"
    if len(line) <= LINE_LENGTH or not arguments:
        return [line]
    inner = indent + "    "
    body = [inner + ", ".join(arguments)]
    if len(body[0]) > LINE_LENGTH:
        body = [line for each in arguments for line in _broken_argument(inner, each)]
    return [f"{indent}{start}(", *body, f"{indent}){end}"]


def _broken_argument(indent: str, argument: str) -> list[str]:
    """Render an argument on a line of its own, and its own arguments if that is long."""
    text = f"_({argument})"
    try:
        parsed = ast.parse(text, mode="eval").body
    except SyntaxError:  # an unparenthesised walrus
        return [f"{indent}{argument},"]
    given = parsed.keywords if isinstance(parsed, ast.Call) else []
    value = given[0].value if given else None
    if not isinstance(value, ast.Call) or not (value.args or value.keywords):
        return [f"{indent}{argument},"]
    inner = [
        *(ast.get_source_segment(text, each) or "" for each in value.args),
        *(
            (f"{each.arg}=" if each.arg else "**")
            + (ast.get_source_segment(text, each.value) or "")
            for each in value.keywords
        ),
    ]
    return _broken(indent, f"{given[0].arg}={ast.unparse(value.func)}", inner, ",")
