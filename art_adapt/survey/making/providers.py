"""Chooses the provider that can be recorded, where a constructor takes its name."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from art_adapt.calls import CLIENT_CLASSES
from art_adapt.code.classes import method_of
from art_adapt.code.nodes import dotted, last_name
from art_adapt.code.project import Project
from art_adapt.code.syntax import Syntax
from art_adapt.survey.model import Construction, EntryPoint, Parameter


def with_recorded_provider(project: Project, entry: EntryPoint) -> EntryPoint:
    """Name the provider whose branch of the constructor makes an OpenAI client.

    ``Agent(provider="anthropic")`` by default would ask a client that no hook can record,
    with ``if provider == "anthropic": ... else: self.client = OpenAI()`` beside it.
    """
    if entry.class_name is None:
        return entry
    home = project.files[entry.home]
    made_in = method_of(project, home, entry.class_name, "__init__")
    if not made_in:
        return entry
    path, qualname = made_in[0]
    place = project.files[path]
    constructor = tuple(_named(place, qualname, each) for each in entry.constructor)
    return replace(entry, constructor=constructor)


def _named(place: Syntax, qualname: str, parameter: Parameter) -> Parameter:
    value = _text(parameter.default)
    if value is None or parameter.made is not None:
        return parameter
    for node in place.owned_by(qualname):
        if isinstance(node, ast.If) and not isinstance(place.parents[node], ast.If):
            branches, others = _branches(node, parameter.name)
            usual = branches.get(value, others)
            if not branches or _makes_client(usual):
                continue
            better = [name for name, body in branches.items() if _makes_client(body)]
            if not better and _makes_client(others):
                better = [each for each in _literals(parameter) if each not in branches]
            if better:
                spelled = repr(better[0])
                made = Construction(place.place(node), spelled)
                return replace(parameter, default=None, is_object=True, made=made)
    return parameter


def _branches(
    node: ast.If, name: str
) -> tuple[dict[str, Sequence[ast.stmt]], Sequence[ast.stmt]]:
    """Return the bodies of ``if name == "a": ... elif name == "b": ...``, and that of ``else``."""
    found: dict[str, Sequence[ast.stmt]] = {}
    while True:
        match node.test:
            case ast.Compare(
                left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=str(value))]
            ) if (dotted(left) or "").removeprefix("self.") == name:
                found[value] = node.body
        if len(node.orelse) != 1 or not isinstance(node.orelse[0], ast.If):
            return found, node.orelse
        node = node.orelse[0]


def _makes_client(body: Sequence[ast.stmt]) -> bool:
    return any(
        isinstance(node, ast.Call) and last_name(node.func) in CLIENT_CLASSES
        for statement in body
        for node in ast.walk(statement)
    )


def _text(default: str | None) -> str | None:
    """Return the text that a default is, from its source."""
    match default and ast.parse(default, mode="eval").body:
        case ast.Constant(value=str(text)):
            return text
    return None


def _literals(parameter: Parameter) -> list[str]:
    """Return the texts that a parameter may be, as ``Literal["anthropic", "openai"]`` says."""
    if "Literal[" not in (parameter.annotation or ""):
        return []
    tree = ast.parse(parameter.annotation or "", mode="eval")
    constants = [
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)
    ]
    return [value for value in constants if isinstance(value, str)]
