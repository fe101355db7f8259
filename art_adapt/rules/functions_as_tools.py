"""A trajectory is given functions as its tools, which raises

``tools`` of a trajectory are what the request sends: dicts with a JSON schema. A function, or
the object that a decorator makes of it, is no dict: pydantic raises a ValidationError in each
rollout, so every episode is lost.

Give it the schemas that the request sends: ``tools=[convert_to_openai_tool(f) for f in TOOLS]``.

Evidence: art 0.5.18 and 0.5.23, types.py (Tools are dicts), and what pydantic raises (a test asks
both versions).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import decorator_names, dotted
from art_adapt.rules.code import Code, Value
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.words import TOOL_DECORATORS

RULE = Rule("ART317", "functions-as-tools", Severity.WASTE)
BAD = (
    """\
import art

def look(city: str) -> str:
    return "sunny"

def bash(command: str) -> str:
    return ""

TOOLS = [look, bash]

async def rollout(model, messages):
    return art.Trajectory(
        messages_and_choices=messages,
        tools=TOOLS,  # <-
    )
""",
    """\
import art
from langchain_core.tools import tool

@tool
def look(city: str) -> str:
    return "sunny"

def start(messages):
    return art.Trajectory(messages_and_choices=messages, tools=[look], reward=0.0)  # <-
""",
)
GOOD = (
    BAD[0]
    .replace("tools=TOOLS,  # <-", "tools=[convert_to_openai_tool(f) for f in TOOLS],")
    .replace("import art", "import art\nfrom langchain_core.utils import *"),
    BAD[1].replace("tools=[look], reward=0.0)  # <-", "tools=[schema(look)])"),
    """\
import art

def tools():
    return [{"type": "function", "function": {"name": "look"}}]

def start(messages):
    return art.Trajectory(messages_and_choices=messages, tools=tools())
""",
)


def check(code: Code) -> Iterator[Found]:
    for call in code.trajectories.new:
        if code.art_name(call.func) is None:
            continue  # a subclass may declare other tools
        given = code.contents.given(call, "tools")
        if given is None or _is_rewritten(code, given):
            continue
        if any(_is_function(code, each) for each in code.contents.elements(given)):
            yield found(
                given,
                "a trajectory's tools are dicts: a function raises a ValidationError, and the "
                "episode is lost; give it the schemas that the request sends",
            )


def _is_function(code: Code, tool: Value) -> bool:
    """Return whether a tool is a function of the project, by its name, or a lambda."""
    node, syntax = tool.node, tool.syntax
    if isinstance(node, ast.Lambda):
        return True
    if not isinstance(node, ast.Name) or syntax.is_local(node.id, syntax.owner(node)):
        return False
    found = code.flow.functions.called(syntax, node)
    if found is None or syntax.values_of(node):
        return False
    # Other decorators return what they like: a schema, too.
    return set(decorator_names(found[1].node)) <= set(TOOL_DECORATORS)


def _is_rewritten(code: Code, tools: ast.expr) -> bool:
    """Return whether entries of a list are set anew: ``tools[i] = schema(f)``."""
    return any(
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Store)
        and dotted(node.value) == dotted(tools)
        for node in code.syntax.nodes
    )
