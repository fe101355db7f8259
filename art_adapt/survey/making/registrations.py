"""Finds modules that add to what an agent looks up, and that its own modules do not import.

A tool is registered where its module is imported: ``@registry.register("search")``. A
``main.py`` imports it for that alone; a train module has to as well.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator
from itertools import islice
from pathlib import Path

from art_adapt.code.callers import MOST_FOUND, TRAINS, homes_of, unread
from art_adapt.code.classes import FunctionKey
from art_adapt.code.mentions import variable_read
from art_adapt.code.nodes import FunctionNode, dotted, given_to, grown_list
from art_adapt.code.project import Project
from art_adapt.code.syntax import Syntax
from art_adapt.code.trials import is_trial
from art_adapt.survey.inputs.fillings import changes

Variable = tuple[Path, str]  # of a module: the file, and its name there


def find_registering(
    project: Project,
    run: set[FunctionKey],
    objects: set[Variable],
    imported: set[Path],
) -> dict[Path, list[FunctionKey]]:
    """Find the files that add to what an episode looks up, where they are imported.

    ``run``: the functions of an episode. ``objects``: those of modules that it runs.
    ``imported``: the files that are imported anyway. What only shows or tries an agent
    does not count. With each file come the functions and classes that it adds.
    """
    tables = objects | {each for key in run for each in _looked_up(project, key)}
    targets = tables | {
        (path, function)
        for path, name in tables
        if path in project.files
        for function in _adders(project.files[path], name)
    }
    if not targets:
        return {}
    may_add = _may_add(targets)
    home = project.given[0]
    found = (
        path
        for path, data in unread(project, home)
        if may_add(data) and not TRAINS.search(data)
    )
    wider = project.with_files(list(islice(found, MOST_FOUND))) or project
    return {
        path: added
        for path, syntax in wider.files.items()
        if path not in imported
        and not is_trial(path, home)
        and (added := list(_added(wider, syntax, targets)))
    }


def _may_add(targets: Collection[Variable]) -> Callable[[bytes], bool]:
    """Return whether the text of a file may add to a target; most files of a project do not.

    It imports the target's module, and has a statement that begins with the target's name,
    or gives it another name.
    """
    names = sorted({name.encode() for _, name in targets})
    homes = sorted({home.encode() for path, _ in targets for home in homes_of(path)})
    name, home = (b"|".join(map(re.escape, each)) for each in (names, homes))
    adds = re.compile(
        rb"^@?(?:\w+\.)*(?:%s)\s*[.(\[]|^@(?:\w+\.)*(?:%s)\b|\b(?:%s)\s+as\s"
        % (name, name, name),
        re.M,
    )
    imports = re.compile(rb"^[ \t]*(?:from|import)[ \t][^\n]*\b(%s)\b" % home, re.M)

    def may_add(data: bytes) -> bool:
        return (
            any(each in data for each in homes)
            and any(each in data for each in names)
            and imports.search(data) is not None
            and adds.search(data) is not None
        )

    return may_add


def _looked_up(project: Project, key: FunctionKey) -> Iterator[Variable]:
    """Yield the tables and registries of modules that a function reads."""
    syntax = project.files[key[0]]
    for node in syntax.owned_by(key[1]):
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            continue
        found = variable_read(project, syntax, node)
        if found is None and not syntax.is_local(node.id, key[1]):
            found = (syntax, node.id)
        if found is not None and _may_be_filled(*found):
            yield found[0].source.path, found[1]


def _may_be_filled(syntax: Syntax, name: str) -> bool:
    """True if a module's variable is an object, or a list or dict that is empty at first."""
    return any(
        isinstance(value, ast.Call)
        or (isinstance(value, ast.Dict) and not value.keys)
        or (isinstance(value, ast.List) and not value.elts)
        for value in syntax.values_at_top(name)
    )


def _adders(syntax: Syntax, name: str) -> Iterator[str]:
    """Yield the functions of a file that add to a variable of it: a decorator ``@tool``."""
    for qualname in syntax.functions:
        if any(
            changes(node, name) or grown_list(node) == name
            for node in syntax.owned_by(qualname)
        ):
            yield qualname.partition(".")[0]


def _added(
    project: Project, syntax: Syntax, targets: set[Variable]
) -> Iterator[FunctionKey]:
    """Yield the functions and classes that importing a file adds to one of ``targets``."""

    def adds(value: ast.expr) -> bool:
        while isinstance(value, ast.Call):
            value = value.func
        return _meant(project, syntax, value) in targets

    for statement in syntax.source.tree.body:
        values: list[ast.expr] = []
        if isinstance(statement, FunctionNode | ast.ClassDef):
            if any(map(adds, statement.decorator_list)):
                yield syntax.source.path, statement.name
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            call = statement.value
            values = given_to(call) if adds(call) else []
        elif isinstance(statement, ast.Assign):
            target = statement.targets[0]
            if isinstance(target, ast.Subscript) and adds(target.value):
                values = [statement.value]
        for name in (n for value in values for n in ast.walk(value)):
            if isinstance(name, ast.Name):
                yield _meant(project, syntax, name) or (syntax.source.path, name.id)


def _meant(project: Project, syntax: Syntax, value: ast.expr) -> Variable | None:
    """Return what an imported name, or an attribute of an imported module, stands for."""
    head, _, rest = (dotted(value) or "").partition(".")
    if head not in syntax.imports:
        return None
    found = project.variable_named(syntax, head)
    if found is not None:
        return found[0].source.path, found[1]
    module = project.imported(syntax, head)
    if isinstance(module, Syntax):
        return module.source.path, rest.partition(".")[0]
    return None
