"""Turns of one trajectory are sent with other tools than the rest

A history has one list of tools, and ART 0.5.18 renders all of its turns with it: a turn that
was sampled with fewer tools, or with none, is trained on a prompt that the model never saw.
ART 0.5.23 trains on the prompt's own ids; its judges and logs still show the one list.

Send the same tools each time (``tool_choice="none"`` keeps a turn from calling one), or put the
turns with others into a history of their own: ``trajectory.additional_histories``.

Written down in: art 0.5.18, preprocessing/tokenize.py:262-265 and 358-379.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.completion_calls import FoundCall
from art_adapt.survey.syntax import dotted

RULE = Rule("ART210", "changing-tools", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages, tools=TOOLS)
    name = model.get_inference_name()
    for _ in range(5):
        response = await client.chat.completions.create(model=name, messages=trajectory.messages(), tools=TOOLS)
        trajectory.messages_and_choices.append(response.choices[0])
    last = await client.chat.completions.create(  # <-
        model=name, messages=trajectory.messages()
    )
    trajectory.messages_and_choices.append(last.choices[0])
    return trajectory
""",
    """\
import art

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages, tools=TOOLS)
    for turn in range(5):
        response = await client.chat.completions.create(
            model=model.get_inference_name(),
            messages=trajectory.messages(),
            tools=TOOLS if turn < 4 else None,  # <-
        )
        trajectory.messages_and_choices.append(response.choices[0])
    return trajectory
""",
    """\
import art

async def rollout(client, model, messages):
    tools = [SEARCH, SUBMIT]
    trajectory = art.Trajectory(messages_and_choices=messages, tools=tools)
    while True:
        response = await client.chat.completions.create(
            model=model.get_inference_name(),
            messages=trajectory.messages(),
            tools=tools,  # <-
        )
        trajectory.messages_and_choices.append(response.choices[0])
        if response.choices[0].message.content:
            return trajectory
        tools.remove(SEARCH)
""",
)
GOOD = (
    BAD[0]
    .replace("  # <-", "")
    .replace("messages()\n    )", 'messages(), tools=TOOLS, tool_choice="none"\n    )'),
    """\
import art

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    name = model.get_inference_name()
    if model.has_tools:
        trajectory.tools = TOOLS
        reply = await client.chat.completions.create(model=name, messages=messages, tools=TOOLS)
    else:
        reply = await client.chat.completions.create(model=name, messages=messages)
    trajectory.messages_and_choices.append(reply.choices[0])
    return trajectory
""",
    BAD[1].replace("  # <-", "").replace("turn < 4", "model.has_tools"),
    BAD[2].replace("  # <-", "").replace("        tools.remove(SEARCH)\n", ""),
    """\
import art

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages, tools=TOOLS)
    name = model.get_inference_name()
    response = await client.chat.completions.create(model=name, messages=messages, tools=TOOLS)
    trajectory.messages_and_choices.append(response.choices[0])
    history = art.trajectories.History(messages_and_choices=[*messages])
    summary = await client.chat.completions.create(model=name, messages=messages)
    history.messages_and_choices.append(summary.choices[0])
    trajectory.additional_histories.append(history)
    return trajectory
""",
)
EDITS = ("append", "extend", "insert", "remove", "pop", "clear")


def check(code: Code) -> Iterator[Found]:
    for calls in _by_trajectory(code):
        first = code.argument(calls[0], "tools")
        for call in calls:
            tools = code.argument(call, "tools")
            if tools is not None and _changes(code, call, tools):
                yield found(tools, _says("these change from turn to turn"))
            elif _differ(first, tools) and not _exclude(code, calls[0], call):
                line = calls[0].callee.lineno
                yield found(
                    tools if tools is not None else _asked(call),
                    _says(f"not the tools of the turns of line {line}"),
                )


def _says(what: str) -> str:
    return (
        f"{what}: ART 0.5.18 trains all turns of a history with one list of tools, so with "
        "prompts that were never sent; put these turns into a history of their own"
    )


def _asked(call: FoundCall) -> ast.expr:
    return call.call if call.call is not None else call.callee


def _by_trajectory(code: Code) -> Iterator[list[FoundCall]]:
    """For each trajectory's own list, by name, the completions of which a choice is put
    on it, in order. Not of one that is made anew, and not of recorded calls: the recorder
    keeps histories apart.
    """
    found: dict[tuple[str, str], dict[int, FoundCall]] = {}
    for put in code.puts:
        by = put.by
        if not isinstance(by, ast.Call) or not isinstance(by.func, ast.Attribute):
            continue
        items = by.func.value
        if not isinstance(items, ast.Attribute):
            continue
        name, owner = dotted(items.value), code.syntax.owner(by)
        if name is None or not _is_made_once(code, items.value):
            continue
        for call in code.sources(put.value):
            asked = code.completion_of.get(call) if call is not None else None
            if asked is None or asked.recorded or _has_unseen_options(code, asked):
                continue
            found.setdefault((owner, name), {})[asked.callee.lineno] = asked
    for calls in found.values():
        yield [calls[line] for line in sorted(calls)]


def _is_made_once(code: Code, trajectory: ast.expr) -> bool:
    made = code.syntax.values_of(trajectory)
    return (
        len(made) == 1
        and made[0] in code.new_trajectories
        and code.syntax.enclosing_loop(made[0]) is None
    )


def _has_unseen_options(code: Code, call: FoundCall) -> bool:
    """Whether there may be tools in a ``**options`` that is not written out here."""
    return call.call is not None and any(
        argument.arg is None
        and not any(
            isinstance(value, ast.Dict)
            for value in (argument.value, *code.syntax.values_of(argument.value))
        )
        for argument in call.call.keywords
    )


def _exclude(code: Code, one: FoundCall, other: FoundCall) -> bool:
    """Whether at most one of them is made: they stand in branches of the same ``if``,
    or one where the other failed.
    """
    parents = code.syntax.parents
    above: dict[ast.AST, ast.AST] = {}  # and through which child
    node: ast.AST = one.callee
    while node in parents:
        above[parents[node]] = node
        node = parents[node]
    node = other.callee
    while parents[node] not in above:
        node = parents[node]
    shared = parents[node]
    branches = isinstance(shared, ast.If | ast.Try | ast.IfExp | ast.Match)
    return branches and not _same_block(shared, node, above[shared])


def _same_block(outer: ast.AST, one: ast.AST, other: ast.AST) -> bool:
    blocks = (getattr(outer, name, None) for name in ("body", "orelse", "finalbody"))
    return any(
        isinstance(block, list) and one in block and other in block for block in blocks
    )


def _differ(one: ast.expr | None, other: ast.expr | None) -> bool:
    """Whether two lists of tools are other ones for certain."""
    if (one is None) != (other is None):
        given = one if one is not None else other
        return isinstance(given, ast.List) or _is_constant_name(given)
    if one is None or other is None or ast.dump(one) == ast.dump(other):
        return False
    return all(
        (isinstance(each, ast.List) and each.elts) or _is_constant_name(each)
        for each in (one, other)
    )


def _is_constant_name(tools: ast.expr | None) -> bool:
    """Whether it is a name in capitals: a list that this module does not choose."""
    return isinstance(tools, ast.Name) and tools.id.isupper()


def _changes(code: Code, call: FoundCall, tools: ast.expr) -> bool:
    """Whether the loop around the call edits the list, or chooses it by what changes there."""
    loop = code.syntax.enclosing_loop(call.callee)
    if loop is None:
        return False
    if isinstance(tools, ast.IfExp):
        changing = _bound_in(loop)
        return any(
            isinstance(node, ast.Name) and node.id in changing
            for node in ast.walk(tools.test)
        )
    if not isinstance(tools, ast.Name):
        return False
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in EDITS
        and dotted(node.func.value) == tools.id
        for node in code.inside(loop)
    )


def _bound_in(loop: ast.AST) -> set[str]:
    return {
        node.id
        for node in ast.walk(loop)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
