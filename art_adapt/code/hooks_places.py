"""Finds where a file's hooks may lie, so that its import of them holds however it is loaded."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from art_adapt.code.hooks import HooksPlace, is_of_hooks
from art_adapt.code.packages import (
    import_roots,
    is_module,
    is_named_after_a_library,
    may_be_of_package,
    module_file,
    package_of,
    relative_depth,
)
from art_adapt.code.syntax import Import, Syntax
from art_adapt.errors import Refusal
from art_adapt.source import read_source


def hooks_places(syntax: Syntax) -> tuple[HooksPlace, ...]:
    """Return where the file's hooks may lie, so that its import of them always holds.

    The imports that a file always makes prove how it is imported: it would fail without
    ours, too, if it were imported otherwise. They allow an import in one form, from any
    package that they lead through, the innermost first. Without proof the hooks lie
    beside the file, which imports them in both forms.
    """
    path = syntax.source.path
    around = path.parents[: relative_depth(syntax)]
    proved = [HooksPlace(folder, "." * n) for n, folder in enumerate(around, 1)]
    in_package = bool(package_of(syntax)) or may_be_of_package(syntax)
    if not (proved or in_package) and _always_finds_neighbours(syntax):
        proved = [HooksPlace(path.parent, "")]
    proved = proved or _packages_led_through(syntax)
    forms = (".", "") if in_package else ("", ".")
    return tuple(proved) or (HooksPlace(path.parent, *forms),)


def _always_imported(syntax: Syntax) -> Iterator[Import]:
    """Yield the absolute imports that the file makes however it is loaded."""
    for imported in syntax.imports.values():
        top = imported.module.partition(".")[0]
        always = isinstance(syntax.parents[imported.node], ast.Module)
        ours = isinstance(imported.node, ast.ImportFrom) and is_of_hooks(imported.node)
        if always and not (ours or imported.level or top in sys.stdlib_module_names):
            yield imported


def _always_finds_neighbours(syntax: Syntax) -> bool:
    """True if the file imports a module that lies beside it, and nowhere else."""
    here, *above = import_roots(syntax.source.path)
    for imported in _always_imported(syntax):
        top = imported.module.partition(".")[0]
        beside = here / f"{top}.py"
        if (
            beside.is_file()
            and beside != syntax.source.path
            and not is_named_after_a_library(beside)
            and not any(is_module(root / top) for root in above)
            and _defines_what_is_used(beside, imported, syntax)
        ):
            return True
    return False


def _defines_what_is_used(beside: Path, imported: Import, syntax: Syntax) -> bool:
    """True if an import can mean a file of the project: a library may have the same name."""
    try:
        file = Syntax.of(read_source(beside))
    except Refusal:
        return False
    defined = file.defined
    if "__getattr__" in file.functions or any(map(_is_star, file.source.tree.body)):
        return True
    if imported.attribute is not None:
        return imported.attribute in defined
    local = next(name for name, each in syntax.imports.items() if each is imported)
    used = {
        node.attr
        for node in syntax.nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == local
    }
    return bool(used) and used <= defined


def _is_star(statement: ast.stmt) -> bool:
    names = statement.names if isinstance(statement, ast.ImportFrom) else []
    return any(each.name == "*" for each in names)


def _packages_led_through(syntax: Syntax) -> list[HooksPlace]:
    """Return the packages around a file that its absolute imports always go through.

    ``from app.tools import x`` in app/service/agent.py: app, which Python has imported
    then, and found in the folder above it.
    """
    path = syntax.source.path
    for root in path.parents[1:6]:
        names = path.parent.relative_to(root).parts
        if not all(map(str.isidentifier, names)):
            break
        through = [
            package
            for imported in _always_imported(syntax)
            if _can_mean(root, imported, syntax)
            for package in _packages_of(root, imported)
        ]
        shared = [n for n in range(len(names), 0, -1) if names[:n] in through]
        if shared and _leads_to_one_place(root, names[0], path):
            return [
                HooksPlace(root.joinpath(*names[:n]), f"{'.'.join(names[:n])}.")
                for n in shared
            ]
    return []


def _can_mean(root: Path, imported: Import, syntax: Syntax) -> bool:
    """True if an import can mean a package below a folder: a library may have the same name.

    ``from openai import OpenAI`` is the library's where the project's own ``openai`` has none.
    """
    module = root.joinpath(*imported.module.split("."))
    file, name = module_file(module), imported.attribute
    if file is None or file.name != "__init__.py" or name == "*":
        return True
    if name is None:
        return module.parent != root or _defines_what_is_used(file, imported, syntax)
    return is_module(module / name) or _defines_what_is_used(file, imported, syntax)


def _packages_of(root: Path, imported: Import) -> Iterator[tuple[str, ...]]:
    """Yield the packages below a folder that an absolute import runs, as their names."""
    parts = imported.module.split(".")
    attribute = imported.attribute or ""
    target = root.joinpath(*parts)
    found = module_file(target)
    if found is None and attribute:  # of a package without a file of its own
        parts, found = [*parts, attribute], module_file(target / attribute)
    if found is None:
        return
    depth = len(parts) if found.name == "__init__.py" else len(parts) - 1
    yield from (tuple(parts[:n]) for n in range(1, depth + 1))


def _leads_to_one_place(root: Path, top: str, path: Path) -> bool:
    """True if a top-level name means one folder, wherever its search may begin."""
    others = {*import_roots(path), *path.parents[1:6]} - {root}
    return not any(is_module(other / top) for other in others)
