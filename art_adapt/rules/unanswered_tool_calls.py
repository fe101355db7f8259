"""Tool calls get no tool message, so the model is trained on an invalid conversation

A choice with ``tool_calls`` is appended and the model is asked again, but no message with a
``tool_call_id`` answers it. OpenAI's API rejects such a request; vLLM renders a conversation
that no chat model has seen, and the model is trained on it.

Append ``{"role": "tool", "tool_call_id": call.id, "content": ...}`` for each call.

Evidence: the chat completions API (each tool call must be answered); art 0.5.18,
preprocessing/tokenize.py (the conversation is rendered with the model's chat template).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from art_adapt.code.nodes import Function, dotted, given_to, last_name, takes_the_rest
from art_adapt.rules.code import Code, Kind
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.words import ONLY_SAYS

RULE = Rule("ART208", "unanswered-tool-calls", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(client, model):
    trajectory = art.Trajectory(tools=TOOLS)
    for _ in range(5):
        response = await client.chat.completions.create(
            model="m", messages=trajectory.messages(), tools=TOOLS
        )
        trajectory.messages_and_choices.append(response.choices[0])  # <-
        for call in response.choices[0].message.tool_calls or []:
            result = run(call)
            trajectory.messages_and_choices.append({"role": "user", "content": result})
    return trajectory
""",
    """\
import art

def answered(message):
    replies = []
    for call in message.tool_calls:  # <-
        replies.append({"role": "tool", "tool_call_id": call.id, "content": run(call)})
        break
    return replies

async def rollout(client, model):
    trajectory = art.Trajectory(tools=TOOLS)
    for _ in range(5):
        response = await client.chat.completions.create(
            model="m", messages=trajectory.messages(), tools=TOOLS
        )
        choice = response.choices[0]
        trajectory.messages_and_choices.append(choice)
        if not choice.message.tool_calls:
            break
        trajectory.messages_and_choices.extend(answered(choice.message))
    return trajectory
""",
    """\
import art

async def rollout(client, model):
    trajectory = art.Trajectory(tools=TOOLS)
    for _ in range(5):
        response = await client.chat.completions.create(
            model="m", messages=trajectory.messages(), tools=TOOLS
        )
        trajectory.messages_and_choices.append(response.choices[0])
        match response.choices[0].message.tool_calls:  # <-
            case None | []:
                break
            case [call, *_]:
                reply = {"role": "tool", "tool_call_id": call.id, "content": run(call)}
                trajectory.messages_and_choices.append(reply)
    return trajectory
""",
    """\
import art

def reply(message):
    call = next(iter(message.tool_calls or []), None)  # <-
    return call and {"role": "tool", "tool_call_id": call.id, "content": run(call)}

async def rollout(client, model):
    trajectory = art.Trajectory(tools=TOOLS)
    for _ in range(5):
        response = await client.chat.completions.create(
            model="m", messages=trajectory.messages(), tools=TOOLS, parallel_tool_calls=True
        )
        choice = response.choices[0]
        trajectory.messages_and_choices.append(choice)
        if (told := reply(choice.message)) is None:
            break
        trajectory.messages_and_choices.append(told)
    return trajectory
""",
    """\
import logging

import art

async def rollout(client, model):
    trajectory = art.Trajectory(tools=TOOLS)
    for _ in range(5):
        response = await client.chat.completions.create(
            model="m", messages=trajectory.messages(), tools=TOOLS
        )
        choice = response.choices[0]
        trajectory.messages_and_choices.append(choice)
        if choice.message.tool_calls is None or len(choice.message.tool_calls) == 0:
            break
        if len(choice.message.tool_calls) > 1:
            logging.warning("several calls, the first is taken")
        call = choice.message.tool_calls[0]  # <-
        told = {"role": "tool", "tool_call_id": call.id, "content": run(call)}
        trajectory.messages_and_choices.append(told)
    return trajectory
""",
    """\
import art

def wanted(choice):
    return next(iter(choice.message.tool_calls or ()), None)  # <-

async def reply_to(call):
    return {"role": "tool", "tool_call_id": call.id, "content": await run(call)}

async def rollout(client, model, question, TOOLS):
    trajectory = art.Trajectory(messages_and_choices=[question], tools=TOOLS)
    for _ in range(9):
        done = await client.chat.completions.create(
            model=model.name, messages=trajectory.messages(), tools=TOOLS
        )
        choice = done.choices[0]
        trajectory.messages_and_choices.append(choice)
        call = wanted(choice)
        if call is None:
            break
        trajectory.messages_and_choices.append(await reply_to(call))
    return trajectory
""",
)
GOOD = (
    BAD[0]
    .replace("  # <-", "")
    .replace('"role": "user"', '"role": "tool", "tool_call_id": call.id'),
    """\
import art

async def rollout(client, model):
    trajectory = art.Trajectory(tools=TOOLS)
    for _ in range(5):
        response = await client.chat.completions.create(
            model="m", messages=trajectory.messages(), tools=TOOLS
        )
        trajectory.messages_and_choices.append(response.choices[0])
        for call in response.choices[0].message.tool_calls or []:
            reply = {"role": "tool", "tool_call_id": call.id, "content": run(call)}
            trajectory.messages_and_choices.append(reply)
            if call.function.name == "finish":
                break
        match response.choices[0].message.tool_calls:
            case [first, *rest]:
                print(first.id, rest)
    return trajectory
""",
    """\
import art

async def rollout(client, model):
    trajectory = art.Trajectory(tools=TOOLS)
    for _ in range(5):
        response = await client.chat.completions.create(
            model="m", messages=trajectory.messages(), tools=TOOLS, parallel_tool_calls=False
        )
        trajectory.messages_and_choices.append(response.choices[0])
        call = next(iter(response.choices[0].message.tool_calls or []), None)
        if call is None:
            break
        told = {"role": "tool", "tool_call_id": call.id, "content": run(call)}
        trajectory.messages_and_choices.append(told)
    return trajectory
""",
    """\
import art

async def rollout(client, model):
    trajectory = art.Trajectory(tools=TOOLS)
    for _ in range(5):
        response = await client.chat.completions.create(
            model="m", messages=trajectory.messages(), tools=TOOLS
        )
        choice = response.choices[0]
        trajectory.messages_and_choices.append(choice)
        if not choice.message.tool_calls or len(choice.message.tool_calls) > 1:
            break
        call = choice.message.tool_calls[0]
        told = {"role": "tool", "tool_call_id": call.id, "content": run(call)}
        trajectory.messages_and_choices.append(told)
    return trajectory
""",
)
# What only shows something, or asks whether it is there.
UNUSING = ONLY_SAYS | {"bool", "getattr"}
ONLY_SOME = (
    "only some tool calls are answered: others of the same turn get no tool message, and the "
    "conversation is invalid; answer each call"
)
ANSWERS = ("tool_call_id", "ToolMessage", "function_call_output")

Node = ast.stmt | ast.excepthandler


def check(code: Code) -> Iterator[Found]:
    if "tool_calls" not in code.source.text:
        return
    if not any(word in code.source.text for word in ANSWERS):
        yield from _never_answered(code)
        return
    for loop in code.syntax.nodes:
        if (
            isinstance(loop, ast.For)
            and code.trajectories.in_episode(loop)
            and code.sampled.are_tool_calls(loop.iter)
            and _goes_on(code, loop)
        ):
            name = _called(loop.target)
            paths = Paths(code, name)
            open_path = paths.unanswered(loop.body) if name else None
            if open_path is not None and any(map(paths.replies, loop.body)):
                yield found(
                    open_path,
                    "a tool call that comes this way gets no tool message: the model is "
                    "sampled and trained on an invalid conversation; answer each call",
                )
    yield from _only_first(code)
    yield from _left_after_one(code)


def _asks_for_one(code: Code) -> bool:
    """Return whether something may keep a turn from having several tool calls."""
    if any(
        isinstance(node, ast.Attribute)
        and node.attr == "tool_calls"
        and isinstance(node.ctx, ast.Store)
        for node in code.syntax.nodes
    ):
        return True  # it is cut, which ART206 reports
    if "parallel_tool_calls" not in code.source.text:
        return False
    asked = (
        code.completions.argument(each, "parallel_tool_calls")
        for each in code.completions.calls
    )
    said = [each.constant for each in asked if each is not None]
    return said != [True] * len(said) or not said


def _left_after_one(code: Code) -> Iterator[Found]:
    """Yield where a loop over tool calls ends with the first, or a pattern takes it alone."""
    if _asks_for_one(code):
        return
    for node in code.syntax.nodes:
        several, name, body = _first_alone(code, node)
        if (
            several is not None
            and any(map(Paths(code, name).replies, body))
            and code.sampled.are_tool_calls(several)
            and code.trajectories.in_episode(node)
            and _goes_on(code, node)
        ):
            yield found(several, ONLY_SOME)


def _first_alone(
    code: Code, node: ast.AST
) -> tuple[ast.expr | None, str, list[ast.stmt]]:
    """Return the list of which only the first is handled, that one's name and the statements."""
    match node:
        case ast.For(iter=several, body=[*_, ast.Break() | ast.Return()] as body):
            return several, _called(node.target), body
        case ast.match_case(
            pattern=ast.MatchSequence(
                patterns=[ast.MatchAs(name=str() as name), ast.MatchStar(name=None)]
            ),
            body=body,
        ):
            around = code.syntax.parents[node]
            return getattr(around, "subject", None), name, body
    return None, "", []


def _never_answered(code: Code) -> Iterator[Found]:
    """Yield the choices of a turn loop with tools, where nothing makes a tool message."""
    if code.trajectories.extends_items:
        return
    looped = {
        code.syntax.owner(call.callee)
        for call in code.completions.of_policy
        if code.completions.argument(call, "tools") is not None
        and code.syntax.enclosing_loop(call.callee) is not None
    }
    for put in code.trajectories.puts:
        owner = code.syntax.owner(put.by)
        if (
            owner in looped
            and code.sampled.is_choice(put.value)
            and not _answered_elsewhere(code, owner)
        ):
            yield found(
                put.at,
                "its tool calls are never answered with a tool_call_id: the model is "
                "sampled and trained on an invalid conversation",
            )


def _answered_elsewhere(code: Code, owner: str) -> bool:
    """Return whether another file's function gets the conversation or a tool call."""
    calls = {
        _called(node.target)
        for node in code.syntax.owned_by(owner)
        if isinstance(node, ast.For) and code.sampled.are_tool_calls(node.iter)
    }
    return any(
        isinstance(node, ast.Call)
        and _is_of_a_package(code, node.func)
        and any(
            dotted(given) in calls
            or code.trajectories.is_one(given)
            or code.trajectories.is_items(given)
            or code.sampled.are_tool_calls(given)
            or code.sampled.kind(given) in (Kind.MESSAGE, Kind.CHOICE)
            for given in given_to(node)
        )
        for node in code.syntax.owned_by(owner)
    )


def _is_of_a_package(code: Code, callee: ast.expr) -> bool:
    """Return whether it is imported, and from no part of Python."""
    imported = code.syntax.imports.get((dotted(callee) or "").partition(".")[0])
    return (
        imported is not None
        and imported.module.partition(".")[0] not in sys.stdlib_module_names
    )


def _called(target: ast.expr) -> str:
    """Return the name of the tool call in a loop, also behind a counter."""
    if isinstance(target, ast.Tuple) and target.elts:
        target = target.elts[-1]
    return target.id if isinstance(target, ast.Name) else ""


def _goes_on(code: Code, node: ast.AST) -> bool:
    """Return whether the model is asked again after what is done with its calls."""
    if code.syntax.enclosing_loop(node) is not None:
        return True
    return any(map(code.syntax.enclosing_loop, code.callers(node)))


@dataclass(frozen=True)
class Paths:
    """The ways through the statements that handle one tool call."""

    code: Code
    call: str  # the name of the tool call

    def unanswered(self, block: Sequence[ast.stmt]) -> ast.stmt | None:
        """Return where a way through a block begins that goes on without a reply."""
        open_path: ast.stmt | None = block[-1] if block else None
        for statement in block:
            inner = self._through(statement)
            if inner is None:
                return None
            if isinstance(inner, ast.Continue):
                return inner
            if self.replies(statement):
                open_path = inner  # some ways through it reply, this one does not
        return open_path

    def _through(self, statement: ast.stmt) -> ast.stmt | None:
        """Return where the way through one statement begins, None if all ways reply.

        A way that leaves the loop or sets something that may be asked about later counts
        as replied.
        """
        if isinstance(statement, ast.Continue):
            return statement
        if isinstance(statement, ast.Return | ast.Raise | ast.Break):
            return None
        if isinstance(statement, ast.If):
            body = self._branch(statement.body)
            if not statement.orelse:
                return body if isinstance(body, ast.Continue) else statement
            other = self._branch(statement.orelse)
            first = body if isinstance(body, ast.Continue) else None
            return first or other or body
        if isinstance(statement, ast.Match):
            ways = [self._branch(case.body) for case in statement.cases]
            whole = any(map(takes_the_rest, statement.cases))
            missing: ast.stmt | None = None if whole else statement
            return next(filter(None, ways), missing)
        if isinstance(statement, ast.Try):
            tried: list[ast.stmt | None] = [
                self._branch([*statement.body, *statement.orelse]),
                *(self._branch(handler.body) for handler in statement.handlers),
            ]
            if statement.finalbody and self.unanswered(statement.finalbody) is None:
                return None
            return next(filter(None, tried), None)
        if isinstance(statement, ast.With | ast.AsyncWith):
            return self.unanswered(statement.body)
        return None if self.replies(statement) else statement

    def _branch(self, block: Sequence[ast.stmt]) -> ast.stmt | None:
        way = self.unanswered(block)
        sets = any(
            isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign)
            for each in block
            for node in ast.walk(each)
        )
        return None if sets and not isinstance(way, ast.Continue) else way

    def replies(self, statement: ast.stmt) -> bool:
        """Return whether a statement may make a tool message, itself or elsewhere."""
        for node in ast.walk(statement):
            if isinstance(node, ast.Constant) and node.value in ANSWERS:
                return True
            if isinstance(node, ast.keyword) and node.arg in ANSWERS:
                return True
            if (
                isinstance(node, ast.Attribute)
                and node.attr == "id"
                and dotted(node.value) == self.call
            ):
                return True
            if isinstance(node, ast.Call) and self._is_given(node):
                return True
        return False

    def _is_given(self, node: ast.Call) -> bool:
        """Return whether a function gets the whole tool call."""
        says = last_name(node.func) in ONLY_SAYS
        return not says and self.call in map(dotted, given_to(node))


def _only_first(code: Code) -> Iterator[Found]:
    """Yield where the first of several tool calls is answered, and no other."""
    if _asks_for_one(code) or "tool_call_id" not in code.source.text:
        return
    for node in code.syntax.nodes:
        several = code.sampled.cut(node)
        if (
            several is None
            or not code.sampled.are_tool_calls(several)
            or not code.trajectories.in_episode(node)
            or not _goes_on(code, node)
        ):
            continue
        assert isinstance(node, ast.expr)
        function = code.function_of(node)
        assert function is not None
        if _is_used(code, node) and not _uses_others(code, node, several, function):
            yield found(node, ONLY_SOME)


def _uses_others(
    code: Code, first: ast.expr, several: ast.expr, function: Function
) -> bool:
    """Return whether a function does more with the tool calls than to take the first ones."""
    for node in code.syntax.owned_by(function.qualname):
        if isinstance(node, ast.For | ast.comprehension):
            sliced = node.iter is first
            if not sliced and code.sampled.are_tool_calls(node.iter):
                return True
        elif isinstance(node, ast.Call) and last_name(node.func) not in UNUSING:
            if not _only_counts(code, node) and any(
                each is not several
                and isinstance(each, ast.Name | ast.Attribute)
                and code.sampled.are_tool_calls(each)
                for each in node.args
            ):
                return True
        elif (
            isinstance(node, ast.Attribute)
            and node.attr == "tool_calls"
            and node is not several
            and not isinstance(
                code.syntax.parents.get(node), ast.NamedExpr | ast.Assign
            )
            and not _is_asked_whether(code, node)
        ):
            return True
    return False


def _only_counts(code: Code, node: ast.Call) -> bool:
    """Return whether ``len`` asks if there are any calls, or several, of which something is said."""
    around = code.syntax.parents.get(node)
    if last_name(node.func) != "len" or not isinstance(around, ast.Compare):
        return False
    outer = code.syntax.parents.get(around)
    is_said = isinstance(outer, ast.If) and all(map(_only_says, outer.body))
    (counted,) = around.comparators if len(around.comparators) == 1 else (around,)
    return is_said or (isinstance(counted, ast.Constant) and counted.value == 0)


def _only_says(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and last_name(statement.value.func) in ONLY_SAYS
    )


def _is_used(code: Code, node: ast.expr) -> bool:
    """Return whether a first call is named, handed on or answered, or the first few gone through.

    What a function returns, its callers use.
    """
    around = code.syntax.parents[node]
    while isinstance(around, ast.IfExp | ast.BoolOp | ast.NamedExpr):
        around = code.syntax.parents[around]
    if isinstance(around, ast.Return):
        return any(_is_used(code, call) for call in code.callers(node) if call != node)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return isinstance(around, ast.For | ast.comprehension)
    is_answered = isinstance(around, ast.Attribute) and around.attr == "id"
    is_handed = (
        isinstance(around, ast.Call)
        and node in around.args
        and last_name(around.func) not in UNUSING
    )
    is_named = isinstance(around, ast.Assign | ast.AnnAssign)
    return is_named or is_answered or is_handed


def _is_asked_whether(code: Code, node: ast.Attribute) -> bool:
    """Return whether it only asks whether there are any tool calls, or how many."""
    inner: ast.AST = node
    for outer in code.syntax.ancestors(node):
        if isinstance(outer, ast.Call):
            return _only_counts(code, outer)
        if isinstance(outer, ast.If | ast.While | ast.IfExp):
            return outer.test is inner
        if not isinstance(outer, ast.UnaryOp | ast.BoolOp | ast.Compare):
            return False
        inner = outer
    return False
