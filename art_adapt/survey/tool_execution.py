"""Finds where an agent runs the tools that the model asks for.

That is the call whose result goes back to the model as the tool's reply. Where no reply
can be seen, it is the place that looks a tool up by the name that the model gave.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TypeGuard

from art_adapt.survey.apis import KINDS
from art_adapt.survey.asking import Asking
from art_adapt.survey.call_graph import CallGraph
from art_adapt.survey.model import ToolExecution
from art_adapt.survey.nodes import argument_of, dotted, keyword, last_name
from art_adapt.survey.project import Project
from art_adapt.survey.syntax import Syntax

NOT_TOOLS = {
    "input",
    "print",
    "append",
    "info",
    "debug",
    "log",
    "warning",
    "str",
    "format",
    "len",
}
# What only spells a result, or waits for it.
WRAPPERS = frozenset(
    {"str", "repr", "dumps", "loads", "format", "join", "wait_for", "gather", "list"}
    | {"run_until_complete", "model_dump_json", "model_dump", "truncate", "strip"}
    | {"enumerate", "zip", "map", "dict", "getattr", "to_json", "cast", "get", "result"}
    | {"isinstance", "len", "type", "items", "values", "copy", "as_completed"}
    | {"json", "read", "decode"}  # of a response
    | {"eval", "literal_eval", "parse_raw", "model_validate_json"}  # of arguments
)
RUNS = re.compile(r"tool|call|execute|invoke|run|dispatch|handle|submit|perform", re.I)
NAMED = re.compile(r"name|tool|call|action|command", re.I)
ARGUMENTS = re.compile(r"^(?!.*kwargs).*(arg|input|param|payload)", re.I)
# What only spells a result, or asks whether a tool may run.
CONVERTS = re.compile(
    r"^_?(to_|as_|format|convert|serial|normal|extract|ensure|parse|render|map_|persist"
    r"|trunc|sanit|clean|approve|confirm|allow|check|valid|should|is_|has_)",
    re.I,
)
# Parts of a request: what is made of them is no result.
OF_REQUEST = ("function.name", "function.arguments", "call.id", "call.name")
OTHERS_REQUESTS = ("messages.create", "messages.stream", "models.generate_content")
REPLY_ROLES = ("tool", "function")
OBSERVATION = re.compile(r"tool|observation|function|result", re.IGNORECASE)
CERTAIN = 3  # the likeness of a call that runs a tool, beyond doubt
LIKELY = 2  # and of one that may, where a message only sounds like a reply
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
    endings = _endings(syntax)
    every = [
        (place, call)
        for reply, least in _replies(syntax)
        if not run or syntax.owner(reply) in run
        for place, call in _made_by(project, graph, syntax, reply, set())
        if not _is_request(call, asking)
        and not _is_constructor(call)
        and _likeness(call) >= least
    ]
    made = [each for each in every if each[1].func not in asking.sites] or every
    if made:
        place, call = max(made, key=lambda each: _likeness(each[1]))
        return ToolExecution(place.place(call), _how(place, call, _endings(place)))
    for node in syntax.nodes:
        if isinstance(node, ast.expr) and (not run or syntax.owner(node) in run):
            found = _execution(node, syntax, endings)
            if found is not None:
                return ToolExecution(syntax.place(node), found)
    return None


def _is_request(call: ast.Call, asking: Asking) -> bool:
    """Whether a call asks a model, of whatever provider."""
    name = dotted(call.func) or ""
    return call.func in asking.completions or name.endswith(OTHERS_REQUESTS)


def _replies(syntax: Syntax) -> Iterator[tuple[ast.expr, int]]:
    """The contents of the tool messages that a file writes, then of observations.

    Each comes with the least likeness of a call that may have made it.
    """
    observed = []
    for node in syntax.nodes:
        fields = _fields(node)
        role = fields.get("role")
        kind = fields.get("type")
        if role is not None and _role(role) in REPLY_ROLES:
            if "content" in fields:
                yield fields["content"], 0
        elif isinstance(kind, ast.Constant) and kind.value == "function_call_output":
            if "output" in fields:
                yield fields["output"], 0
        elif isinstance(node, ast.Call) and re.search(
            r"tool_?(message|result|response|output)$", dotted(node.func) or "", re.I
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
    """Whether a node is a message with a tool's reply."""
    role = _fields(node).get("role")
    return role is not None and _role(role) in REPLY_ROLES


def _role(value: ast.expr) -> str:
    """The role that a message has: "tool", also for ``Role.TOOL`` and ``Role.TOOL.value``."""
    if isinstance(value, ast.Constant):
        return str(value.value)
    words = (dotted(value) or "").removesuffix(".value").split(".")
    return words[-1].lower() if len(words) > 1 and words[-1].isupper() else ""


def _fields(node: ast.AST) -> dict[str, ast.expr]:
    """The entries of a dict display or of a call with keywords."""
    if isinstance(node, ast.Dict):
        return {
            key.value: value
            for key, value in zip(node.keys, node.values, strict=True)
            if isinstance(key, ast.Constant) and isinstance(key.value, str)
        }
    if isinstance(node, ast.Call):
        return {k.arg: k.value for k in node.keywords if k.arg is not None}
    return {}


def _words(syntax: Syntax, value: ast.expr) -> str:
    """The texts and names in a value, and in what a name is assigned."""
    values = [value, *(syntax.values_of(value) if isinstance(value, ast.Name) else ())]
    return " ".join(
        each.id if isinstance(each, ast.Name) else str(each.value)
        for whole in values
        if isinstance(whole, ast.Name | ast.JoinedStr | ast.BinOp)
        for each in ast.walk(whole)
        if isinstance(each, ast.Name)
        or (isinstance(each, ast.Constant) and isinstance(each.value, str))
    )


def _is_constructor(call: ast.Call) -> bool:
    name = (dotted(call.func) or "").split(".")[-1]
    return name in NOT_TOOLS or name[:1].isupper()


def _called(call: ast.Call) -> str:
    """The name of what is called, whatever it is an attribute of."""
    function = call.func
    return (
        function.attr if isinstance(function, ast.Attribute) else dotted(function) or ""
    )


def _likeness(call: ast.Call) -> int:
    """How much a call looks like one that runs a tool.

    Running one takes the request's arguments, a lookup by its name, or a verb that says so.
    """
    name = _called(call)
    given = [*call.args, *(k.value for k in call.keywords if k.arg is not None)]
    words = [_spelled(each).rpartition(".")[2] for each in given]
    spread = [_spelled(k.value) for k in call.keywords if k.arg is None]
    return (
        3 * any(not re.search("kwargs|options", each) for each in spread)
        + 3 * isinstance(call.func, ast.Subscript)
        + 2 * (RUNS.search(name) is not None)
        + any(NAMED.search(each) for each in words)
        + 2 * any(ARGUMENTS.search(each) for each in words)
        - 3 * (CONVERTS.search(name) is not None)
    )


def _spelled(value: ast.expr) -> str:
    """The names and keys on the way to a value: call.function.name for ``call["function"]["name"]``."""
    match value:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=inner, attr=name):
            return f"{_spelled(inner)}.{name}"
        case ast.Subscript(value=inner, slice=ast.Constant(value=str(name))):
            return f"{_spelled(inner)}.{name}"
        case ast.Call(func=ast.Attribute(value=inner, attr="get"), args=[first, *_]):
            key = str(first.value) if isinstance(first, ast.Constant) else ""
            return f"{_spelled(inner)}.{key}"
        case ast.Call(func=function, args=[first, *_]) if (
            last_name(function) == "loads"
        ):
            return _spelled(first)
    return ""


def _made_by(
    project: Project, graph: CallGraph, syntax: Syntax, value: ast.expr, seen: _Seen
) -> Iterator[tuple[Syntax, ast.Call]]:
    """Follow a value back to the calls that it comes from, each name once."""

    def follow(inner: ast.expr) -> Iterator[tuple[Syntax, ast.Call]]:
        return _made_by(project, graph, syntax, inner, seen)

    if _spelled(value).endswith(OF_REQUEST):
        return
    if isinstance(value, ast.Call):
        name = _called(value)
        if name not in WRAPPERS:
            yield syntax, value
        if _likeness(value) >= CERTAIN:
            return  # what it is given comes from the model
        for inner in value.args:
            yield from follow(inner)
        if isinstance(value.func, ast.Attribute) and name in WRAPPERS:
            yield from follow(value.func.value)
    elif isinstance(value, ast.Name):
        yield from _made_by_name(project, graph, syntax, value, seen)
    else:
        for inner in _parts(value):
            yield from follow(inner)


def _parts(value: ast.expr) -> list[ast.expr]:
    """The expressions that a value is put together from, or a part of."""
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
    seen.add((syntax.source.path, owner, name.id))
    for source in syntax.origins(owner, name.id):
        yield from _made_by(project, graph, syntax, source, seen)
    function = syntax.functions.get(owner)
    if function is None or name.id not in function.given:
        return
    for place, call in graph.calls_of(project, (syntax.source.path, owner)):
        given = argument_of(call, name.id, function.positional)
        if given is not None:
            yield from _made_by(project, graph, place, given, seen)


def _how(syntax: Syntax, call: ast.Call, endings: tuple[str, ...]) -> str:
    """Describe how a call that runs a tool finds it."""
    function = call.func
    for node in (call, function, *syntax.values_of(function)):
        found = _execution(node, syntax, endings)
        if found is not None:
            return found
    while isinstance(function, ast.Subscript):
        if not isinstance(function.value, ast.Subscript):
            return f"looked up in {syntax.text(function.value)}"
        function = function.value
    return f"handed to {syntax.text(function)}"


def _endings(syntax: Syntax) -> tuple[str, ...]:
    """The attributes by which a file may read the name of a requested tool."""
    text = syntax.source.text
    return tuple(
        f".{name}"
        for kind in KINDS
        if not kind.tool_words or any(word in text for word in kind.tool_words)
        for name in kind.tool_names
    )


def _execution(node: ast.expr, syntax: Syntax, endings: tuple[str, ...]) -> str | None:
    """Describe how ``node`` looks up a tool by its name; None if it does not.

    ``endings``: the attributes by which the name of a requested tool may be read.
    """
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        found = _is_tool_name(node.slice, syntax, endings)
        return f"looked up in {syntax.text(node.value)}" if found else None
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
        found = _is_tool_name(node.left, syntax, endings) and _does_more(syntax, node)
        return "chosen by comparing the name" if found else None
    if not isinstance(node, ast.Call):
        return None
    named = any(_is_tool_name(argument, syntax, endings) for argument in node.args)
    function = dotted(node.func) or ""
    if not named or function.split(".")[-1] in NOT_TOOLS:
        return None
    if function == "getattr":
        return f"an attribute of {syntax.text(node.args[0])}"
    if isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        return f"looked up in {syntax.text(node.func.value)}"
    if _likeness(node) < CERTAIN:
        return None  # its name alone says nothing of its arguments
    return f"handed to {syntax.text(node.func)}"


def _does_more(syntax: Syntax, test: ast.expr) -> bool:
    """Whether what stands under a comparison calls more than what reads the request."""
    branch = next(
        (outer for outer in syntax.ancestors(test) if isinstance(outer, ast.stmt)), test
    )
    if not isinstance(branch, ast.If):
        return not isinstance(branch, ast.Assert)
    calls = (
        n for each in branch.body for n in ast.walk(each) if isinstance(n, ast.Call)
    )
    return any(
        _called(call) not in WRAPPERS | NOT_TOOLS and not _called(call)[:1].isupper()
        for call in calls
    )


def _is_tool_name(
    expression: ast.expr, syntax: Syntax, endings: tuple[str, ...]
) -> bool:
    """Whether an expression is the name of a requested tool, or a variable with it."""
    values = [expression]
    if isinstance(expression, ast.Name):
        values = syntax.values_of(expression)
    return any(
        _spelled(value).endswith(endings) or _is_parsed_name(value, syntax)
        for value in values
    )


def _is_parsed_name(value: ast.expr, syntax: Syntax) -> bool:
    """Whether a value is ``request["name"]`` of what was parsed from the model's text."""
    return (
        isinstance(value, ast.Subscript)
        and isinstance(value.slice, ast.Constant)
        and value.slice.value in ("name", "tool", "tool_name", "action", "function")
        and any(
            isinstance(each, ast.Call) and last_name(each.func) == "loads"
            for each in syntax.values_of(value.value)
        )
    )
