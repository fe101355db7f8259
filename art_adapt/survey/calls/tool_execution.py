"""Finds where an agent runs the tools that the model asks for.

That is the call whose result goes back to the model as the tool's reply. Where no reply
can be seen, it is the place that looks a tool up by the name that the model gave, or
hands all requested calls to something that runs them.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TypeGuard

from art_adapt.code.call_graph import CallGraph
from art_adapt.code.nodes import (
    argument_of,
    called_name,
    dotted,
    entries,
    keyword,
    last_name,
)
from art_adapt.code.project import Project
from art_adapt.code.syntax import Syntax, return_values
from art_adapt.survey.calls.asking import Asking
from art_adapt.survey.calls.requested_calls import (
    CERTAIN,
    given,
    is_no_tool,
    likeness,
    spelled,
)
from art_adapt.survey.calls.tool_lookups import (
    find_lookup,
    how_found,
    in_branches,
    running_all,
)
from art_adapt.survey.calls.tool_names import branch_of_a_tool
from art_adapt.survey.model import ToolExecution
from art_adapt.words import CONVERSATIONS, OBSERVATION, ONLY_WRAPS, TOOL_MESSAGE

# Parts of a request: what is made of them is no result.
OF_REQUEST = ("function.name", "function.arguments", "call.id", "call.name")
OTHERS_REQUESTS = ("messages.create", "messages.stream", "models.generate_content")
REPLY_ROLES = ("tool", "function")
REPLIES_TO = frozenset({"tool_call_id", "name"})  # keys that say to what
LIKELY = 2  # the likeness of a call that may run one; its reply may be no reply
MOST_NAMES = 60  # that a reply is followed through
_Seen = set[tuple[Path, str, str]]


def find_tool_execution(
    project: Project,
    graph: CallGraph,
    syntax: Syntax,
    asking: Asking,
    run: Collection[str] = (),
) -> ToolExecution | None:
    """Find the call in a file whose result is a tool's reply, or the lookup of a tool.

    What a model says is no result; only a tool that is an agent itself leads to one.
    ``run``: the functions of the file that an episode runs; without any, all count.
    """
    every = [
        (place, call, _shared(syntax, reply, call))
        for reply, least in _replies(syntax)
        if not run or syntax.owner(reply) in run
        for place, call in _made_by(project, graph, syntax, reply, set())
        if not _is_request(call, asking)
        and not is_no_tool(call)
        and likeness(call) >= max(least, place.owner(call) != syntax.owner(reply))
    ]
    made = [each for each in every if each[1].func not in asking.sites] or every
    if made:
        place, call, _ = max(
            made, key=lambda each: (likeness(each[1]), each[2], each[1].lineno)
        )
        branch = branch_of_a_tool(place, call)
        if branch is None:
            return ToolExecution(place.place(call), how_found(place, call))
        return in_branches(place, branch)
    return find_lookup(syntax, run) or running_all(graph, syntax, run)


def _shared(syntax: Syntax, reply: ast.expr, call: ast.Call) -> int:
    """Return how many blocks a reply shares with a call: two branches may use the same names."""
    return len({*syntax.ancestors(reply)}.intersection(syntax.ancestors(call)))


def _is_request(call: ast.Call, asking: Asking) -> bool:
    """True if a call asks a model, of whatever provider, or is given a conversation to send."""
    name = dotted(call.func) or ""
    sends = call.func in asking.sites and any(
        last_name(each).lstrip("_") in CONVERSATIONS for each in given(call)
    )
    asks = call.func in asking.completions or name.endswith(OTHERS_REQUESTS)
    return asks or sends


def _replies(syntax: Syntax) -> Iterator[tuple[ast.expr, int]]:
    """Yield the contents of the tool messages that a file writes, then of observations.

    Each comes with the least likeness of a call that may have made it.
    """
    observed = []
    for node in syntax.nodes:
        fields = entries(node)
        role = fields.get("role")
        kind = fields.get("type")
        if role is not None and _role(role) in REPLY_ROLES:
            if "content" in fields:
                yield fields["content"], 0
        elif isinstance(kind, ast.Constant) and kind.value == "function_call_output":
            if "output" in fields:
                yield fields["output"], 0
        elif isinstance(node, ast.Call) and TOOL_MESSAGE.search(
            dotted(node.func) or ""
        ):
            content = keyword(node, "content") or keyword(node, "output")
            if content is not None:
                yield content, 0
        elif (
            role is not None
            and _role(role) == "user"
            and "content" in fields
            and OBSERVATION.search(_words(syntax, fields["content"]))
            and syntax.enclosing_loop(node) is not None
        ):
            observed.append((fields["content"], LIKELY))
    yield from observed


def answers_a_call(node: ast.AST) -> TypeGuard[ast.Dict | ast.Call]:
    """True if a node is a message with a tool's reply."""
    role = entries(node).get("role")
    return role is not None and _role(role) in REPLY_ROLES


def names_its_call(message: ast.Dict | ast.Call) -> bool:
    """True if a tool's reply names the call or the tool, or may do so elsewhere.

    Without either the API refuses it: it is a note, as in a conversation that is saved.
    """
    fields = entries(message)
    is_whole = isinstance(message, ast.Dict) and len(fields) == len(message.keys)
    return not is_whole or not REPLIES_TO.isdisjoint(fields)


def _role(value: ast.expr) -> str:
    """Return the role that a message has: "tool", also for ``Role.TOOL`` and ``Role.TOOL.value``."""
    if isinstance(value, ast.Constant):
        return str(value.value)
    words = (dotted(value) or "").removesuffix(".value").split(".")
    return words[-1].lower() if len(words) > 1 and words[-1].isupper() else ""


def _words(syntax: Syntax, value: ast.expr) -> str:
    """Return the texts and names in a value, and in what a name is assigned."""
    values = [value, *(syntax.values_of(value) if isinstance(value, ast.Name) else ())]
    return " ".join(
        each.id if isinstance(each, ast.Name) else str(each.value)
        for whole in values
        if isinstance(whole, ast.Name | ast.JoinedStr | ast.BinOp)
        for each in ast.walk(whole)
        if isinstance(each, ast.Name)
        or (isinstance(each, ast.Constant) and isinstance(each.value, str))
    )


def _made_by(
    project: Project, graph: CallGraph, syntax: Syntax, value: ast.expr, seen: _Seen
) -> Iterator[tuple[Syntax, ast.Call]]:
    """Follow a value back to the calls that it comes from, each name once."""

    def follow(inner: ast.expr) -> Iterator[tuple[Syntax, ast.Call]]:
        return _made_by(project, graph, syntax, inner, seen)

    if spelled(value).endswith(OF_REQUEST):
        return
    if isinstance(value, ast.Call):
        name = called_name(value)
        if name not in ONLY_WRAPS:
            yield syntax, value
        if likeness(value) >= CERTAIN:
            return  # what it is given comes from the model
        for inner in (*value.args, *_returned(syntax, value)):
            yield from follow(inner)
        if isinstance(value.func, ast.Attribute) and name in ONLY_WRAPS:
            yield from follow(value.func.value)
    elif isinstance(value, ast.Name):
        yield from _made_by_name(project, graph, syntax, value, seen)
    else:
        for inner in _parts(value):
            yield from follow(inner)


def _returned(syntax: Syntax, call: ast.Call) -> list[ast.expr]:
    """Return what a function defined around its call returns: ``async def run_one(call)``."""
    inner = f"{syntax.owner(call)}.{dotted(call.func)}"
    return return_values(syntax, inner) if inner in syntax.functions else []


def _parts(value: ast.expr) -> list[ast.expr]:
    """Return the expressions that a value is put together from, or a part of."""
    match value:
        case ast.JoinedStr() | ast.BoolOp() | ast.Dict():
            return value.values
        case ast.List() | ast.Tuple():
            return value.elts
        case ast.BinOp():
            return [value.left, value.right]
        case ast.IfExp():
            return [value.body, value.orelse]
        case ast.ListComp() | ast.GeneratorExp():
            return [value.elt]
        case ast.DictComp():
            return [value.key, value.value]
        case (
            ast.Await()
            | ast.Attribute()
            | ast.Subscript()
            | ast.FormattedValue()
            | ast.Starred()
        ):
            return [value.value]
    return []


def _made_by_name(
    project: Project, graph: CallGraph, syntax: Syntax, name: ast.Name, seen: _Seen
) -> Iterator[tuple[Syntax, ast.Call]]:
    owner = syntax.owner(name)
    if (syntax.source.path, owner, name.id) in seen or len(seen) > MOST_NAMES:
        return
    if name.id.lstrip("_") in CONVERSATIONS:
        return  # of which a reply is a part
    seen.add((syntax.source.path, owner, name.id))
    for source in syntax.origins(owner, name.id):
        yield from _made_by(project, graph, syntax, source, seen)
    function = syntax.functions.get(owner)
    if function is None or name.id not in function.given:
        return
    for place, call in graph.calls_of(project, (syntax.source.path, owner)):
        handed = argument_of(call, name.id, function.positional)
        if handed is not None:
            yield from _made_by(project, graph, place, handed, seen)
