"""A tool message answers a call that was never made, so the conversation is invalid

The id in ``tool_call_id`` is made up: no turn of the model has a call with it. OpenAI's API
rejects such a request. vLLM renders it all the same, and the policy is sampled and trained on
a conversation that no chat template was made for.

Answer each call with its own ``call.id``. Say anything else in a user message.

Evidence: the chat completions API (a tool message must follow the call that it answers); art
0.5.18, preprocessing/tokenize.py:365-405 (the conversation is rendered as it stands).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import argument_of, bound_names, dotted, entries, targets_of
from art_adapt.rules.code import Code
from art_adapt.rules.code.values import Value
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.words import OF_CHANCE

RULE = Rule("ART213", "invented-call-id", Severity.GARBAGE)
BAD = (
    """\
import art, uuid

async def rollout(client, model):
    trajectory = art.Trajectory(tools=TOOLS)
    for _ in range(5):
        response = await client.chat.completions.create(
            model="m", messages=trajectory.messages(), tools=TOOLS
        )
        choice = response.choices[0]
        trajectory.messages_and_choices.append(choice)
        if not choice.message.tool_calls:
            trajectory.messages_and_choices.append(
                {"role": "tool", "tool_call_id": "none", "content": "Call a tool."}  # <-
            )
            trajectory.messages_and_choices.append(
                {"role": "tool", "tool_call_id": str(uuid.uuid4()), "content": "Go on."}  # <-
            )
        for call in choice.message.tool_calls or []:
            trajectory.messages_and_choices.append(
                {"role": "tool", "tool_call_id": call.id, "content": run(call)}
            )
        for n, call in enumerate(choice.message.tool_calls or []):
            trajectory.messages_and_choices.append(
                {"role": "tool", "tool_call_id": f"call_{n}", "content": run(call)}  # <-
            )
    return trajectory
""",
    """\
import art

class Agent:
    def __init__(self, client):
        self.client = client
        self.trajectory = art.Trajectory(tools=TOOLS)

    def reply(self, function, text):
        self.trajectory.messages_and_choices.append(
            {"role": "tool", "tool_call_id": function.name, "content": text}  # <-
        )

    async def step(self):
        response = await self.client.chat.completions.create(
            model="m", messages=self.trajectory.messages(), tools=TOOLS
        )
        choice = response.choices[0]
        self.trajectory.messages_and_choices.append(choice)
        for call in choice.message.tool_calls or []:
            self.reply(call.function, run(call))
        return self.trajectory
""",
    """\
import art, itertools

class Replies:
    def __init__(self):
        self.numbers = itertools.count()

    @property
    def next_id(self):
        return f"call_{next(self.numbers)}"

    def to(self, call):
        return {"role": "tool", "tool_call_id": self.next_id, "content": run(call)}  # <-

async def rollout(client, model, s):
    trajectory = art.Trajectory(messages_and_choices=[s.asked], tools=TOOLS)
    replies = Replies()
    for _ in range(4):
        response = await client.chat.completions.create(
            model="m", messages=trajectory.messages(), tools=TOOLS
        )
        trajectory.messages_and_choices.append(response.choices[0])
        for call in response.choices[0].message.tool_calls or []:
            trajectory.messages_and_choices.append(replies.to(call))
    return trajectory
""",
    """\
import art, asyncio

async def answered(calls):
    head, *_ = calls
    outputs = await asyncio.gather(*map(run, calls))
    return [{"role": "tool", "tool_call_id": head.id, "content": out} for out in outputs]  # <-

async def rollout(client, model, s):
    trajectory = art.Trajectory(messages_and_choices=[s.asked], tools=TOOLS)
    for _ in range(4):
        response = await client.chat.completions.create(
            model="m", messages=trajectory.messages(), tools=TOOLS
        )
        trajectory.messages_and_choices.append(response.choices[0])
        if calls := response.choices[0].message.tool_calls:
            trajectory.messages_and_choices.extend(await answered(calls))
    return trajectory
""",
)
GOOD = (
    """\
import art

EXAMPLE = [
    {"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function", "function": {}}]},
    {"role": "tool", "tool_call_id": "call_1", "content": "It rains."},
]

async def rollout(client, model):
    trajectory = art.Trajectory(messages_and_choices=[*EXAMPLE], tools=TOOLS)
    for _ in range(5):
        response = await client.chat.completions.create(
            model="m", messages=trajectory.messages(), tools=TOOLS
        )
        choice = response.choices[0]
        trajectory.messages_and_choices.append(choice)
        for call in choice.message.tool_calls or []:
            call_id = call.id or ""
            trajectory.messages_and_choices.append(
                {"role": "tool", "tool_call_id": call_id, "content": run(call)}
            )
    return trajectory
""",
)
ID = "tool_call_id"
MAKING = (*OF_CHANCE, "itertools")  # modules that ids come from


def check(code: Code) -> Iterator[Found]:
    if ID not in code.source.text:
        return
    own = _ids_of_calls(code)
    if own is None:
        return
    for node in code.syntax.nodes:
        given = _given(node)
        if given is not None and _is_of_the_first(code, given):
            yield found(
                given,
                "each of these replies has the id of the first call, so the others are not "
                "answered: answer each call by its own id",
            )
        elif (
            given is not None
            and code.trajectories.in_episode(given)
            and ast.dump(given) not in own
            and all(_is_made_up(code, each, own) for each in code.values(given))
        ):
            yield found(
                given,
                "no tool call has this id: the model is sampled and trained on an invalid "
                "conversation; answer a call by its own id, or say it in a user message",
            )


def _is_of_the_first(code: Code, given: ast.expr) -> bool:
    """Return whether a comprehension gives all of its messages the id of the first tool call."""
    first = given.value if isinstance(given, ast.Attribute) else None
    around = next(
        (o for o in code.syntax.ancestors(given) if isinstance(o, ast.ListComp)), None
    )
    if not isinstance(first, ast.Name) or around is None:
        return False
    if first.id in bound_names(each.target for each in around.generators):
        return False
    taken = [
        code.sampled.cut(made)
        for definition in code.flow.definitions(code.flow.here(first))
        for made in _made(definition.node)
    ]
    return bool(taken) and all(each is not None for each in taken)


def _made(statement: ast.AST) -> list[ast.expr]:
    """Return what a statement gives a name, as it is written."""
    return [statement.value] if isinstance(statement, ast.Assign) else []


def _given(node: ast.AST) -> ast.expr | None:
    """Return what a message is given for a ``tool_call_id``, if it is written out."""
    fields = entries(node)
    given, role = fields.get(ID), fields.get("role")
    if isinstance(given, ast.Constant) and given.value is None:
        return None  # as in a message of another role
    is_another = isinstance(role, ast.Constant) and role.value != "tool"
    return None if is_another else given


def _ids_of_calls(code: Code) -> frozenset[str] | None:
    """Return the ids that messages of this file give to tool calls, as they are written.

    None where calls get ids in another way: by a helper, or where they are set.
    """
    found = set()
    for node in code.syntax.nodes:
        for target in targets_of(node):
            of_call = isinstance(target, ast.Attribute) and target.attr == "id"
            if of_call or (
                isinstance(target, ast.Subscript)
                and code.constant(target.slice) == "id"
            ):
                return None
        if (value := entries(node).get("id")) is not None:
            if isinstance(value, ast.Name):
                return None
            found.add(ast.dump(value))
    return frozenset(found)


def _is_made_up(code: Code, value: Value, own: frozenset[str]) -> bool:
    """Return whether a value is a text of this file, or made of chance, time or a count."""
    node = value.node
    if isinstance(node, ast.Constant):
        return ast.dump(node) not in own
    if isinstance(node, ast.JoinedStr):
        parts = [n.value for n in node.values if isinstance(n, ast.FormattedValue)]
        followed = (v for each in parts for v in code.values(value.of(each)))
        return all(_is_chance(code, each) for each in followed)
    return _is_chance(code, value)


def _is_name_of_a_tool(code: Code, value: Value) -> bool:
    """Return whether a value is ``call.function.name``, also where callers give the function."""
    node = value.node
    if not isinstance(node, ast.Attribute) or node.attr != "name":
        return False
    holders = [each.node for each in code.values(value.of(node.value))]
    function = code.function_of(node) if code.has(value) else None
    if function is not None and isinstance(node.value, ast.Name):
        holders += [
            given
            for call in code.callers(node)
            if (given := argument_of(call, node.value.id, function.positional))
        ]
    return any((dotted(each) or "").endswith(".function") for each in holders)


def _is_chance(code: Code, value: Value) -> bool:
    """Return whether a value comes from a module that makes ids, or counts."""
    node = value.node
    match node:  # the number of a turn of a loop
        case ast.Subscript(
            ast.Subscript(ast.Call(ast.Name("enumerate"))), ast.Constant(0)
        ) | ast.Subscript(ast.Call(ast.Name("range"))):
            return True
    if _is_name_of_a_tool(code, value):
        return True  # which several calls have
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.Constant)
    if dotted(node.func) in ("str", "len", "next", "int", "repr") and node.args:
        return dotted(node.func) == "len" or all(
            _is_chance(code, each) for each in code.values(value.of(node.args[0]))
        )
    name = value.syntax.qualified(node.func) or ""
    return name.partition(".")[0] in MAKING
