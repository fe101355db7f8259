"""Tells which lists code adds to, itself or through a function that it calls."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from art_adapt.survey.call_graph import CallGraph
from art_adapt.survey.project import Project
from art_adapt.survey.syntax import Syntax, dotted, grown_list, keyword

# Parameters and attributes that hold a conversation.
CONVERSATION_NAMES = frozenset(
    {"messages", "msgs", "message_list", "conversation", "history", "chat_history"}
    | {"input_messages", "prompt_messages", "msg_history", "api_messages"}
)
# The names of functions where they are used, with the positions and names of the
# parameters that these functions add to.
Growing = Mapping[ast.AST, Sequence[tuple[int, str]]]


def growing_sites(project: Project, graph: CallGraph) -> Growing:
    """Find where functions are used that add to a list they are given."""
    return {
        site: grown
        for (_, (path, name)), nodes in graph.sites.items()
        if (grown := _grown_by(project.files[path], name))
        for site in nodes
    }


def _grown_by(syntax: Syntax, name: str) -> list[tuple[int, str]]:
    """The parameters of a function that its body adds to; a method's without self."""
    function = syntax.functions[name]
    grown = {grown_list(node) for node in syntax.owned_by(name)}
    parameters = function.parameters[1 if function.class_name is not None else 0 :]
    return [(at, each) for at, each in enumerate(parameters) if each in grown]


def grown_in(body: ast.AST, growing: Growing) -> set[str]:
    """The names of the lists that code adds to."""
    found: set[str] = set()
    for node in ast.walk(body):
        if (name := grown_list(node)) is not None:
            found.add(name)
        elif isinstance(node, ast.Call):
            for at, parameter in growing.get(node.func, ()):
                given = keyword(node, parameter)
                if given is None and at < len(node.args):
                    given = node.args[at]
                if given is not None and (name := dotted(given)) is not None:
                    found.add(name)
    return found


def names_in(call: ast.Call) -> set[str]:
    """The names and attributes in the arguments of a call."""
    values = (*call.args, *(k.value for k in call.keywords))
    inner = (node for value in values for node in ast.walk(value))
    return {name for node in inner if (name := dotted(node)) is not None}
