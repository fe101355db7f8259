"""Tells which parameters of an entry point hold the client that its calls use."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable
from dataclasses import replace

from art_adapt.code.classes import lineage
from art_adapt.code.nodes import dotted
from art_adapt.code.project import Project
from art_adapt.survey.calls.completion_calls import FoundCall
from art_adapt.survey.model import EntryPoint, Parameter


def with_clients(
    project: Project, entry: EntryPoint, calls: Iterable[FoundCall]
) -> EntryPoint:
    """Mark the parameters through which an agent is given its client, whatever they are called."""
    calls = list(calls)
    own = {
        dotted(call.client)
        for call in calls
        if (call.syntax.source.path, call.function) == entry.key
    }
    parameters = _marked(entry.parameters, own)
    if entry.class_name is None:
        return replace(entry, parameters=parameters)
    kept: set[str | None] = set()
    for place, owner in lineage(project, project.files[entry.home], entry.class_name):
        used = {
            dotted(call.client)
            for call in calls
            if call.syntax is place and call.function.startswith(f"{owner}.")
        }
        for attribute in used:
            for where, value in place.assignments.get(attribute or "", ()):
                if where == f"{owner}.__init__":
                    kept |= set(_either(value))
    return replace(
        entry, parameters=parameters, constructor=_marked(entry.constructor, kept)
    )


def _marked(
    parameters: tuple[Parameter, ...], names: Collection[str | None]
) -> tuple[Parameter, ...]:
    return tuple(
        replace(each, is_client=True, is_object=False)
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
