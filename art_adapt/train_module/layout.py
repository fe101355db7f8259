"""Lays out literals and calls as formatters do."""

from __future__ import annotations

import ast
import io
import json
import re
import textwrap
import tokenize
from collections.abc import Sequence

LINE_LENGTH = 88
# One that means the same in double quotes, with its prefix; no f-string.
PLAIN_STRING = re.compile(r"([rRbBuU]{0,2})'((?!'')[^'\"\\\n]*)'")


def folder_above(count: int) -> str:
    """Return the code for the folder so many above the train module's own."""
    here = "Path(__file__)"
    return f"{here}.parents[{count}]" if count else f"{here}.parent"


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
    opened = f"{start.lstrip()}{function}("
    return "\n".join(_broken(indent, opened, arguments, f"){end}"))


def render_statement(indent: str, text: str) -> str:
    """Render a statement as it is, or a call that is too long for a line broken as formatters do."""
    whole = textwrap.indent(text, indent)
    if "\n" in text or len(whole) <= LINE_LENGTH:
        return whole
    match ast.parse(text).body:
        case [ast.Assign(targets=[target], value=ast.Call() as call)]:
            parts = [*call.args, *call.keywords]
            source = [ast.get_source_segment(text, each) or "" for each in parts]
            start = f"{indent}{ast.get_source_segment(text, target)} = "
            called = ast.get_source_segment(text, call.func) or ""
            return render_call(start, called, source)
    return whole


def _broken(indent: str, opened: str, inside: list[str], closed: str) -> list[str]:
    line = f"{indent}{opened}{', '.join(inside)}{closed}"
    if len(line) <= LINE_LENGTH or not inside:
        return [line]
    inner = indent + "    "
    body = [inner + ", ".join(inside)]
    if len(body[0]) > LINE_LENGTH:
        body = [line for each in inside for line in _broken_argument(inner, each)]
    return [f"{indent}{opened}", *body, f"{indent}{closed}"]


def _broken_argument(indent: str, argument: str) -> list[str]:
    """Render an argument on a line of its own; what it holds, too, if that is long."""
    text = f"_({argument})"
    try:
        parsed = ast.parse(text, mode="eval").body
    except SyntaxError:  # an unparenthesised walrus
        return [f"{indent}{argument},"]
    assert isinstance(parsed, ast.Call)
    named = parsed.keywords[0] if parsed.keywords else None
    value = named.value if named else parsed.args[0] if parsed.args else None
    held = _held(value, text)
    if held is None:
        return [f"{indent}{argument},"]
    opened, inside, closed = held
    name = f"{named.arg}=" if named and named.arg else "**" if named else ""
    return _broken(indent, name + opened, inside, f"{closed},")


def _held(value: ast.expr | None, text: str) -> tuple[str, list[str], str] | None:
    """Return what stands in the brackets that an expression ends with, and around it."""

    def source(node: ast.AST) -> str:
        return ast.get_source_segment(text, node) or ""

    match value:
        case ast.Call(function, given, keywords):
            names = [f"{k.arg}=" if k.arg else "**" for k in keywords]
            named = [n + source(k.value) for n, k in zip(names, keywords, strict=True)]
            return f"{source(function)}(", [*map(source, given), *named], ")"
        case ast.List(elements):
            return "[", [*map(source, elements)], "]"
        case ast.Set(elements):
            return "{", [*map(source, elements)], "}"
        case ast.Tuple(elements) if len(elements) > 1:
            return "(", [*map(source, elements)], ")"
        case ast.Dict(keys, values):
            starts = [f"{source(key)}: " if key else "**" for key in keys]
            entries = zip(starts, values, strict=True)
            return "{", [start + source(value) for start, value in entries], "}"
    return None
