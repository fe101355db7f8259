"""Tells policy calls from auxiliary ones: a judge, a guard, another model's summary.

A side job is a request of its own beside the agent's conversation: its name says what it
is for, or a tool makes it. In a chain of such requests without a conversation, each is a
step of the agent, whatever it is called.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from art_adapt.code.nodes import (
    FunctionNode,
    decorator_names,
    dotted,
    entries,
    grown_list,
    text_of,
)
from art_adapt.code.project import Project
from art_adapt.code.syntax import Syntax
from art_adapt.code.values import texts_side_by_side, usual_text_of
from art_adapt.survey.calls.completion_calls import FoundCall
from art_adapt.survey.calls.tool_names import is_of_a_tool
from art_adapt.words import INSTRUCT, OTHERS_JOB, SIDE_JOB, SIDE_MODEL, TOOL_DECORATORS


class Role(StrEnum):
    """Whether the model behind a completion call is the one to train."""

    POLICY = "policy"
    AUXILIARY = "auxiliary"


def roles_of(
    calls: Sequence[FoundCall],
    loops: Mapping[FoundCall, object],
    handed: Container[FoundCall] = (),
) -> dict[FoundCall, tuple[Role, str]]:
    """Decide for each call whether it asks the model to train, and give the reason.

    ``loops`` are the calls that a loop makes again; ``handed`` those that only a table of
    tools leads to.
    """
    in_tools = {
        c
        for c in calls
        if c in handed or _in_tool(c.syntax, c.callee) or _is_asked_for_a_tool(c)
    }
    core = [c for c in calls if c not in in_tools and _is_core(c, c in loops)]
    return {
        call: _role_of(call, call in loops, call in in_tools, calls, core)
        for call in calls
    }


def _is_core(call: FoundCall, in_loop: bool) -> bool:
    """True if a call carries the agent's conversation: with tools, turn after turn."""
    if SIDE_JOB.search(_named(call)):
        return False
    return _has_tools(call) or in_loop or _grows(call)


def _named(call: FoundCall) -> str:
    return f"{call.syntax.source.path.stem}.{call.function}"


def _has_tools(call: FoundCall) -> bool:
    return call.tools is not None and not isinstance(call.tools, ast.Constant)


def _grows(call: FoundCall) -> bool:
    """True if the function that makes the call adds to the conversation."""
    name = dotted(call.messages) if call.messages is not None else None
    return name is not None and any(
        grown_list(node) == name for node in call.syntax.owned_by(call.function)
    )


def _role_of(
    call: FoundCall,
    in_loop: bool,
    in_tool: bool,
    every: Sequence[FoundCall],
    core: Sequence[FoundCall],
) -> tuple[Role, str]:
    role, reason = stated_role(call, every)
    of_its_own = call.conversation().startswith("the attribute")
    if (
        role is Role.AUXILIARY
        or not core
        or call in core
        or of_its_own
        or (in_loop and _has_tools(call))
    ):
        return role, reason
    beside = f"beside the conversation in {core[0].function}{_overruled(call)}"
    if in_tool:
        return Role.AUXILIARY, f"{call.function} is part of a tool, {beside}"
    if SIDE_JOB.search(_named(call)):
        return Role.AUXILIARY, f"{call.function} is a side job by its name, {beside}"
    return role, reason


def side_job_of(place: Path, called: str) -> str:
    """Return the word by which a function is named after a side job, for an agent that is not here.

    A simulated user, a judge: training it may be meant, but the agent more often is.
    """
    found = OTHERS_JOB.search(f"{place.stem}.{called}")
    return found[0] if found else ""


def stated_role(call: FoundCall, others: Sequence[FoundCall]) -> tuple[Role, str]:
    """Decide by what the call itself states: a comment, a client's name, another model."""
    if call.marked_auxiliary:
        return Role.AUXILIARY, "marked by the comment 'art: auxiliary'"
    model = call.syntax.text(call.model) if call.model is not None else ""
    client = call.syntax.text(call.client)
    named = literal_model(call) or ""
    for what, text in (("model", model), ("model", named), ("client", client)):
        if SIDE_MODEL.search(text):
            return Role.AUXILIARY, f"its {what} {text} is named like a side job"
    if not SIDE_MODEL.search(call.function):
        return Role.POLICY, "a completion call of the agent"
    own = literal_model(call)
    main = {
        literal_model(other)
        for other in others
        if not SIDE_MODEL.search(other.function)
    } - {None}
    if own is not None and main and own not in main:
        why = f"{call.function} runs on another model ({own}){_overruled(call)}"
        return Role.AUXILIARY, why
    return (
        Role.POLICY,
        f"{call.function} sounds like a side job but may run on the agent's model; --auxiliary {call.function} keeps it out",
    )


def _overruled(call: FoundCall) -> str:
    return f"; --policy {call.function} records it"


def _is_asked_for_a_tool(call: FoundCall) -> bool:
    """True if the branch for a requested tool asks in a conversation that begins there."""
    begins = call.tools is None and begins_in_function(call)
    return begins and is_of_a_tool(call.syntax, call.callee)


def begins_in_function(call: FoundCall) -> bool:
    """True if a request's conversation begins in its function, which does not go on with it."""
    if call.messages is None or _grows(call):
        return False
    lists = [call.messages]
    if isinstance(call.messages, ast.Name):
        lists = call.syntax.values_of(call.messages)
    return bool(lists) and all(map(_begins_here, lists))


def _begins_here(messages: ast.expr) -> bool:
    """True if messages are written out, and hold no earlier reply and no tool's result."""
    return isinstance(messages, ast.List) and all(
        isinstance(each, ast.Dict)
        and text_of(entries(each).get("role")) in (*INSTRUCT, "user")
        for each in messages.elts
    )


def _in_tool(syntax: Syntax, node: ast.AST) -> bool:
    """True if the function or class around ``node`` is declared to be a tool."""
    for outer in syntax.ancestors(node):
        if isinstance(outer, FunctionNode | ast.ClassDef) and any(
            name in TOOL_DECORATORS for name in decorator_names(outer)
        ):
            return True
        if isinstance(outer, ast.ClassDef) and any(
            (dotted(base) or "").endswith("Tool") for base in outer.bases
        ):
            return True
    return False


def usual_model(project: Project, call: FoundCall) -> str | None:
    """Return the model's name, where the project says it: spelled out, or as a default."""
    return literal_model(call) or usual_text_of(project, call.syntax, call.model)


def models_side_by_side(project: Project, call: FoundCall) -> tuple[str, ...]:
    """Return the models of the objects that ask through a call, if one function makes several."""
    found = texts_side_by_side(project, call.syntax, call.model)
    return found if len(found) > 1 else ()


def literal_model(call: FoundCall) -> str | None:
    """Return the model's name, where the file spells it out."""
    if call.model is None:
        return None
    values = (call.model, *call.syntax.values_of(call.model))
    return next((text for each in values if (text := text_of(each)) is not None), None)
