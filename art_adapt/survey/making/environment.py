"""Finds what makes an object of nothing but the environment: ``load_settings()``, ``Llm.from_env()``.

What is given nothing cannot depend on a task, so what it returns is the same for all scenarios.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.classes import annotated
from art_adapt.code.importable import (
    ImportedName,
    is_importable,
    module_at,
    runs_when_imported,
)
from art_adapt.code.nodes import (
    Function,
    decorator_names,
    defaults_of,
    dotted,
    last_name,
)
from art_adapt.code.project import Project
from art_adapt.code.resolution import meant_by
from art_adapt.code.syntax import Syntax, return_values
from art_adapt.code.trials import is_trial
from art_adapt.survey.model import Construction, Parameter


def is_of_environment(project: Project, place: Syntax, value: ast.expr) -> bool:
    """True if a value is what a function of the project returns that is given nothing."""
    values = place.values_of(value) or [value]
    return all(
        isinstance(each, ast.Call)
        and not (each.args or each.keywords)
        and _is_of_module_or_class(project, place, each.func)
        for each in values
    )


def _is_of_module_or_class(project: Project, place: Syntax, called: ast.expr) -> bool:
    """True if a function is called as ``load_settings()`` or ``Settings.load()``: of no object."""
    if last_name(called)[:1].isupper():
        return False  # a class: Settings()
    found = meant_by(project, place, called)
    of_class = (
        isinstance(called, ast.Attribute) and last_name(called.value)[:1].isupper()
    )
    return bool(found) and (of_class or all("." not in name for _, name in found))


def made_of_environment(
    project: Project, agent: Syntax, home: Syntax, parameter: Parameter
) -> Construction | None:
    """Return how a record is made where one function or class method alone makes it of nothing.

    ``home``: the file that the parameter's annotation stands in.
    """
    wanted = annotated(project, home, ast.Constant(parameter.annotation or ""))
    if not wanted:
        return None
    found = [*_of_classes(project, agent, wanted), *_returning(project, agent, wanted)]
    return found[0] if len(found) == 1 else None


def _of_classes(
    project: Project, agent: Syntax, wanted: list[tuple[Syntax, str]]
) -> Iterator[Construction]:
    """Yield ``Settings.from_env()`` and its like, of classes that a train module can import."""
    for place, name in wanted:
        module = module_at(project, agent, place.source.path)
        method = constructor_of_environment(place, name)
        if module is not None and method is not None and "." not in name:
            defined = place.place(place.functions[f"{name}.{method}"].node)
            value = f"{name}.{method}()"
            key = (place.source.path, f"{name}.{method}")
            yield Construction(
                defined, value, (ImportedName(module, name),), functions=(key,)
            )


def _returning(
    project: Project, agent: Syntax, wanted: list[tuple[Syntax, str]]
) -> Iterator[Construction]:
    for place in project.files.values():
        if is_trial(place.source.path, agent.source.path):
            continue
        module = module_at(project, agent, place.source.path)
        for function in place.functions.values():
            returns = function.node.returns
            if (
                module is not None
                and returns is not None
                and _is_called_with_nothing(function)
                and (is_importable(place) or not runs_when_imported(place))
                and annotated(project, place, returns) == wanted
            ):
                yield Construction(
                    place.place(function.node),
                    f"{function.qualname}()",
                    (ImportedName(module, function.qualname),),
                    functions=((place.source.path, function.qualname),),
                )


def _is_called_with_nothing(function: Function) -> bool:
    return (
        function.class_name is None
        and not function.nested
        and isinstance(function.node, ast.FunctionDef)
        and not function.node.decorator_list
        and _needs_nothing(function)
    )


def _needs_nothing(function: Function) -> bool:
    """True if each of its parameters has a default: ``load(path=None)``."""
    return set(function.given) <= {name for name, _ in defaults_of(function.node)}


def constructor_of_environment(place: Syntax, class_name: str) -> str | None:
    """Return the one class method that needs nothing and returns a new instance, by its name."""
    found = [
        function.node.name
        for function in place.functions.values()
        if function.class_name == class_name
        and decorator_names(function.node) == ["classmethod"]
        and _needs_nothing(function)
        and _returns_an_instance(place, function)
    ]
    return found[0] if len(found) == 1 else None


def _returns_an_instance(place: Syntax, function: Function) -> bool:
    returned = return_values(place, function.qualname)
    return bool(returned) and all(
        isinstance(each, ast.Call) and dotted(each.func) in ("cls", function.class_name)
        for each in returned
    )
