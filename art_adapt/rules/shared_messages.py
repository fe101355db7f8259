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

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.nodes import dotted
from art_adapt.survey.syntax import MODULE_LEVEL

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
        and (call.recorded or code.trajectories.in_rollout(call.callee))
    }
    for call in code.method_calls("append", "extend", "insert"):
        assert isinstance(call.func, ast.Attribute)
        owner, name = code.syntax.owner(call), dotted(call.func.value)
        if owner == MODULE_LEVEL or name is None or (owner, name) not in sent:
            continue
        where = _shared(code, call.func.value, owner, name)
        if where:
            yield found(
                call,
                f"{name} is one list for all rollouts, {where}: they train on each "
                "other's turns; create it in each episode",
            )


def _shared(code: Code, target: ast.expr, owner: str, name: str) -> str:
    """Return why all rollouts share the list, or an empty string if they do not."""
    known = code.syntax.assignments.get(name, [])
    function = code.syntax.functions[owner]
    if "." not in name:
        arguments = function.node.args
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        defaults = [*arguments.defaults, *arguments.kw_defaults]
        named = dict(
            zip((a.arg for a in reversed(every)), reversed(defaults), strict=False)
        )
        if name in {argument.arg for argument in every}:
            rebound = any(where == owner for where, _ in known)
            is_list = isinstance(named.get(name), ast.List)
            return "a default argument" if is_list and not rebound else ""
        if any(where == owner or owner.startswith(f"{where}.") for where, _ in known):
            return ""
        if any(
            isinstance(node, ast.Name)
            and node.id == name
            and isinstance(node.ctx, ast.Store)
            for node in code.syntax.owned_by(owner)
        ):
            return ""
        at_module = [value for where, value in known if where == MODULE_LEVEL]
        lists = [value for value in at_module if isinstance(value, ast.List)]
        return "of the module" if lists and len(lists) == len(at_module) else ""
    head, _, attribute = name.partition(".")
    if head not in ("self", "cls") or "." in attribute or known:
        return ""
    methods = owner.rpartition(".")[0]
    of_class = code.syntax.classes.get(methods)
    if of_class is None or of_class.bases:
        return ""
    for statement in of_class.body:
        targets: list[ast.expr] = []
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        value = getattr(statement, "value", None)
        if isinstance(value, ast.List) and any(
            isinstance(target, ast.Name) and target.id == attribute
            for target in targets
        ):
            return "of the class"
    return ""
