"""Turns of one trajectory use different tools, so some are trained on a wrong prompt

A history has one list of tools, and ART 0.5.18 renders all of its turns with that list: a turn
that was sampled with fewer tools, or with none, is trained on a prompt that the model never
saw. ART 0.5.23 trains on the prompt's own token IDs, but its judges and logs still show the
one list.

Send the same tools each time (``tool_choice="none"`` keeps a turn from calling one), or put
the turns with different tools into a history of their own:
``trajectory.additional_histories``.

Evidence: art 0.5.18, preprocessing/tokenize.py:262-265 and 358-379.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from art_adapt.code.nodes import dotted, given_to, names_in, names_set_in, receiver
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.calls.completion_calls import FoundCall
from art_adapt.words import EDITS_LIST, GROWS_LIST

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
    """\
import art

ALL_TOOLS = TOOLS = [SEARCH]
NO_TOOLS = None

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    name = model.get_inference_name()
    if not model.has_tools:
        reply = await client.chat.completions.create(model=name, messages=messages)
        trajectory.messages_and_choices.append(reply.choices[0])
        return trajectory
    trajectory.tools = TOOLS
    for used in (TOOLS, ALL_TOOLS):
        tools = []
        for tool in used:
            tools.append(tool)
        reply = await client.chat.completions.create(
            model=name, messages=trajectory.messages(), tools=tools
        )
        trajectory.messages_and_choices.append(reply.choices[0])
    reply = await client.chat.completions.create(model=name, messages=messages, tools=[SEARCH])
    trajectory.messages_and_choices.append(reply.choices[0])
    reply = await client.chat.completions.create(model=name, messages=messages, tools=ALL_TOOLS)
    trajectory.messages_and_choices.append(reply.choices[0])
    return trajectory
""",
    """\
import art

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages, tools=TOOLS)
    name = model.get_inference_name()
    for attempt in range(3):
        reply = await client.chat.completions.create(
            model=name, messages=messages, tools=TOOLS if attempt == 0 else None
        )
        if reply.choices[0].finish_reason != "length":
            break
    if reply.choices[0].finish_reason == "length":
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


@dataclass(frozen=True)
class Turn:
    """A completion call, and the place where its choice is put on a trajectory."""

    call: FoundCall
    put: ast.AST

    @property
    def line(self) -> int:
        return self.call.callee.lineno


def check(code: Code) -> Iterator[Found]:
    for turns in _by_trajectory(code):
        first = turns[0]
        for turn in turns:
            tools = _tools(code, turn)
            if tools is not None and _changes(code, turn, tools):
                yield found(tools, _says("these tools change from turn to turn"))
            elif (
                turn.put is not first.put
                and not code.blocks.exclude(first.call.callee, turn.call.callee)
                and _differ(code, _tools(code, first), tools)
            ):
                asked = turn.call.call or turn.call.callee
                yield found(
                    asked if tools is None else tools,
                    _says(f"these tools differ from those of line {first.line}"),
                )


def _tools(code: Code, turn: Turn) -> ast.expr | None:
    given = code.completions.argument(turn.call, "tools")
    return None if given is None else given.at


def _says(what: str) -> str:
    return (
        f"{what}: ART 0.5.18 trains all turns of a history with one list of tools, that is "
        "on prompts that were never sent; put these turns into a history of their own"
    )


def _by_trajectory(code: Code) -> Iterator[list[Turn]]:
    """Yield the turns of each trajectory, in source order.

    Trajectories that are assigned more than once are left out, and so are recorded calls,
    whose histories the recorder keeps apart.
    """
    found: dict[tuple[str, str], list[Turn]] = {}
    for put in code.trajectories.puts:
        if put.trajectory is None or not _is_made_once(code, put.trajectory):
            continue
        on = code.syntax.owner(put.by), ast.unparse(put.trajectory)
        for call in code.sampled.sources(put.value):
            asked = code.completions.by_call.get(call) if call is not None else None
            if asked is None or asked.recorded or _has_unseen_options(code, asked):
                continue
            found.setdefault(on, []).append(Turn(asked, put.by))
    for turns in found.values():
        yield sorted(turns, key=lambda turn: turn.line)


def _is_made_once(code: Code, trajectory: ast.expr) -> bool:
    made = [value.node for value in code.values(trajectory)]
    return (
        len(made) == 1
        and made[0] in code.trajectories.new
        and code.syntax.enclosing_loop(made[0]) is None
    )


def _has_unseen_options(code: Code, call: FoundCall) -> bool:
    """Return whether a ``**options`` that cannot be seen may contain tools."""
    return call.call is not None and any(
        argument.arg is None and not code.contents.item(argument.value, "tools").known
        for argument in call.call.keywords
    )


def _differ(code: Code, one: ast.expr | None, other: ast.expr | None) -> bool:
    """Return whether two lists of tools certainly differ."""
    ours, theirs = _listed(code, one), _listed(code, other)
    if isinstance(ours, ast.List) and isinstance(theirs, ast.List):
        return sorted(map(ast.dump, ours.elts)) != sorted(map(ast.dump, theirs.elts))
    empty = [isinstance(each, ast.List) and not each.elts for each in (ours, theirs)]
    named = [_is_constant_name(each) for each in (ours, theirs)]
    return any(empty) and any(named)


def _listed(code: Code, tools: ast.expr | None) -> ast.expr:
    """Follow an argument to the list it holds, which is empty for None."""
    values = () if tools is None else code.values(tools)
    if tools is None or {code.constant(each) for each in values} == {None}:
        return ast.List([], ast.Load())
    return values[0].node if len(values) == 1 else tools


def _is_constant_name(tools: ast.expr) -> bool:
    """Return whether it is a name in capitals, such as tools of another module."""
    return isinstance(tools, ast.Name) and tools.id.isupper()


def _changes(code: Code, turn: Turn, tools: ast.expr) -> bool:
    """Return whether the tools change within the loop that records the turns.

    The loop edits the list, or chooses it by a name that the loop assigns.
    """
    loop = code.syntax.enclosing_loop(turn.call.callee)
    if loop is None or loop is not code.syntax.enclosing_loop(turn.put):
        return False
    changing = names_set_in(loop)
    if isinstance(tools, ast.IfExp):
        return not changing.isdisjoint(names_in(tools.test))
    if isinstance(tools, ast.Call) or (
        isinstance(tools, ast.Name) and tools.id in changing
    ):
        return _are_chosen(code, tools, loop, changing)
    if not isinstance(tools, ast.Name):
        return False
    edits = (*GROWS_LIST, *EDITS_LIST)
    inside = code.blocks.inside(loop)
    return any(dotted(receiver(node, *edits)) == tools.id for node in inside)


def _are_chosen(
    code: Code, tools: ast.Name | ast.Call, loop: ast.AST, changing: set[str]
) -> bool:
    """Return whether the turn decides between lists of tools that certainly differ.

    A branch in the loop does, or a function that gets what the loop changes.
    """
    here = code.flow.here(tools)
    if isinstance(tools, ast.Call):
        body = code.flow.functions.enter(here)
        chosen = [] if body is None else list(body.returns())
        tests = given_to(tools)
    else:
        definitions = code.flow.definitions(here)
        chosen = [here.of(each.value) for each in definitions if each.value is not None]
        tests = [
            outer.test
            for each in chosen
            for outer in code.syntax.ancestors(each.node)
            if isinstance(outer, ast.If) and code.blocks.within(outer, loop)
        ]
    others = changing - {ast.unparse(tools)}
    by_turn = any(not others.isdisjoint(names_in(test)) for test in tests)
    lists = [list(code.contents.elements(each)) for each in chosen]
    seen = all(
        each and not any(isinstance(part.node, ast.Starred) for part in each)
        for each in lists
    )
    spelled = {tuple(sorted(ast.dump(part.node) for part in each)) for each in lists}
    return by_turn and seen and len(spelled) > 1
