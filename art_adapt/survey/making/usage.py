"""Says of an entry point how the project itself uses it."""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from art_adapt.code.call_graph import CallGraph
from art_adapt.code.callers import files_that_use
from art_adapt.code.classes import FunctionKey, annotated
from art_adapt.code.index import derived_from
from art_adapt.code.mentions import is_base, only_describes
from art_adapt.code.nodes import last_name
from art_adapt.code.project import Project
from art_adapt.survey.inputs.instances import as_constructed, inheriting
from art_adapt.survey.making.built import with_built
from art_adapt.survey.making.constructions import (
    is_configured,
    is_unknown,
    with_constructions,
)
from art_adapt.survey.making.derived import with_derived
from art_adapt.survey.making.factories import with_factory
from art_adapt.survey.making.filled import may_be_filled, with_filled
from art_adapt.survey.making.handlers import with_stand_ins
from art_adapt.survey.making.providers import with_recorded_provider
from art_adapt.survey.making.sessions import with_session
from art_adapt.survey.making.setups import may_be_opened, with_setup
from art_adapt.survey.model import Construction, EntryPoint, Parameter


def as_used(
    project: Project,
    graph: CallGraph,
    entry: EntryPoint,
    reaching: set[FunctionKey],
    policy: Sequence[FunctionKey],
    *,
    everywhere: bool,
    chosen: bool,
) -> EntryPoint:
    """Say how the project makes the objects that ``entry`` needs, and what it sets up.

    ``policy``: the functions with a policy call; ``reaching``: those that lead to one.
    ``everywhere``, for a likely entry point: what it sets up is looked for, and files of
    the project that the agent does not import are searched for what its own do not show.
    ``chosen``: the user has named it, with its class.
    """
    given = entry.constructor
    if not everywhere:
        entry = with_constructions(project, graph, entry, reaching, demos=True)
        return with_recorded_provider(project, entry)
    # What an agent is told before it runs tells whether its class is told the task.
    entry = with_setup(project, graph, entry)
    entry = with_constructions(project, graph, entry, reaching, demos=False)
    entry = with_derived(project, graph, with_session(project, graph, entry))
    entry = with_filled(project, entry, reaching)
    unknown = [each for each in entry.needs if is_unknown(each)]
    shown = is_configured(entry) or not (
        entry.constructor or may_be_opened(project, entry)
    )
    may_be_filled_elsewhere = (
        entry.instance is None and not entry.setup and may_be_filled(project, entry)
    )
    makers = _unread_makers(project)
    if entry.instance is not None or not (
        unknown
        or makers
        or not shown
        or may_be_filled_elsewhere
        or _is_told_more(project, graph, entry)
        or not any(_is_made(project, key) for key in policy)
    ):
        entry = with_factory(project, graph, entry, reaching)
        entry = with_recorded_provider(project, entry)
        return with_stand_ins(project, _without_conflicts(entry))
    home = project.files[entry.home]
    classes = [
        name
        for each in unknown
        for _, name in annotated(project, home, ast.Constant(each.annotation or ""))
    ]
    if entry.class_name is not None:
        classes += [entry.class_name, *(name for _, name in inheriting(project, entry))]
    using = makers or files_that_use(project, [entry.key], classes)
    wider = project.with_files(using) or project
    if wider is not project:
        graph = CallGraph.of(wider)
    reaching = reaching | graph.reaching([entry.key])
    # More files may show what was only inferred from the class before.
    entry = replace(entry, constructor=given)
    entry = entry if chosen else as_constructed(wider, entry, project.files)
    entry = with_setup(wider, graph, entry)
    entry = with_constructions(wider, graph, entry, reaching)
    entry = with_derived(wider, graph, entry)
    entry = with_filled(wider, entry, reaching)
    # What the project makes goes before what could be made of the classes' annotations.
    entry = with_factory(wider, graph, entry, reaching)
    entry = with_recorded_provider(wider, with_built(wider, entry, reaching))
    entry = _without_conflicts(entry)
    return with_stand_ins(project, entry)


def _unread_makers(project: Project) -> list[Path]:
    """Return the files in which a run has made the agent, or called it, and that are not read."""
    read = {os.path.realpath(path) for path in project.files}
    makers = dict.fromkeys(path for path, _ in sorted(project.session.shown.makers))
    return [Path(path) for path in makers if path not in read]


def _is_made(project: Project, key: FunctionKey) -> bool:
    """True if code makes an object of the class that has a function, or hands that class on.

    Else another file gives the agent what asks the model: ``Game(player_class=ModelPlayer)``.
    """
    home, owner = project.home(key[0]), key[1].rpartition(".")[0]
    if owner not in home.classes:
        return True
    family = (owner, *(name for _, name in derived_from(project, home, owner)))
    names = {name.rpartition(".")[2] for name in family}
    return any(
        isinstance(node, ast.Name | ast.Attribute)
        and last_name(node) in names
        and not (is_base(syntax, node) or only_describes(syntax, node))
        for syntax in project.files.values()
        for node in syntax.nodes
    )


def _is_told_more(project: Project, graph: CallGraph, entry: EntryPoint) -> bool:
    """True if a function takes more than a task, and no call of it is read yet.

    That may be a prompt or a limit of the agent's, with another default: a call tells.
    """
    own = [p for p in entry.parameters if not (p.is_client or p.supplied)]
    return len(own) > 1 and not any(graph.calls_of(project, entry.key))


def _without_conflicts(entry: EntryPoint) -> EntryPoint:
    """Leave out constructions that give a name another meaning than an earlier one.

    They come from several places of the project, and meet in one train module.
    """
    bound = {(entry.class_name or entry.name).split(".")[0]: entry.module}

    def checked(parameters: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
        return tuple(map(_checked, parameters))

    def _checked(parameter: Parameter) -> Parameter:
        if parameter.made is None:
            return parameter
        names = _bound_by(parameter.made)
        if any(bound.get(name, origin) != origin for name, origin in names.items()):
            return replace(parameter, made=None, fields=None, is_object=True)
        bound.update(names)
        if parameter.fields is None:
            return parameter
        return replace(parameter, fields=checked(parameter.fields))

    instance = entry.instance and _checked(entry.instance)
    constructor = entry.constructor if instance else checked(entry.constructor)
    setup = tuple(
        replace(call, parameters=checked(call.parameters)) for call in entry.setup
    )
    parameters = checked(entry.parameters)
    return replace(
        entry,
        constructor=constructor,
        setup=setup,
        parameters=parameters,
        instance=instance,
    )


def _bound_by(made: Construction) -> dict[str, str]:
    """Return the names that a construction binds, and what to."""
    imported = {each.bound: each.module for each in made.imports}
    assigned = {name: each.text for each in made.statements for name in each.binds}
    return imported | assigned
