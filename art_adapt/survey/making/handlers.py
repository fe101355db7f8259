"""Finds what may be stood in for: what chat platforms hand over, and what is only told something."""

from __future__ import annotations

import ast
from dataclasses import replace

from art_adapt.code.annotations import bare
from art_adapt.code.nodes import arguments_of, dotted, taken_as
from art_adapt.code.project import Project
from art_adapt.code.resolution import resolve
from art_adapt.code.syntax import Syntax
from art_adapt.survey.candidates.launches import is_handler
from art_adapt.survey.making.constructions import is_unknown
from art_adapt.survey.model import EntryPoint, Parameter
from art_adapt.words import PLATFORMS

# The attributes in which platforms keep what somebody has written.
TEXTS = ("text", "content", "clean_content", "caption", "message_text", "body")


def with_stand_ins(project: Project, entry: EntryPoint) -> EntryPoint:
    """Say of a handler's parameters, which only a platform makes, what stands for them.

    What somebody wrote is the scenario's, and so is what a command is given. A handler that is
    told no text stays as it is: what its episodes differ in is not known.
    """
    entry = _with_listeners(project, entry)
    syntax = project.files[entry.place.path]
    if syntax.imports_module(*PLATFORMS) is None or not (
        is_handler(project, entry.key) or _is_handed_by_a_platform(syntax, entry)
    ):
        return entry

    def is_the_platforms(parameter: Parameter) -> bool:
        plain = parameter.annotation is not None and not parameter.is_object
        return parameter.default is None and parameter.made is None and not plain

    def texts_of(parameter: Parameter) -> tuple[str, ...]:
        start = f"{parameter.name}."
        read = (
            dotted(node) or ""
            for node in syntax.owned_by(entry.name)
            if isinstance(node, ast.Attribute) and node.attr in TEXTS
        )
        return tuple(
            dict.fromkeys(p.removeprefix(start) for p in read if p.startswith(start))
        )

    is_given = any(
        p.default is None and not is_the_platforms(p) for p in entry.parameters
    )
    if not (is_given or any(map(texts_of, entry.parameters))):
        return entry
    return replace(
        entry,
        parameters=tuple(
            replace(each, is_object=True, stand_in=texts_of(each))
            if is_the_platforms(each)
            else each
            for each in entry.parameters
        ),
    )


def _is_handed_by_a_platform(syntax: Syntax, entry: EntryPoint) -> bool:
    """True if a parameter is annotated with a class of a chat platform: ``update: Update``."""
    annotations = [
        each.annotation
        for each in arguments_of(syntax.functions[entry.name].node)
        if each.annotation is not None
    ]
    return any(
        (syntax.qualified(bare(each)) or "").partition(".")[0] in PLATFORMS
        for each in annotations
    )


def _with_listeners(project: Project, entry: EntryPoint) -> EntryPoint:
    """Stand in for objects that an entry point only tells something: ``client.chat_update(...)``.

    Nothing depends on what they return, so that any object will do.
    """
    syntax = project.files[entry.place.path]
    return replace(
        entry,
        parameters=tuple(
            replace(each, stand_in=())
            if is_unknown(each)
            and each.annotation is not None
            and _only_listens(project, syntax, entry.name, each.name, set())
            else each
            for each in entry.parameters
        ),
    )


def _only_listens(
    project: Project, syntax: Syntax, function: str, name: str, seen: set[object]
) -> bool:
    """True if all that a function does with a parameter is to call methods, and drop the results."""
    if (syntax.source.path, function, name) in seen:
        return True
    seen.add((syntax.source.path, function, name))
    return all(
        _is_told(project, syntax, node, seen)
        for owner in syntax.functions
        if owner == function or owner.startswith(f"{function}.")
        for node in syntax.owned_by(owner)
        if isinstance(node, ast.Name) and node.id == name
    )


def _is_told(
    project: Project, syntax: Syntax, used: ast.Name, seen: set[object]
) -> bool:
    """True if a method is called here whose result nothing reads, or a function that does that."""
    node, around = used, syntax.parents[used]
    if isinstance(around, ast.keyword):
        around = syntax.parents[around]
    if isinstance(around, ast.Call) and around.func is not used:
        called = resolve(project, syntax, around.func)
        return bool(called) and all(
            _only_listens(project, project.files[path], qualname, parameter, seen)
            for path, qualname in called
            for parameter in taken_as(
                project.files[path].functions[qualname], around, used
            )
        )
    attribute: ast.AST = node
    while isinstance(around, ast.Attribute):
        attribute, around = around, syntax.parents[around]
    if attribute is used or not isinstance(around, ast.Call):
        return False
    if around.func is not attribute:
        return False
    outer = syntax.parents[around]
    outer = syntax.parents[outer] if isinstance(outer, ast.Await) else outer
    return isinstance(outer, ast.Expr)
