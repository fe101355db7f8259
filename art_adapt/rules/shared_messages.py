"""Rollouts share one list of messages, so they train on each other's turns

A list that is defined in the module, in a class or as a default argument is shared by all
rollouts. They run concurrently, and each of them sees and trains on the others' turns.

Create the list in the function that runs one episode.

Evidence: art 0.5.18 and 0.5.23, gather.py (all rollouts of a step run concurrently); measured
in tests/rehearsal/test_rehearse.py, the case of shared messages.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import defaults_of, dotted
from art_adapt.code.syntax import LOOPS, MODULE_LEVEL
from art_adapt.rules.code import Code, Value
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART205", "shared-messages", Severity.GARBAGE)
BAD = (
    """\
import art

messages = [{"role": "system", "content": "Be brief."}]

async def rollout(client, model, question):
    messages.append({"role": "user", "content": question})  # <-
    response = await client.chat.completions.create(model="m", messages=messages)
    return art.Trajectory(messages_and_choices=[*messages, response.choices[0]])
""",
    """\
import art

async def rollout(client, model, question, messages=[]):
    messages.append({"role": "user", "content": question})  # <-
    response = await client.chat.completions.create(model="m", messages=messages)
    return art.Trajectory(messages_and_choices=[*messages, response.choices[0]])
""",
    """\
from art_recording import recorded

class Agent:
    history = []

    def ask(self, question):
        self.history.append({"role": "user", "content": question})  # <-
        return recorded(client.chat.completions.create)(model="m", messages=self.history)
""",
)
GOOD = (
    """\
import art

SYSTEM = [{"role": "system", "content": "Be brief."}]

async def rollout(client, model, question):
    messages = list(SYSTEM)
    messages.append({"role": "user", "content": question})
    response = await client.chat.completions.create(model="m", messages=messages)
    return art.Trajectory(messages_and_choices=[*messages, response.choices[0]])
""",
    """\
from art_recording import recorded

class Agent:
    history = []

    def __init__(self):
        self.history = []

    def ask(self, question):
        self.history.append({"role": "user", "content": question})
        return recorded(client.chat.completions.create)(model="m", messages=self.history)
""",
)


def check(code: Code) -> Iterator[Found]:
    sent = {
        (code.syntax.owner(call.callee), name)
        for call in code.completions.calls
        if call.messages is not None
        and (name := dotted(call.messages)) is not None
        and (call.recorded or code.trajectories.in_episode(call.callee))
    }
    for call, messages in code.method_calls("append", "extend", "insert"):
        owner, name = code.syntax.owner(call), dotted(messages)
        if owner == MODULE_LEVEL or (owner, name) not in sent:
            continue
        where = _shared(code, messages)
        if where:
            yield found(call, _says(name or "", where))
    for node in code.syntax.nodes:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if (
            isinstance(node, ast.Assign)
            and code.syntax.owner(node) != MODULE_LEVEL
            and isinstance(target, ast.Attribute)
            and target.attr == "messages_and_choices"
            and (where := _shared(code, node.value))
        ):
            yield found(node, _says(ast.unparse(node.value), where))


def _says(name: str, where: str) -> str:
    return (
        f"{name} is one list for all rollouts, {where}: they train on each other's turns; "
        "create it in each episode"
    )


def _shared(code: Code, messages: ast.expr) -> str:
    """Return where the one list is that all rollouts share, "" if each has its own."""
    places = {_place(code, value) for value in code.aliases.values(messages)}
    return places.pop() if len(places) == 1 else ""


def _place(code: Code, value: Value) -> str:
    syntax, node = value.syntax, value.node
    if isinstance(node, ast.Name):
        return _default(code, value, node)
    if not isinstance(node, ast.List) or syntax.owner(node) != MODULE_LEVEL:
        return ""
    around = list(syntax.ancestors(node))
    if any(isinstance(each, ast.ClassDef) for each in around):
        return "of the class"
    if any(isinstance(each, ast.arguments) for each in around):
        return "a default argument"
    made_once = not any(
        isinstance(each, (*LOOPS, ast.comprehension)) for each in around
    )
    return "of the module" if made_once and not syntax.is_guarded(node) else ""


def _default(code: Code, value: Value, name: ast.Name) -> str:
    """Return a text if the list may be the default of a parameter that no call is seen of."""
    for definition in code.flow.definitions(value):
        parameter = definition.node
        function = (
            code.flow.functions.taking(value.syntax, parameter)
            if isinstance(parameter, ast.arg)
            else None
        )
        if function is not None and isinstance(parameter, ast.arg):
            default = dict(defaults_of(function.node)).get(parameter.arg)
            return "a default argument" if isinstance(default, ast.List) else ""
    return ""
