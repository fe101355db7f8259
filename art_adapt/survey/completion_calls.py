"""Finds the completion calls of a file: called in place, or handed on as a value."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from art_adapt.survey.hooks import unhooked
from art_adapt.survey.syntax import MODULE_LEVEL, FunctionNode, Syntax, dotted, keyword

METHODS = ("create", "parse", "stream")
LITELLM = ("completion", "acompletion")
INSTRUCTOR = (
    "create",
    "create_with_completion",
    "create_partial",
    "create_iterable",
)
VIEWS = ("with_raw_response", "with_streaming_response")
AUXILIARY_COMMENT = re.compile(r"#.*\bart:\s*auxiliary\b")


@dataclass(frozen=True)
class FoundCall:
    """A completion call with the nodes that the later readings of it start from."""

    syntax: Syntax
    callee: ast.Attribute | ast.Name
    # The call that the arguments stand in: its own, or the helper's that takes the callee.
    call: ast.Call | None
    client: ast.expr
    api: str  # "chat.completions", "responses", "litellm" or "completions"
    referenced: bool
    recorded: bool

    @property
    def function(self) -> str:
        return self.syntax.owner(self.callee)

    @property
    def supported(self) -> bool:
        """Whether the recorder can send it to the model in training; it stops the
        rollout at the others.
        """
        return self.api != "completions"

    @property
    def method(self) -> str:
        """The name that is called."""
        callee = self.callee
        return callee.attr if isinstance(callee, ast.Attribute) else callee.id

    @property
    def model(self) -> ast.expr | None:
        if self.call is None:
            return None
        if self.api == "litellm" and self.call.args:
            return self.call.args[0]
        return keyword(self.call, "model")

    @property
    def messages(self) -> ast.expr | None:
        if self.call is None:
            return None
        name = "input" if self.api == "responses" else "messages"
        if self.api == "litellm" and len(self.call.args) > 1:
            return self.call.args[1]
        return keyword(self.call, name)

    @property
    def tools(self) -> ast.expr | None:
        if self.call is None:
            return None
        return keyword(self.call, "tools") or keyword(self.call, "functions")

    @property
    def streams(self) -> bool:
        value = keyword(self.call, "stream") if self.call is not None else None
        return self.method == "stream" or (value is not None and not _is_false(value))

    @property
    def marked_auxiliary(self) -> bool:
        first, last = self.callee.lineno, (self.call or self.callee).lineno
        return any(
            AUXILIARY_COMMENT.search(line)
            for line in self.syntax.source.lines[first - 1 : last]
        )

    def conversation(self) -> str:
        """What kind of list the messages are."""
        messages = self.messages
        if messages is None:
            return (
                "in **arguments"
                if self.call is not None
                and any(k.arg is None for k in self.call.keywords)
                else "unknown"
            )
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
        if any(where == self.function for where, _ in values):
            return f"the local list {name}"
        if any(where == MODULE_LEVEL for where, _ in values):
            return f"the module-level list {name}"
        return f"{name}"


def find_completion_calls(
    syntax: Syntax, recorded_hooks: frozenset[str]
) -> Iterator[FoundCall]:
    """The file's references to SDK methods that ask for a completion, in source order.

    ``recorded_hooks``: the local names of ``recorded``, to know the calls that have
    their hook.
    """
    uses_openai = syntax.imports_module("openai", "langfuse") is not None
    uses_litellm = syntax.imports_module("litellm") is not None
    for node in syntax.nodes:
        if not isinstance(node, ast.Attribute | ast.Name) or not isinstance(
            node.ctx, ast.Load
        ):
            continue
        found = _litellm(node, syntax) if uses_litellm else None
        if found is None and isinstance(node, ast.Attribute):
            found = _method(node, syntax, uses_openai)
        if found is None:
            continue
        parent: ast.AST = syntax.parents[node]
        user: ast.AST = node
        recorded = (
            isinstance(parent, ast.Call) and unhooked(parent, recorded_hooks) is node
        )
        if recorded:
            user, parent = parent, syntax.parents[parent]
        if isinstance(parent, ast.Attribute | ast.Compare):
            continue  # create.__doc__, mock.create.return_value, create is other
        called = isinstance(parent, ast.Call) and parent.func is user
        client, api = found
        yield FoundCall(
            syntax,
            node,
            parent if isinstance(parent, ast.Call) else None,
            client,
            api,
            not called,
            recorded,
        )


def _litellm(
    node: ast.Attribute | ast.Name, syntax: Syntax
) -> tuple[ast.expr, str] | None:
    """``litellm.completion``, also imported by name, and the same of its Router."""
    name = syntax.qualified(node) or ""
    if name.startswith("litellm.") and name.split(".")[-1] in LITELLM:
        return node, "litellm"
    if isinstance(node, ast.Attribute) and node.attr in LITELLM:
        for value in syntax.values_of(node.value):
            made_by = value.func if isinstance(value, ast.Call) else value
            if (syntax.qualified(made_by) or "") in (
                "litellm.Router",
                "litellm.router.Router",
            ):
                return node.value, "litellm"
    return None


def _method(
    node: ast.Attribute, syntax: Syntax, uses_openai: bool
) -> tuple[ast.expr, str] | None:
    """A method of an SDK resource, or of a client that instructor has made."""
    resource: ast.expr = node.value
    call = syntax.parents[node]
    arguments = _arguments(call) if isinstance(call, ast.Call) else frozenset()
    if node.attr in METHODS:
        if isinstance(resource, ast.Attribute) and resource.attr in VIEWS:
            resource = resource.value
        # A client that comes from elsewhere is known by what it is asked.
        asks = {"input", "model"} <= arguments
        found = _resource(resource, syntax, uses_openai or asks)
        if found is not None and not (found[1] == "responses" and _is_other(arguments)):
            return found
    if (
        node.attr in INSTRUCTOR
        and "response_model" in arguments
        and (
            arguments & {"messages", "input", "**"}
            or syntax.imports_module("instructor") is not None
        )
    ):
        found = _resource(resource, syntax, uses_openai)
        return found or (resource, "chat.completions")
    return None


def _arguments(call: ast.Call) -> frozenset[str]:
    """The names of a call's keyword arguments; ``**`` for those that are not seen."""
    return frozenset(argument.arg or "**" for argument in call.keywords)


def _is_other(arguments: frozenset[str]) -> bool:
    """Whether a ``responses.create`` is asked what the API does not know: a table of
    responses has a ``create`` too.
    """
    known = {"**", "input", "model", "previous_response_id", "prompt"}
    return bool(arguments) and not arguments & known


def _resource(
    expression: ast.expr, syntax: Syntax, uses_openai: bool, depth: int = 0
) -> tuple[ast.expr, str] | None:
    """The client and the API behind the object whose method is called, through aliases
    that this file assigns.
    """
    if isinstance(expression, ast.Attribute):
        inner = expression.value
        if expression.attr == "completions":
            if (client := _chat(inner, syntax, depth)) is not None:
                return client, "chat.completions"
            if uses_openai and not _is_module(inner, syntax, "openai.resources"):
                return inner, "completions"
        if expression.attr == "responses" and uses_openai:
            return inner, "responses"
    if depth < 3:
        for value in syntax.values_of(expression):
            if (found := _resource(value, syntax, uses_openai, depth + 1)) is not None:
                return found
    return None


def _chat(expression: ast.expr, syntax: Syntax, depth: int) -> ast.expr | None:
    """The client of ``client.chat``, ``client.beta.chat`` or of a name that holds one
    of them.
    """
    if isinstance(expression, ast.Attribute) and expression.attr == "chat":
        inner = expression.value
        return (
            inner.value
            if isinstance(inner, ast.Attribute) and inner.attr == "beta"
            else inner
        )
    if depth < 3:
        for value in syntax.values_of(expression):
            if (client := _chat(value, syntax, depth + 1)) is not None:
                return client
    return None


def _is_module(expression: ast.expr, syntax: Syntax, name: str) -> bool:
    return (syntax.qualified(expression) or "").startswith(name)


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and not value.value


def _parameters(node: FunctionNode) -> list[ast.arg]:
    arguments = node.args
    extra = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *extra]
