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

from art_adapt.code.nodes import Function, defaults_of, dotted, keyword
from art_adapt.code.syntax import LOOPS, MODULE_LEVEL
from art_adapt.rules.code import Code, Value
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART205", "shared-messages", Severity.GARBAGE)
BAD = (
    """\
import art

async def play(model, opening):
    buyer, seller = art.Trajectory(), art.Trajectory()
    buyer.messages_and_choices = [opening]
    seller.messages_and_choices = buyer.messages_and_choices  # <-
    for me in (buyer, seller):
        await speak(model, me)
    return buyer
""",
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
    """\
import art

class Agent:
    messages: list = [{"role": "system", "content": "Be brief."}]

    async def ask(self, client, text):
        self.messages.append({"role": "user", "content": text})  # <-
        sent = art.Trajectory(messages_and_choices=self.messages).messages()
        response = await client.chat.completions.create(model="m", messages=sent)
        self.messages.append(response.choices[0])  # <-

async def rollout(client, text):
    agent = Agent()
    await agent.ask(client, text)
    return art.Trajectory(messages_and_choices=agent.messages)
""",
)
GOOD = (
    """\
import art

async def play(model, opening):
    buyer, seller = art.Trajectory(), art.Trajectory()
    buyer.messages_and_choices = [opening]
    seller.messages_and_choices = list(buyer.messages_and_choices)
    again = art.Trajectory()
    again.messages_and_choices = seller.messages_and_choices
    again.metrics["turns"] = seller.metrics.get("turns", 0)
    score(seller)
    return buyer, again
""",
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

class Copied(pydantic.BaseModel):
    history: list = []

    def ask(self, question):
        self.history.append({"role": "user", "content": question})
        return recorded(client.chat.completions.create)(model="m", messages=self.history)
""",
)


def check(code: Code) -> Iterator[Found]:
    if code.runs_apart:
        return
    sent = {
        (code.syntax.owner(call.callee), name)
        for call in code.completions.calls
        if call.messages is not None
        and (name := dotted(call.messages)) is not None
        and (call.recorded or code.trajectories.in_episode(call.callee))
    }
    sent |= {
        (code.syntax.owner(call), name)
        for call in code.art_calls("Trajectory")
        if (given := code.contents.given(call, "messages_and_choices")) is not None
        and (name := dotted(given)) is not None
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

    yield from _of_another(code)
    yield from _on_copies(code)
    yield from _of_shared_objects(code)


def _of_another(code: Code) -> Iterator[Found]:
    """Yield where a trajectory is given the list of another one, which goes on with it, too."""
    for node in code.syntax.nodes:
        match node:
            case ast.Assign(
                targets=[
                    ast.Attribute(value=ast.Name(id=one), attr="messages_and_choices")
                ],
                value=ast.Attribute(
                    value=ast.Name(id=other), attr="messages_and_choices"
                ) as given,
            ) if one != other and code.trajectories.is_one(given.value):
                later = [e for e in code.reads(other, node) if e.lineno > node.lineno]
                if any(_goes_on(code, each) for each in later):
                    yield found(
                        node,
                        f"{one} and {other} have one list, so each is trained on the turns of "
                        "both: copy it",
                    )


def _goes_on(code: Code, trajectory: ast.Name) -> bool:
    """Return whether a trajectory may get more turns: it is added to, awaited on, or kept."""
    around = code.syntax.parents[trajectory]
    if isinstance(around, ast.Tuple | ast.List | ast.Dict):
        return True
    if isinstance(around, ast.Call):
        return isinstance(code.syntax.parents[around], ast.Await)
    return (
        isinstance(around, ast.Attribute)
        and around.attr == "messages_and_choices"
        and isinstance(grown := code.syntax.parents[around], ast.Attribute)
        and grown.attr in ("append", "extend")
    )


def _on_copies(code: Code) -> Iterator[Found]:
    """Yield the first that is put on a shallow copy of a trajectory of the module."""
    said = set()
    for put in code.trajectories.written:
        name = None if put.trajectory is None else dotted(put.trajectory)
        owner = code.syntax.owner(put.by)
        if put.trajectory is None or name is None or (owner, name) in said:
            continue
        for made in code.syntax.values_of(put.trajectory):
            copied = _copied(made)
            values = () if copied is None else code.aliases.values(copied)
            if values and all(
                value.node in code.trajectories.new
                and value.syntax.owner(value.node) == MODULE_LEVEL
                for value in values
            ):
                said.add((owner, name))
                yield found(
                    put.at,
                    f"{name} is a shallow copy, which has the same list of messages as all "
                    "others: they train on each other's turns; make a deep copy",
                )
                break


def _copied(made: ast.expr) -> ast.expr | None:
    """Return what is copied with the lists that it has: ``x.model_copy()``, ``copy.copy(x)``."""
    if not isinstance(made, ast.Call):
        return None
    if isinstance(made.func, ast.Attribute) and made.func.attr == "model_copy":
        return None if made.keywords or made.args else made.func.value
    return made.args[0] if dotted(made.func) == "copy.copy" and made.args else None


def _of_shared_objects(code: Code) -> Iterator[Found]:
    """Yield where rollouts change a list of an object that all of them use."""
    for name, node in code.syntax.classes.items():
        for attribute, changing in _changed_lists(code, name).items():
            if _is_recorded(code, name, attribute) and _is_shared(code, name, node):
                yield found(
                    min(changing, key=lambda each: each.lineno),
                    _says(f"self.{attribute}", f"of one {name}"),
                )


def _changed_lists(code: Code, name: str) -> dict[str, list[ast.expr | ast.stmt]]:
    """Map the lists of a class to where its asynchronous methods replace them or add to them."""
    found: dict[str, list[ast.expr | ast.stmt]] = {}
    for function in code.syntax.functions.values():
        if function.class_name != name or not isinstance(
            function.node, ast.AsyncFunctionDef
        ):
            continue
        for node in code.syntax.owned_by(function.qualname):
            target: ast.expr | None = None
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.List):
                target = node.targets[0]
            elif (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("append", "extend", "insert")
            ):
                target = node.func.value
            spelled = dotted(target) if target is not None else None
            if spelled is not None and spelled.startswith("self."):
                assert isinstance(node, ast.expr | ast.stmt)
                found.setdefault(spelled.removeprefix("self."), []).append(node)
    return found


def _is_recorded(code: Code, name: str, attribute: str) -> bool:
    """Return whether an attribute of a class is a trajectory's list, or what is sent."""
    given = [keyword(call, "messages_and_choices") for call in code.trajectories.new]
    given += [call.messages for call in code.completions.of_policy]
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == attribute
        and isinstance(node.value, ast.Name)
        and (
            code.syntax.owner(node).startswith(f"{name}.")
            if node.value.id == "self"
            else any(
                isinstance(value.node, ast.Call) and dotted(value.node.func) == name
                for value in code.values(node.value)
            )
        )
        for each in given
        if each is not None
        for node in ast.walk(each)
    )


def _is_shared(code: Code, name: str, node: ast.ClassDef) -> bool:
    """Return whether the rollouts of a group certainly use one object of a class.

    It is made outside of what makes the rollouts, which call its methods.
    """
    if node.bases:
        return False  # what the class inherits may keep them apart
    groups = list(code.art_calls("TrajectoryGroup", "gather_trajectories"))
    many = [
        each
        for group in groups
        for each in ast.walk(group)
        if isinstance(each, ast.GeneratorExp | ast.ListComp)
    ]
    for inner in (each for group in many for each in ast.walk(group.elt)):
        if not isinstance(inner, ast.Call) or isinstance(
            code.syntax.parents[inner], ast.Await
        ):
            continue  # awaited here, they run one after the other
        function = code.flow.functions.called(code.syntax, inner.func)
        if function is None or function[0] is not code.syntax:
            continue
        used = [*inner.args, *(each.value for each in inner.keywords)]
        if isinstance(inner.func, ast.Attribute) and function[1].class_name == name:
            used = [inner.func.value]
        elif not _calls_methods(code, function[1], name):
            continue
        for each in used:
            values = [value.node for value in code.values(each)]
            if values and all(
                isinstance(value, ast.Call)
                and dotted(value.func) == name
                and not any(code.blocks.within(value, one) for one in many)
                for value in values
            ):
                return True
    return False


def _calls_methods(code: Code, function: Function, name: str) -> bool:
    """Return whether a function calls a method of a class on one of its parameters."""
    for node in code.syntax.owned_by(function.qualname):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and dotted(node.func.value) in function.given
        ):
            called = code.flow.functions.called(code.syntax, node.func)
            if called is not None and called[1].class_name == name:
                return True
    return False


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
        return _default(code, value)
    if not isinstance(node, ast.List) or syntax.owner(node) != MODULE_LEVEL:
        return ""
    around = list(syntax.ancestors(node))
    for each in around:
        if isinstance(each, ast.ClassDef):
            # Pydantic, for example, copies a default for each object.
            return "" if each.bases or each.decorator_list else "of the class"
    if any(isinstance(each, ast.arguments) for each in around):
        return "a default argument"
    made_once = not any(
        isinstance(each, (*LOOPS, ast.comprehension)) for each in around
    )
    return "of the module" if made_once and not syntax.is_guarded(node) else ""


def _default(code: Code, value: Value) -> str:
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
