"""Tells how a train module imports a file or a name, and whether it can without running the file."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from pathlib import Path

from art_adapt.code.nodes import last_name
from art_adapt.code.packages import package_depth
from art_adapt.code.project import Project
from art_adapt.code.syntax import LOOPS, Syntax
from art_adapt.definitions import called_name, definitions_of

FOLDER_OF = ("parent", "parents", "with_name")


@dataclass(frozen=True, order=True)
class ImportedName:
    """Something that code uses of a module; the module itself where ``name`` is ""."""

    module: str
    name: str = ""
    alias: str = ""

    @property
    def bound(self) -> str:
        """Return the name that the code uses."""
        return self.alias or self.name or self.module


def module_at(project: Project, agent: Syntax, path: Path) -> str | None:
    """Return how a train module beside the agent imports the file at ``path``."""
    package, folder = project.package(agent), agent.source.path.parent
    root = agent.source.path.parents[package_depth(package)]
    if path.stem == "__init__" and path.parent == folder:
        return None  # it would be run once more, as another module
    if path.parent == folder:
        return f".{path.stem}" if package else path.stem
    if path.is_relative_to(root):
        parts = path.relative_to(root).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        return ".".join(parts) if all(map(str.isidentifier, parts)) else None
    return None


def imported_name(
    project: Project, agent: Syntax, place: Syntax, name: str
) -> ImportedName | None:
    """Return how a train module beside the agent imports what ``place`` imports as ``name``."""
    imported, attribute = place.imports[name], place.imports[name].attribute
    defined, path = project.imported(place, name), project.located(place, name)
    if isinstance(defined, tuple):  # what a package re-exports comes from its own file
        path, attribute = defined[0].source.path, defined[1]
    if path is None:
        module = None if imported.level else imported.module
    else:  # a file of the project
        from_itself = imported.module.rpartition(".")[2] == path.stem
        is_module = attribute is None or (attribute == path.stem and not from_itself)
        if is_module and not isinstance(defined, tuple):
            return _module_beside(project, agent, path, name)
        module = module_at(project, agent, path)
    if module is None:
        return None
    if attribute is None:
        renamed = name != imported.module.split(".")[0]
        return ImportedName(module, alias=name if renamed else "")
    return ImportedName(module, attribute, "" if attribute == name else name)


def is_foreign(project: Project, place: Syntax, name: str) -> bool:
    """True if ``place`` imports ``name`` from a library that is not openai's."""
    own = isinstance(project.imported(place, name), tuple)
    if own or project.located(place, name) is not None:
        return False
    top = place.imports[name].module.partition(".")[0]
    return top not in (*sys.stdlib_module_names, "openai")


def _module_beside(
    project: Project, agent: Syntax, path: Path, name: str
) -> ImportedName | None:
    """Return how the train module imports a module of the project, as ``name``."""
    module = module_at(project, agent, path)
    if module is None or path.stem == "__init__":
        return None
    package, _, last = module.rpartition(".")
    if not package and not module.startswith("."):
        return ImportedName(module, alias="" if name == module else name)
    return ImportedName(package or ".", last, "" if name == last else name)


def runs_when_imported(syntax: Syntax) -> bool:
    """True if importing the file does more than define things."""
    return any(
        isinstance(node, ast.While | ast.For)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.Await))
        for node in syntax.source.tree.body
    )


def is_importable(syntax: Syntax) -> bool:
    """True if a file that runs something can be imported without that."""
    body = syntax.source.tree.body
    runs = [
        node.value
        for node in body
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ]
    waits = any(isinstance(node, ast.While | ast.For) for node in body)
    return not waits and (
        definitions_of(syntax.source.tree, list(map(called_name, runs))) is not None
    )


def is_of_loop(syntax: Syntax, node: ast.AST) -> bool:
    """True if a loop defines a name: a train module may import the file without the loop."""
    return isinstance(node, LOOPS) or syntax.enclosing_loop(node) is not None


def names_folder(syntax: Syntax, file: ast.Name) -> bool:
    """True if ``__file__`` stands for no more than its folder, which a train module is in, too."""
    return any(
        (isinstance(outer, ast.Attribute) and outer.attr in FOLDER_OF)
        or (isinstance(outer, ast.Call) and last_name(outer.func) == "dirname")
        for outer in syntax.ancestors(file)
    )
