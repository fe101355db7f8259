"""Tells which parameters of an entry point hold the client that its calls use."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from art_adapt.calls import CLIENT_CLASSES, KINDS, NAMESPACES, NOT_OF_POLICY
from art_adapt.code.annotations import bare
from art_adapt.code.classes import lineage
from art_adapt.code.given import given_for
from art_adapt.code.instances import family
from art_adapt.code.nodes import Function, dotted, given_to, last_name
from art_adapt.code.project import Project
from art_adapt.code.syntax import Syntax
from art_adapt.code.values import Placed, steps
from art_adapt.survey.calls.completion_calls import FoundCall
from art_adapt.survey.inputs.supplied import OF_ENDPOINT
from art_adapt.survey.model import EntryPoint, Parameter
from art_adapt.words import PLATFORMS

# What may define the class in a model's client's annotation; typing says nothing of it.
MODEL_LIBRARIES = {"typing", *(name for kind in KINDS for name in kind.libraries)}
# The attributes of a model's client that lead to its calls.
RESOURCES = {
    *NAMESPACES,
    "with_options",
    *(kind.resource[0] for kind in KINDS if kind.resource),
}


MOST = 200  # values that are followed from a side job's client
# What clients of whatever library have.
OF_ANY_CLIENT = {
    "close",
    "aclose",
    "copy",
    "api_key",
    "base_url",
    "timeout",
    "max_retries",
}


def with_clients(
    project: Project, entry: EntryPoint, calls: Iterable[FoundCall]
) -> EntryPoint:
    """Mark the parameters through which an agent is given its client, whatever they are called."""
    calls = list(calls)
    handed = _handed_on(project, entry, calls)
    own = handed | _used(
        call for call in calls if (call.syntax.source.path, call.function) == entry.key
    )
    parameters = _marked(entry.parameters, own)
    if entry.class_name is None:
        return replace(entry, parameters=parameters)
    kept: dict[str, str | None] = {}
    for place, owner in lineage(project, project.files[entry.home], entry.class_name):
        used = _used(
            call
            for call in calls
            if call.syntax is place and call.function.startswith(f"{owner}.")
        )
        for attribute, kind in used.items():
            for where, value in place.assignments.get(attribute, ()):
                if where == f"{owner}.__init__":
                    kept |= dict.fromkeys(_either(value), kind)
    return replace(
        entry, parameters=parameters, constructor=_marked(entry.constructor, kept)
    )


def _handed_on(
    project: Project, entry: EntryPoint, calls: Sequence[FoundCall]
) -> dict[str, str | None]:
    """Return the clients that an agent hands to functions that ask, with the class shown there."""
    found: dict[str, str | None] = {}
    for call in calls:
        kind = next(iter(_used([call]).values()), None)
        for place, given in given_for(project, call.syntax, call.client):
            if isinstance(given, ast.Name) and entry.key == (
                place.source.path,
                place.owner(given),
            ):
                found[given.id] = found.get(given.id) or kind
    return found


def _used(calls: Iterable[FoundCall]) -> dict[str, str | None]:
    """Return the clients of calls by their names, each with the class that its use shows.

    What is awaited is an AsyncOpenAI's, and what is read at once an OpenAI's.
    """
    found: dict[str, str | None] = {}
    for call in calls:
        name = dotted(call.client)
        if name is None:
            continue
        around = None
        if call.call is not None and not call.referenced:
            around = call.syntax.parents.get(call.call)
        kind = None
        if isinstance(around, ast.Await):
            kind = "AsyncOpenAI"
        elif isinstance(around, ast.Attribute | ast.Subscript) and not call.streams:
            kind = "OpenAI"
        found[name] = found.get(name) or kind
    return found


def is_shared(
    project: Project, entry: EntryPoint, side_jobs: Iterable[FoundCall]
) -> bool:
    """True if a side job asks over the client, or the endpoint, that an agent is given.

    A request for anything but text is one, such as for embeddings.
    """
    clients = {(*entry.key, each.name) for each in entry.parameters if _is_given(each)}
    if entry.class_name is not None:
        home = project.files[entry.home]
        clients |= {
            (place.source.path, f"{owner}.__init__", each.name)
            for place, owner in lineage(project, home, entry.class_name)
            for each in entry.constructor
            if _is_given(each)
        }
    asked = [(call.syntax, call.client) for call in side_jobs]
    return bool(clients) and any(
        _comes_from(project, each, clients)
        for each in chain(asked, _asked_for_more(project))
    )


def _is_given(parameter: Parameter) -> bool:
    """True if episode() says where the model is, with a client or what one is made from."""
    is_client = parameter.is_client and parameter.default in (None, "None")
    return is_client or parameter.supplied in OF_ENDPOINT


def _asked_for_more(project: Project) -> Iterator[Placed]:
    """Yield the clients, among other objects, that are asked for anything but text."""
    for syntax in project.files.values():
        for node in syntax.nodes:
            if isinstance(node, ast.Attribute) and node.attr in NOT_OF_POLICY:
                yield syntax, node.value


def _comes_from(
    project: Project, value: Placed, parameters: Collection[tuple[Path, str, str]]
) -> bool:
    """True if a client may be one of some parameters, or is made with one."""
    left, seen = [value], {value[1]}
    while left and len(seen) < MOST:
        syntax, node = left.pop()
        if (
            isinstance(node, ast.Name)
            and (syntax.source.path, syntax.owner(node), node.id) in parameters
        ) or _is_field(project, syntax, node, parameters):
            return True
        found = list(steps(project, syntax, node))
        if isinstance(node, ast.Call) and last_name(node.func) in CLIENT_CLASSES:
            found += [(syntax, each) for each in given_to(node)]
        left += [each for each in found if each[1] not in seen]
        seen.update(each for _, each in found)
    return False


def _is_field(
    project: Project,
    syntax: Syntax,
    node: ast.expr,
    parameters: Collection[tuple[Path, str, str]],
) -> bool:
    """True if an attribute is a record's field, which its constructor is given for it."""
    return isinstance(node, ast.Attribute) and any(
        (place.source.path, init, node.attr) in parameters
        for place, owner in family(project, syntax, node.value)
        for init in [f"{owner}.__init__"]
        if init not in place.functions
    )


def is_of_another_library(syntax: Syntax, annotation: ast.expr | None) -> bool:
    """True if a parameter is annotated with a class that a library without models defines."""
    named = syntax.qualified(bare(annotation)) if annotation is not None else None
    top, _, name = (named or "").partition(".")
    return bool(name) and top not in MODEL_LIBRARIES


def is_made_by_a_platform(syntax: Syntax, value: ast.expr) -> bool:
    """True if the library of a chat platform makes an object: ``commands.Bot(...)``.

    Of other libraries nobody knows whose models their clients ask.
    """
    made = syntax.values_of(value) or [value]
    return all(
        isinstance(each, ast.Call)
        and (syntax.qualified(each.func) or "").partition(".")[0] in PLATFORMS
        for each in made
    )


def serves_another_library(syntax: Syntax, function: Function, name: str) -> bool:
    """True if a function uses a client, and never as the SDK's: ``client.chat_update(...)``.

    The SDK's ``client.chat`` is no method: ``client.chat(prompt)`` is the project's own.
    """
    called, used, alone = set[str](), set[str](), False
    for node in syntax.owned_by(function.qualname):
        if isinstance(node, ast.Name) and node.id == name:
            around = syntax.parents[node]
            if isinstance(around, ast.Attribute):
                outer = syntax.parents[around]
                is_called = isinstance(outer, ast.Call) and outer.func is around
                (called if is_called else used).add(around.attr)
            else:
                alone = True  # handed on: who gets it may ask with it
    if not called.isdisjoint(RESOURCES - {"with_options"}):
        return True  # also where it is handed on
    used |= called
    used -= OF_ANY_CLIENT
    return bool(used) and not alone and used.isdisjoint(RESOURCES)


def _marked(
    parameters: tuple[Parameter, ...], names: Mapping[str, str | None]
) -> tuple[Parameter, ...]:
    return tuple(
        replace(
            each,
            is_client=True,
            is_object=False,
            asks_as=names[each.name] or "",
        )
        if each.name in names and each.default in (None, "None")
        else each
        for each in parameters
    )


def _either(value: ast.expr) -> Iterable[str]:
    """Yield the names that a value may be: ``client``, ``client or OpenAI()``."""
    if isinstance(value, ast.Name):
        yield value.id
    elif isinstance(value, ast.BoolOp):
        for each in value.values:
            yield from _either(each)
    elif isinstance(value, ast.IfExp):
        yield from (*_either(value.body), *_either(value.orelse))
