"""Collects what calls of a project give for the parameters of a class or a function."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from art_adapt.code.classes import method_of
from art_adapt.code.command_line import usual_branch
from art_adapt.code.given import given_for
from art_adapt.code.nodes import argument_of
from art_adapt.code.project import Project
from art_adapt.code.syntax import Syntax
from art_adapt.code.values import steps
from art_adapt.survey.inputs.slices import construction
from art_adapt.survey.making.call_ranks import TESTS, Site, best, ordered
from art_adapt.survey.model import REST, Construction, Parameter

HANDED_ON = 3  # functions through which a value goes as their parameter


@dataclass(frozen=True)
class Given:
    """What calls of the project give for the parameters of a class or a function.

    ``sites`` are the calls in the order of their ranks, ``names`` the parameters.
    """

    project: Project
    agent: Syntax
    sites: tuple[Site, ...]
    names: tuple[str, ...]

    def passed(
        self, parameter: Parameter, sites: Sequence[Site] | None = None
    ) -> list[tuple[Syntax, ast.expr]]:
        """Return what calls pass for a parameter, with the files that they stand in."""
        values = (
            (place, argument_of(call, parameter.name, self.names))
            for place, call in (self.sites if sites is None else sites)
        )
        return [
            _handed_on(self.project, place, value)
            for place, value in values
            if value is not None
        ]

    def made(self, place: Syntax, value: ast.expr) -> Construction | None:
        """Return how a value is made; what a function makes of options, as that returns it."""
        found = construction(self.project, self.agent, place, value)
        if found is not None:
            return found
        if isinstance(value, ast.Name) and is_used_once(place, value):
            [value] = place.values_of(value)[-1:] or [value]
        returned = list(steps(self.project, place, value))
        if not isinstance(value, ast.Call) or len(returned) != 1:
            return None
        [(home, made)] = returned
        if not isinstance(made, ast.Call):
            return None  # which is filled or changed before
        return construction(self.project, self.agent, home, made)

    def shown(self, parameter: Parameter) -> Construction | None:
        """Return how the first call that shows it makes what it gives for a parameter.

        A file that does more when it is imported only counts if no other one shows it.
        """
        values = self.passed(parameter)
        tried = (
            construction(self.project, self.agent, *each, running=running)
            for running in (False, True)
            for each in values
        )
        return next((each for each in tried if each is not None), None)

    def best(self, below: int, sites: Sequence[Site]) -> Given:
        """Return what the calls of the best rank give, if that is better than ``below``."""
        return replace(self, sites=tuple(best(self.project, self.agent, sites, below)))

    def differs(self, parameter: Parameter) -> bool:
        """True if not all calls give the same for a parameter."""
        given = (
            argument_of(call, parameter.name, self.names) for _, call in self.sites
        )
        return len({value and ast.unparse(value) for value in given}) > 1


def is_used_once(place: Syntax, name: ast.Name) -> bool:
    """True if a function's variable is handed on and nothing else: nothing fills it before."""
    uses = [
        node
        for node in place.owned_by(place.owner(name))
        if isinstance(node, ast.Name) and node.id == name.id
    ]
    return sum(isinstance(node.ctx, ast.Load) for node in uses) == 1 and len(uses) == 2


def _handed_on(
    project: Project, place: Syntax, value: ast.expr, depth: int = HANDED_ON
) -> tuple[Syntax, ast.expr]:
    """Return what all calls of a function give for a parameter that it hands on as it is."""
    given = list(given_for(project, place, value)) if depth else []
    if len({ast.unparse(each) for _, each in given}) != 1:
        return place, value
    return _handed_on(project, *given[0], depth - 1)


def given_by(
    project: Project,
    agent: Syntax,
    calls: Iterable[Site],
    parameters: Sequence[Parameter],
    worst: int = TESTS,
) -> Given:
    """Return what calls give for some parameters, those of a rank up to ``worst``."""
    names = tuple(each.name for each in parameters)
    return Given(project, agent, ordered(project, agent, list(calls), worst), names)


def rest_of(given: Given, class_name: str | None) -> Iterator[Parameter]:
    """Yield what the best call gives a class besides its parameters, which its ``**kwargs`` take."""
    inits = method_of(given.project, given.agent, class_name or "", "__init__")
    takes_more = any(
        given.project.files[path].functions[name].node.args.kwarg
        for path, name in inits[:1]
    )
    for place, call in given.sites[:1] if takes_more else ():
        for each in call.keywords:
            made = given.made(place, each.value)
            if each.arg not in given.names and made is not None:
                name, passed = each.arg or REST, place.place(each.value)
                yield Parameter(
                    name, None, None, is_object=True, made=made, passed=passed
                )


def made_as(parameter: Parameter, made: Construction | None) -> Parameter:
    """Describe an object that is made like this; None: as it was."""
    if made is None:
        return parameter
    return replace(parameter, fields=None, is_object=True, made=made)


def from_call(
    given: Given, parameters: tuple[Parameter, ...], site: Site
) -> Iterator[Parameter]:
    for parameter in parameters:
        passed = given.passed(parameter, [site])
        if not passed or parameter.is_client or parameter.supplied:
            yield parameter
            continue
        [(place, value)] = passed
        value = usual_branch(place, value)
        if ast.unparse(value) == parameter.default:
            yield parameter
            continue
        made = given.made(place, value)
        if made is not None and not isinstance(value, ast.Constant):
            made = None if made.value == parameter.default else made  # of an option
        found = replace(parameter, passed=place.place(value))
        if made is not None:
            found = replace(made_as(found, made), default=None)
        yield found
