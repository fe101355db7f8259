"""Builds the objects that an episode needs and that no call of the project shows, from their classes."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace

from art_adapt.code.classes import FunctionKey, annotated, has_library_base
from art_adapt.code.importable import ImportedName, module_at
from art_adapt.code.index import constructed, derived_from
from art_adapt.code.nodes import assignment, dotted
from art_adapt.code.project import Project
from art_adapt.code.syntax import Syntax
from art_adapt.survey.inputs.fillings import fills
from art_adapt.survey.inputs.instances import (
    asks_the_model,
    is_abstract,
)
from art_adapt.survey.inputs.parameters import constructor_of
from art_adapt.survey.inputs.slices import construction
from art_adapt.survey.making.call_ranks import DEMOS, TESTS, Site, rank
from art_adapt.survey.making.constructions import is_unknown
from art_adapt.survey.making.environment import (
    constructor_of_environment,
    made_of_environment,
)
from art_adapt.survey.making.given import from_call, given_by
from art_adapt.survey.model import Construction, EntryPoint, Parameter
from art_adapt.words import FILLS_ITSELF

DEEPEST = 2  # objects in objects in objects


def with_built(
    project: Project, entry: EntryPoint, reaching: Container[FunctionKey]
) -> EntryPoint:
    """Say of each object that no call shows how episode() builds it from its class.

    Of several classes, one comes first that asks the model: ``reaching`` are the functions
    from which a policy call can be reached.
    """
    agent, place = project.files[entry.home], project.files[entry.place.path]

    def built(parameters: tuple[Parameter, ...], worst: int) -> tuple[Parameter, ...]:
        unknown = [each for each in parameters if is_unknown(each)]
        return tuple(
            (_built(project, agent, place, each, reaching, worst) or each)
            if each in unknown and not is_one_of_several(each, unknown)
            else each
            for each in parameters
        )

    def is_one_of_several(each: Parameter, unknown: Sequence[Parameter]) -> bool:
        """True if the project gives a class objects that differ, as a game its players."""
        alike = [other for other in unknown if other.annotation == each.annotation]
        annotation = ast.Constant(each.annotation or "")
        classes = _implementing(project, annotated(project, place, annotation))
        return each.passed is not None and len(alike) > 1 and len(list(classes)) > 1

    constructor = built(entry.constructor, TESTS)
    # What a demo or a test gives the function itself may be its task.
    parameters = built(entry.parameters, DEMOS - 1)
    return replace(entry, constructor=constructor, parameters=parameters)


def built_of(
    project: Project,
    agent: Syntax,
    place: Syntax,
    parameter: Parameter,
    reaching: Container[FunctionKey],
) -> Parameter | None:
    """Say how episode() makes what a function in ``place`` takes; None if it cannot."""
    if is_unknown(parameter):
        return _built(project, agent, place, parameter, reaching)
    parameter = _of_environment(project, agent, place, parameter)
    return _imported_from(project, agent, place, parameter)


def _built(
    project: Project,
    agent: Syntax,
    place: Syntax,
    parameter: Parameter,
    reaching: Container[FunctionKey],
    worst: int = TESTS,
    depth: int = 0,
) -> Parameter | None:
    """Build an object as the project builds others of its class, or with its constructor.

    ``worst``: the rank of the calls that may show it.

    What the constructor has to be given is built in turn, or is a scenario's. A class that
    is filled after it is made, as a registry of tools, says too little.
    """
    annotation = ast.Constant(parameter.annotation or "")
    named_in = project.files.get(parameter.annotated_in or place.source.path, place)
    classes = _implementing(project, annotated(project, named_in, annotation))
    for home, name in sorted(
        classes,
        key=lambda each: not asks_the_model(project, each[0], each[1], reaching),
    ):
        every = constructed(project, home, name)
        passed = [each for each in every if _is_passed(each, parameter)]
        passed = passed or [each for each in every if _is_shown(project, each, name)]
        alike = len({ast.unparse(call) for _, call in every}) == 1
        if not passed and parameter.passed is not None and every and not alike:
            continue  # of two players, which one is not clear
        sites = sorted(passed or every, key=lambda s: rank(project, s, agent))
        module = module_at(project, agent, home.source.path)
        if module is None or _is_registry(home, name) or any(map(_is_filled, sites)):
            continue
        defined = home.place(home.classes[name])
        itself = Construction(defined, name, (ImportedName(module, name),))
        for where, call in sites:
            if rank(project, (where, call), agent) > worst:
                break
            made = construction(project, agent, where, call)
            if made is not None:
                return replace(parameter, made=made)
        fields = constructor_of(project, home, name)
        if not fields and has_library_base(project, home, name):
            continue  # whose constructor is not known
        alone = constructor_of_environment(home, name)
        if alone is not None and any(map(_is_of_a_scenario, fields)):
            made = replace(itself, value=f"{name}.{alone}()")
            return replace(parameter, made=made)
        others = [s for s in sites if not s[0].owner(s[1]).startswith(f"{name}.")]
        given = given_by(project, agent, others, fields, worst)
        if given.sites:  # as much of that call as can be copied
            fields = tuple(from_call(given, fields, given.sites[0]))
        built = [
            _built(project, agent, home, field, reaching, worst, depth + 1)
            if is_unknown(field) and depth < DEEPEST
            else _of_environment(project, agent, home, field)
            for field in fields
        ]
        built = [
            field and _imported_from(project, agent, home, field) for field in built
        ]
        if not any(field is None or is_unknown(field) for field in built):
            whole = tuple(field for field in built if field is not None)
            return replace(parameter, made=itself, fields=whole, is_object=False)
    return None


def _is_passed(site: Site, parameter: Parameter) -> bool:
    """True if a call makes what the project passes for a parameter: of two players, the one.

    Where no call is seen that passes it, what has its name is meant.
    """
    place, call = site
    if parameter.passed is None:
        made = assignment(place.parents[call])[0]
        return parameter.name in map(dotted, made)
    if parameter.passed.path != place.source.path:
        return False
    return any(
        call is value or call in place.values_of(value)
        for value in place.nodes
        if isinstance(value, ast.expr) and place.place(value) == parameter.passed
    )


def _is_shown(project: Project, site: Site, class_name: str) -> bool:
    """True if the agent of a watched run got an object that a call made."""
    place, call = site
    made = (str(place.source.path), place.owner(call), class_name)
    return made in project.session.shown.parts


def _of_environment(
    project: Project, agent: Syntax, home: Syntax, parameter: Parameter
) -> Parameter:
    """Make the settings of an object as the application does, where it has one way."""
    if not parameter.is_record or parameter.made is not None:
        return parameter
    made = made_of_environment(project, agent, home, parameter)
    if made is None:
        return parameter
    return replace(parameter, fields=None, is_object=True, made=made)


def _is_of_a_scenario(parameter: Parameter) -> bool:
    """True if a scenario would have to say what a constructor is given."""
    known = parameter.is_client or parameter.is_object or parameter.supplied
    return parameter.default is None and not known


def _imported_from(
    project: Project, agent: Syntax, home: Syntax, parameter: Parameter
) -> Parameter | None:
    """Say where the class of a record comes from: the agent's file may not have it.

    None where the train module cannot import it.
    """
    if not parameter.is_record or parameter.made is not None:
        return parameter
    annotation = ast.Constant(parameter.annotation or "")
    for place, name in annotated(project, home, annotation):
        module = module_at(project, agent, place.source.path)
        inner = [
            _imported_from(project, agent, place, each)
            for each in parameter.fields or ()
        ]
        if module is not None and "." not in name and None not in inner:
            defined = place.place(place.classes[name])
            made = Construction(defined, name, (ImportedName(module, name),))
            fields = tuple(each for each in inner if each is not None)
            return replace(parameter, made=made, fields=fields)
    return None


def _implementing(
    project: Project, classes: Sequence[tuple[Syntax, str]]
) -> Iterator[tuple[Syntax, str]]:
    """Yield the classes, or those derived from an abstract one, that can be made."""
    for each in classes:
        for place, name in (each, *derived_from(project, *each)):
            at_top = "." not in name and name in place.classes
            if at_top and not is_abstract(project, place, name):
                yield place, name


def _is_filled(site: tuple[Syntax, ast.Call]) -> bool:
    """True if parts are added to an object after it has been made: ``tools.register(f)``."""
    place, call = site
    statement = place.parents.get(call)
    names = set(filter(None, map(dotted, assignment(statement)[0])))
    return any(
        (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and FILLS_ITSELF.match(node.func.attr)
            and dotted(node.func.value) in names
        )
        or any(fills(node, name) for name in names)
        for node in place.owned_by(place.owner(call))
    )


def _is_registry(place: Syntax, class_name: str) -> bool:
    """True if the class has methods to fill its instances: ``register()``, ``add_tool()``."""
    return any(FILLS_ITSELF.match(name) for name, _ in place.methods_of(class_name))
