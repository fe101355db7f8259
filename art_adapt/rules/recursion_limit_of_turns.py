"""LangGraph's recursion limit is given a number of turns, so episodes end at half of them

``recursion_limit`` counts the steps of a graph. An agent with tools takes two for each turn: one
asks the model, one runs the tools. With the limit at ``MAX_TURNS``, LangGraph raises
GraphRecursionError, or its agent gives up, after half of the turns that the prompt promises.

Give it ``2 * MAX_TURNS + 1``.

Evidence: langgraph 1.2.24, pregel/_loop.py (a step for each round of nodes) and
prebuilt/chat_agent_executor.py (nodes "agent" and "tools"): with a limit of 20, create_react_agent
asks its model ten times.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import last_name
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.words import TURNS

RULE = Rule("ART539", "recursion-limit-of-turns", Severity.WASTE)
BAD = (
    """\
import art
from langgraph.prebuilt import create_react_agent

MAX_TURNS = 20

async def rollout(model, scenario, tools):
    agent = create_react_agent(model, tools)
    await agent.ainvoke(
        scenario,
        config={"recursion_limit": MAX_TURNS},  # <-
    )
    return art.Trajectory()
""",
    """\
import art

async def rollout(agent, scenario, settings):
    config = dict(recursion_limit=settings.max_turns)  # <-
    await agent.ainvoke(scenario, config=config)
    return art.Trajectory()
""",
)
GOOD = (
    BAD[0].replace("MAX_TURNS},  # <-", "2 * MAX_TURNS + 1},"),
    BAD[0].replace("MAX_TURNS},  # <-", "25},"),
    BAD[1].replace("settings.max_turns)  # <-", "settings.recursion_limit)"),
)

CONFIGS = ("dict", "RunnableConfig")


def check(code: Code) -> Iterator[Found]:
    for node in code.syntax.nodes:
        pairs: list[tuple[object, ast.expr]] = []
        if isinstance(node, ast.Dict):
            keys = (
                code.constant(key) if key is not None else None for key in node.keys
            )
            pairs = list(zip(keys, node.values, strict=True))
        elif isinstance(node, ast.Call) and last_name(node.func) in CONFIGS:
            pairs = [(each.arg, each.value) for each in node.keywords]
        for key, value in pairs:
            if key == "recursion_limit" and TURNS.search(last_name(value)):
                yield found(
                    value,
                    "LangGraph counts two steps for a turn with tools, so episodes end at half of "
                    f"these turns: give it 2 * {ast.unparse(value)} + 1",
                )
