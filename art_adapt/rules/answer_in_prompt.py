"""The prompt holds the whole scenario with its answer, so the model learns to copy it

A row that is dumped into the prompt, as ``scenario.model_dump_json()``, has all of its fields. If
the reward compares one of them with what the model said, the model was told what to say: rewards
rise, and nothing else is learned.

Name the fields that the model may see, or leave the answer out.

Evidence: GRPO rewards what is copied like what is solved; art 0.5.18, trajectories.py (the prompt
is sent and trained as it is).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from art_adapt.code.dependence import made_from
from art_adapt.code.nodes import (
    Function,
    argument_of,
    dotted,
    given_to,
    keyword,
    last_name,
    targets_of,
)
from art_adapt.code.syntax import Syntax, return_values
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.words import DUMPS_DICT, DUMPS_TEXT

RULE = Rule("ART322", "answer-in-prompt", Severity.GARBAGE)
BAD = (
    """\
import art

def graded(question, said):
    return 0.7 * (said == question.answer) + 0.3 * (question.source in said)

async def rollout(client, model: art.TrainableModel, question):
    trajectory = art.Trajectory(
        messages_and_choices=[
            {"role": "system", "content": "Answer from the passages."},
            {"role": "user", "content": question.model_dump_json(exclude={"id"})},  # <-
        ]
    )
    reply = await client.chat.completions.create(model="m", messages=trajectory.messages())
    trajectory.messages_and_choices.append(reply.choices[0])
    trajectory.reward = graded(question, reply.choices[0].message.content)
    return trajectory
""",
    """\
import art, json

async def rollout(client, model: art.TrainableModel, row: dict):
    asked = f"Solve this: {json.dumps(row)}"  # <-
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": asked}])
    reply = await client.chat.completions.create(model="m", messages=trajectory.messages())
    choice = reply.choices[0]
    trajectory.messages_and_choices.append(choice)
    trajectory.reward = float(choice.message.content.strip() == row["answer"])
    return trajectory
""",
    """\
import art, json
from dataclasses import asdict, dataclass

@dataclass
class Question:
    text: str
    answer: str

    def card(self):
        return json.dumps(asdict(self))  # <-

    def grade(self, reply):
        return 1.0 if self.answer.lower() in reply.lower() else 0.0

def opening(question):
    return [{"role": "system", "content": "Answer."}, {"role": "user", "content": question.card()}]

async def rollout(client, model, question: Question):
    trajectory = art.Trajectory(messages_and_choices=opening(question))
    done = await client.chat.completions.create(model=model.name, messages=trajectory.messages())
    trajectory.messages_and_choices.append(done.choices[0])
    trajectory.reward = question.grade(done.choices[0].message.content or "")
    return trajectory
""",
)
GOOD = (
    BAD[0].replace("  # <-", "").replace('{"id"}', '{"answer", "source"}'),
    BAD[0].replace("  # <-", "").replace('exclude={"id"}', 'include={"text"}'),
    BAD[1].replace("  # <-", "").replace("dumps(row)", "dumps(row['question'])"),
    BAD[1].replace("  # <-", "").replace('row["answer"]', "solved(row)"),
    """\
import art

async def play(client, model: art.TrainableModel, game):
    asked = [{"role": "user", "content": f"Your move: {game}"}]
    trajectory = art.Trajectory(messages_and_choices=asked)
    reply = await client.chat.completions.create(model="m", messages=trajectory.messages())
    trajectory.messages_and_choices.append(reply.choices[0])
    game.move(reply.choices[0].message.content)
    trajectory.reward = 1.0 if game.winner == "x" else 0.0
    return trajectory
""",
    BAD[1]
    .replace("  # <-", "")
    .replace("{json.dumps(row)}", "{row}")
    .replace('row["answer"]', "row.strip()"),
    """\
import art, json
from dataclasses import asdict, dataclass

@dataclass
class Question:
    text: str
    answer: str

    def card(self):
        shown = asdict(self)
        shown.pop("answer")
        return json.dumps(shown)

    def grade(self, reply):
        return 1.0 if self.answer.lower() in reply.lower() else 0.0

async def rollout(client, model, question: Question):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": question.card()}])
    done = await client.chat.completions.create(model=model.name, messages=trajectory.messages())
    trajectory.messages_and_choices.append(done.choices[0])
    trajectory.reward = question.grade(done.choices[0].message.content or "")
    return trajectory
""",
)
DUMPS = (*DUMPS_TEXT, *DUMPS_DICT)
TAKING = ("pop", "items", "get", "keys")
DEEPEST = 3  # functions that a prompt is made in
WHOLE = ("json.dumps", "dataclasses.asdict", "str", "repr", "vars", "dict")


def check(code: Code) -> Iterator[Found]:
    for write in code.rewards.writes:
        function = code.function_of(write.node)
        for name in function.given if function is not None else ():
            graded = _graded(code, write.value, name)
            for dump in _dumped(code, write.node, name) if graded else ():
                if not _is_taken_apart(code, dump) and (
                    shown := graded - _left_out(dump)
                ):
                    yield found(
                        dump,
                        f"the prompt holds all of {name}, and with it {min(shown)}, which the "
                        "reward looks for in what the model said: leave it out",
                    )


def _graded(code: Code, reward: ast.expr, name: str) -> set[str]:
    """Return the fields of a value that a reward compares with what the model said.

    It may do so in a function that it calls.
    """
    owner = code.syntax.owner(reward)
    nodes = made_from(code.syntax, owner, [reward])
    fields = _compared(code.syntax, owner, nodes, name, code.sampled.behind)
    for call in nodes:
        body = code.entered(call) if isinstance(call, ast.Call) else None
        if body is None or not isinstance(call, ast.Call):
            continue
        given = {
            each: argument_of(call, each, body.function.positional)
            for each in body.function.given
        }
        said = {e for e, value in given.items() if value and code.sampled.behind(value)}

        def is_said(node: ast.expr, said: set[str] = said) -> bool:
            return dotted(node) in said

        for each in _names_inside(call, body.function, name):
            function = body.function.qualname
            inside = set(body.nodes)
            fields |= _compared(body.place.syntax, function, inside, each, is_said)
    return fields


def _names_inside(call: ast.Call, function: Function, name: str) -> list[str]:
    """Return what a called function calls a value: a parameter, or ``self`` in its own method."""
    is_own = isinstance(call.func, ast.Attribute) and dotted(call.func.value) == name
    given = (
        each
        for each in function.given
        if dotted(argument_of(call, each, function.positional)) == name
    )
    return [*given, *(["self"] if is_own and function.class_name else [])]


def _compared(
    syntax: Syntax,
    owner: str,
    nodes: set[ast.AST],
    name: str,
    is_said: Callable[[ast.expr], object],
) -> set[str]:
    """Return the fields of a value that are compared with what was said: ``said == row["answer"]``."""
    fields: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Compare):
            parts = made_from(syntax, owner, [node])
            if any(is_said(each) for each in parts if isinstance(each, ast.expr)):
                fields |= {_field_of(syntax, each, name) for each in ast.walk(node)}
    return fields - {""}


def _field_of(syntax: Syntax, node: ast.AST, name: str) -> str:
    around = syntax.parents.get(node)
    match node:
        case ast.Attribute(value=owner, attr=field) if dotted(owner) == name:
            is_method = isinstance(around, ast.Call) and around.func is node
            return "" if is_method else field
        case ast.Subscript(value=owner, slice=ast.Constant(value=str() as field)):
            return field if dotted(owner) == name else ""
    return ""


def _dumped(code: Code, near: ast.AST, name: str) -> Iterator[ast.expr]:
    """Yield where a prompt of a function gets all of a value as a text."""
    owner = code.syntax.owner(near)
    told = [
        each
        for call in code.trajectories.new
        if code.syntax.owner(call) == owner
        and (each := code.contents.given(call, "messages_and_choices")) is not None
    ]
    for put in code.trajectories.puts:
        if code.syntax.owner(put.by) == owner and isinstance(put.value, ast.Dict):
            told.append(put.value)
    yield from _dumps_in(code, made_from(code.syntax, owner, told), name, DEEPEST)


def _dumps_in(
    code: Code, nodes: set[ast.AST], name: str, depth: int
) -> Iterator[ast.expr]:
    """Yield the expressions that give all of a value, in functions that are called as well."""
    for node in nodes:
        match node:
            case ast.FormattedValue(value=whole) if dotted(whole) == name:
                yield whole
            case ast.Call(func=ast.Attribute(value=whole)) if (
                dotted(whole) == name
                and last_name(node.func) in DUMPS
                and keyword(node, "include") is None
            ):
                yield node
            case ast.Call() if (code.syntax.qualified(node.func) or "") in WHOLE:
                if name in map(dotted, given_to(node)[:1]):
                    yield node
            case ast.Call() if depth:
                body = code.entered(node)
                for each in _names_inside(node, body.function, name) if body else ():
                    if body is not None and body.place.syntax is code.syntax:
                        owner = body.function.qualname
                        given = return_values(code.syntax, owner)
                        made = made_from(code.syntax, owner, given)
                        yield from _dumps_in(code, made, each, depth - 1)


def _is_taken_apart(code: Code, dump: ast.expr) -> bool:
    """Return whether only some of a dump is used, or something is taken out of it."""
    around = code.syntax.parents[dump]
    if isinstance(around, ast.Attribute | ast.Subscript):
        return True
    names = {dotted(target) for target in targets_of(around)}
    return any(
        isinstance(
            outer := code.syntax.parents.get(node), ast.Attribute | ast.Subscript
        )
        and (getattr(outer, "attr", "") in TAKING or isinstance(outer.ctx, ast.Del))
        for node in code.syntax.owned_by(code.syntax.owner(dump))
        if isinstance(node, ast.Name) and node.id in names
    )


def _left_out(dump: ast.expr) -> set[str]:
    """Return the fields that a dump leaves out, as far as it says."""
    said = keyword(dump, "exclude") if isinstance(dump, ast.Call) else None
    return {
        part.value
        for part in (ast.walk(said) if said is not None else ())
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }
