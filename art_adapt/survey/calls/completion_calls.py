"""Finds the completion calls of a file: called in place, or passed on as a value."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from art_adapt.calls import (
    KINDS,
    METHOD_NAMES,
    NAMESPACES,
    RESOURCE_MODULE,
    RESPONSE_MODEL,
    VIEWS,
    Api,
    CallKind,
    Method,
)
from art_adapt.code.classes import FunctionKey
from art_adapt.code.hooks import unhooked
from art_adapt.code.nodes import (
    FunctionNode,
    arguments_of,
    attribute_of,
    dotted,
    keyword,
)
from art_adapt.code.project import Project
from art_adapt.code.syntax import MODULE_LEVEL, Syntax
from art_adapt.code.values import steps
from art_adapt.survey.calls.own_clients import is_made_of, methods_of_own
from art_adapt.words import CLIENTS

AUXILIARY_COMMENT = re.compile(r"#.*\bart:\s*auxiliary\b")
ALIASES = 3  # how many assignments in a row are followed to a resource


@dataclass(frozen=True, eq=False)
class FoundCall:
    """A completion call, with the nodes that later steps start from.

    ``kind`` is its row of the table and ``form`` its method there. ``referenced``: the
    callee is passed on and not called here. ``recorded``: it has its hook.
    """

    syntax: Syntax
    callee: ast.expr
    # The call with the arguments; a referenced callee's is the call that it is passed to.
    call: ast.Call | None
    client: ast.expr
    kind: CallKind
    form: Method
    referenced: bool
    recorded: bool

    @property
    def function(self) -> str:
        return self.syntax.owner(self.callee)

    @property
    def api(self) -> Api:
        return self.kind.api

    @property
    def supported(self) -> bool:
        """True if the recorder can send it to the model in training.

        A rollout that reaches an unsupported call stops there.
        """
        return self.kind.supported

    @property
    def method(self) -> str:
        return self.form.name

    @property
    def model(self) -> ast.expr | None:
        return self._argument("model")

    @property
    def messages(self) -> ast.expr | None:
        found = (self._argument(name) for name in self.kind.messages)
        return next((value for value in found if value is not None), None)

    @property
    def tools(self) -> ast.expr | None:
        return self._argument("tools") or self._argument("functions")

    @property
    def streams(self) -> bool:
        value = self._argument("stream")
        return self.form.streams or (value is not None and not _is_false(value))

    @property
    def returns_answer(self) -> bool:
        """True if the call returns the answer itself rather than a completion."""
        return self.call is not None and RESPONSE_MODEL in _arguments(self.call)

    @property
    def marked_auxiliary(self) -> bool:
        first, last = self.callee.lineno, (self.call or self.callee).lineno
        return any(
            AUXILIARY_COMMENT.search(line)
            for line in self.syntax.source.lines[first - 1 : last]
        )

    def _argument(self, name: str) -> ast.expr | None:
        """Find an argument by keyword or by position."""
        if self.call is None:
            return None
        if (value := keyword(self.call, name)) is not None:
            return value
        for unpacked in (each.value for each in self.call.keywords if not each.arg):
            if (value := _entry(self.syntax, unpacked, name)) is not None:
                return value
        given = self.call.args
        if self.referenced:  # partial(completion, "m"): what follows the callee
            given = given[_index(self.call, self.callee) + 1 :]
        written = takewhile(lambda value: not isinstance(value, ast.Starred), given)
        return dict(zip(self.kind.positional, written, strict=False)).get(name)

    def conversation(self) -> str:
        """Describe where the list of messages comes from."""
        messages = self.messages
        if messages is None:
            unpacked = self.call is not None and "**" in _arguments(self.call)
            return "in **arguments" if unpacked else "unknown"
        if isinstance(messages, ast.List | ast.ListComp):
            return "written in the call"
        if isinstance(messages, ast.BinOp | ast.IfExp):
            return "put together for each call"
        if isinstance(messages, ast.Call):
            return "made by a call for each request"
        name = dotted(messages)
        if name is None:
            return "an expression"
        if name.startswith(("self.", "cls.")):
            return f"the attribute {name}"
        function = self.syntax.functions.get(self.function)
        if function is not None and name in {a.arg for a in _parameters(function.node)}:
            return f"the parameter {name}"
        values = self.syntax.assignments.get(name, [])
        local = [value for where, value in values if where == self.function]
        if local:
            is_list = any(isinstance(each, ast.List | ast.ListComp) for each in local)
            return f"the local list {name}" if is_list else f"the local {name}"
        return f"the module-level list {name}" if self.is_of_module() else f"{name}"

    def is_of_module(self) -> bool:
        """True if the list of messages is a variable of the module, and of no function."""
        name = None if self.messages is None else dotted(self.messages)
        function = self.syntax.functions.get(self.function)
        parameters = [] if function is None else _parameters(function.node)
        if name is None or name in {each.arg for each in parameters}:
            return False
        places = {where for where, _ in self.syntax.assignments.get(name, [])}
        return MODULE_LEVEL in places and self.function not in places


def find_completion_calls(
    syntax: Syntax, project: Project | None = None
) -> Iterator[FoundCall]:
    """Find the references to functions that ask for a completion, in source order.

    ``project``: its other files are followed as well.
    """
    project = project or Project(
        (syntax.source.path,), {}, {syntax.source.path: syntax}
    )
    for node, match in _matches(syntax, project):
        if methods_of_own(project, syntax, node, match[0]):
            continue  # where that asks a client, there is another call
        parent: ast.AST = syntax.parents[node]
        user: ast.AST = node
        recorded = (
            isinstance(parent, ast.Call)
            and unhooked(syntax, parent, "recorded") is node
        )
        if recorded:
            user, parent = parent, syntax.parents[parent]
        if isinstance(parent, ast.Attribute | ast.Compare) or (
            isinstance(node, ast.Call) and _is_tested(user, parent)
        ):
            continue  # create.__doc__, mock.create.return_value, create is other
        called = isinstance(parent, ast.Call) and parent.func is user
        call = parent if isinstance(parent, ast.Call) else None
        client, kind, form = match
        yield FoundCall(syntax, node, call, client, kind, form, not called, recorded)


def find_lookalikes(
    syntax: Syntax, project: Project
) -> Iterator[tuple[ast.expr, FunctionKey]]:
    """Find calls in a client's words of an object of the project, with the method that they call.

    That speaks to another service, or asks a client itself.
    """
    for node, match in _matches(syntax, project):
        for key in methods_of_own(project, syntax, node, match[0])[:1]:
            yield node, key


def _matches(syntax: Syntax, project: Project) -> Iterator[tuple[ast.expr, _Match]]:
    kinds = [
        (kind, syntax.imports_module(*kind.libraries) is not None) for kind in KINDS
    ]
    for node in syntax.nodes:
        if not isinstance(node, ast.Attribute | ast.Name | ast.Call):
            continue
        if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            continue
        match = _match(node, project, syntax, kinds)
        if match is not None:
            yield node, match


def _is_tested(value: ast.AST, parent: ast.AST) -> bool:
    """True if a value is only asked for: ``if getattr(completions, "parse", None):``."""
    return isinstance(parent, ast.UnaryOp) or value is getattr(parent, "test", None)


_Match = tuple[ast.expr, CallKind, Method]


def _match(
    node: ast.Attribute | ast.Name | ast.Call,
    project: Project,
    syntax: Syntax,
    kinds: list[tuple[CallKind, bool]],
) -> _Match | None:
    """Look ``node`` up in the table: the client, the row and the method there.

    ``kinds``: the rows, each with whether the file imports one of its libraries.
    """
    if isinstance(node, ast.Name):
        if node.id not in syntax.imports:
            return None
    elif (attribute_of(node) or ("", ""))[1] not in METHOD_NAMES:
        return None
    call = syntax.parents[node]
    arguments = _arguments(call) if isinstance(call, ast.Call) else frozenset()
    for kind, imported in kinds:
        if kind.module is not None:
            found = _function(node, kind, syntax) if imported else None
        else:
            found = _method(node, kind, arguments, project, syntax, imported)
        if found is not None:
            return found
    return None


def _function(node: ast.expr, kind: CallKind, syntax: Syntax) -> _Match | None:
    """Match ``litellm.completion``, also imported by name, and methods of a Router."""
    module, _, name = (syntax.qualified(node) or "").rpartition(".")
    form = kind.method(name, frozenset())
    if form is not None and module.partition(".")[0] == kind.module:
        return node, kind, form
    if (attribute := attribute_of(node)) is None:
        return None
    holder, method = attribute
    form = kind.method(method, frozenset())
    if form is None:
        return None
    for value in syntax.values_of(holder):
        made_by = value.func if isinstance(value, ast.Call) else value
        if syntax.qualified(made_by) in kind.constructors:
            return holder, kind, form
    return None


def _method(
    node: ast.expr,
    kind: CallKind,
    arguments: frozenset[str],
    project: Project,
    syntax: Syntax,
    imported: bool,
) -> _Match | None:
    """Match a method of an SDK resource, or of a client that has the method itself."""
    if (attribute := attribute_of(node)) is None:
        return None
    holder, method = attribute
    form = kind.method(method, arguments)
    if form is None:
        return None
    client = _client_of(project, syntax, holder, kind.resource)
    if client is None or _is_module(client, syntax, RESOURCE_MODULE):
        return None
    proven = imported or (
        kind.proven_by_client
        and (_is_client(client) or is_made_of(project, syntax, client, kind))
    )
    return (client, kind, form) if kind.is_confirmed(arguments, proven) else None


def _client_of(
    project: Project,
    syntax: Syntax,
    expression: ast.expr,
    resource: tuple[str, ...],
    depth: int = 0,
) -> ast.expr | None:
    """Find the client whose ``resource`` the expression is, also through aliases."""
    if isinstance(expression, ast.Attribute) and expression.attr in VIEWS:
        expression = expression.value
    if not resource:
        if isinstance(expression, ast.Attribute) and expression.attr in NAMESPACES:
            return expression.value
        return expression
    *outer, last = resource
    if isinstance(expression, ast.Attribute) and expression.attr == last:
        client = _client_of(project, syntax, expression.value, tuple(outer), depth)
        if client is not None:
            return client
    for place, value in steps(project, syntax, expression) if depth < ALIASES else ():
        client = _client_of(project, place, value, resource, depth + 1)
        if client is not None:
            return client
    return None


def _is_client(expression: ast.expr) -> bool:
    return (dotted(expression) or "").split(".")[-1] in CLIENTS


def _is_module(expression: ast.expr, syntax: Syntax, name: str) -> bool:
    return (syntax.qualified(expression) or "").startswith(name)


def _entry(
    syntax: Syntax, mapping: ast.expr, name: str, depth: int = 0
) -> ast.expr | None:
    """Find the value of ``name`` in keyword arguments: a dict, or a name for one.

    Entries that the function adds later, as in ``arguments["tools"] = TOOLS``, count too.
    """
    if isinstance(mapping, ast.Dict):
        for key, value in zip(mapping.keys, mapping.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == name:
                return value
            if key is None and depth < ALIASES:  # {**other}
                found = _entry(syntax, value, name, depth + 1)
                if found is not None:
                    return found
        return None
    if isinstance(mapping, ast.IfExp):
        both = (mapping.body, mapping.orelse)
        return next(filter(None, (_entry(syntax, m, name, depth) for m in both)), None)
    if isinstance(mapping, ast.Call):
        if dotted(mapping.func) != "dict":
            return None
        return keyword(mapping, name)
    for node in syntax.entries_of(mapping):
        if isinstance(node.slice, ast.Constant) and node.slice.value == name:
            parent = syntax.parents[node]
            if isinstance(parent, ast.Assign | ast.AnnAssign):
                return parent.value
    if depth < ALIASES:
        for value in syntax.values_of(mapping):
            if (found := _entry(syntax, value, name, depth + 1)) is not None:
                return found
    return None


def _arguments(call: ast.Call) -> frozenset[str]:
    """Return the names of a call's keyword arguments; ``**`` stands for unpacked ones."""
    return frozenset(argument.arg or "**" for argument in call.keywords)


def _index(call: ast.Call, callee: ast.expr) -> int:
    """Return the position of the callee among the arguments of ``call``; -1 if not there."""
    for index, argument in enumerate(call.args):
        if callee is argument or (
            isinstance(argument, ast.Call) and callee in argument.args
        ):
            return index
    return -1


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and not value.value


def _parameters(node: FunctionNode) -> list[ast.arg]:
    arguments = node.args
    extra = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return [*arguments_of(node), *extra]
