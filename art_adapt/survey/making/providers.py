"""Chooses the provider that can be recorded, where a constructor takes its name."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from art_adapt.calls import CLIENT_CLASSES
from art_adapt.code.classes import annotated, method_of
from art_adapt.code.nodes import dotted, last_name
from art_adapt.code.project import Project
from art_adapt.code.resolution import resolve
from art_adapt.code.syntax import Syntax
from art_adapt.survey.inputs.parameters import constructor_of
from art_adapt.survey.model import Construction, EntryPoint, Parameter


def with_recorded_provider(project: Project, entry: EntryPoint) -> EntryPoint:
    """Name the provider whose branch of the constructor makes an OpenAI client.

    ``Agent(provider="anthropic")`` by default would ask a client that no hook can record,
    with ``if provider == "anthropic": ... else: self.client = OpenAI()`` beside it. So would
    an object that the agent is given: ``Agent(LLMClient(key))``.
    """
    home, place = project.files[entry.home], project.files[entry.place.path]

    def made(parameter: Parameter) -> Parameter:
        return _made_with_provider(project, place, parameter)

    constructor = entry.constructor
    if entry.class_name is not None:
        constructor = _choosing(project, home, entry.class_name, constructor)
    return replace(
        entry,
        constructor=tuple(map(made, constructor)),
        parameters=tuple(map(made, entry.parameters)),
    )


def _choosing(
    project: Project,
    place: Syntax,
    class_name: str,
    parameters: tuple[Parameter, ...],
) -> tuple[Parameter, ...]:
    """Return the parameters of a constructor, of which one may name the provider."""
    made_in = method_of(project, place, class_name, "__init__")
    if not made_in:
        return parameters
    path, qualname = made_in[0]
    home = project.files[path]
    return tuple(_named(project, home, qualname, each) for each in parameters)


def _made_with_provider(
    project: Project, place: Syntax, parameter: Parameter
) -> Parameter:
    """Add the provider's name to the call that makes an object, if its class takes one."""
    made = parameter.made
    call = None if made is None else ast.parse(made.value, mode="eval").body
    annotation = ast.Constant(parameter.annotation or "")
    found = list(annotated(project, place, annotation))
    if made is None or not isinstance(call, ast.Call) or len(found) != 1:
        return parameter
    [(home, name)] = found
    is_open = any(isinstance(each, ast.Starred) for each in call.args)
    is_open |= any(each.arg is None for each in call.keywords)
    if last_name(call.func) != name or is_open:
        return parameter
    taken = constructor_of(project, home, name)
    own = taken[len(call.args) :]
    given = {each.arg for each in call.keywords}
    for each in _choosing(project, home, name, own):
        if each.made is not None and each not in own and each.name not in given:
            value = ast.parse(each.made.value, mode="eval").body
            call.keywords.append(ast.keyword(each.name, value))
            return replace(parameter, made=replace(made, value=ast.unparse(call)))
    return parameter


def _named(
    project: Project, place: Syntax, qualname: str, parameter: Parameter
) -> Parameter:
    value = _text(parameter.default)
    if value is None or parameter.made is not None or parameter.positional_only:
        return parameter

    def makes_client(body: Sequence[ast.stmt]) -> bool:
        return any(_makes_client(project, place, statement) for statement in body)

    body = place.functions[qualname].node.body
    for node in place.owned_by(qualname):
        if isinstance(node, ast.If) and not isinstance(place.parents[node], ast.If):
            if makes_client([each for each in body if each is not node]):
                continue  # whatever is chosen
            branches, others = _branches(node, parameter.name)
            usual = branches.get(value, others)
            if not branches or makes_client(usual):
                continue
            better = [name for name, body in branches.items() if makes_client(body)]
            if not better and makes_client(others):
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


def _makes_client(project: Project, place: Syntax, statement: ast.stmt) -> bool:
    """True if a statement makes an OpenAI client, itself or by a class of the project."""
    calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
    return any(last_name(call.func) in CLIENT_CLASSES for call in calls) or any(
        isinstance(node, ast.Call) and last_name(node.func) in CLIENT_CLASSES
        for call in calls
        for path, maker in resolve(project, place, call.func)
        if maker.endswith(".__init__")
        for node in project.home(path).owned_by(maker)
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
