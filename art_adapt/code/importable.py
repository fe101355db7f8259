"""Tells how a train module imports a file, and whether it can without running it."""

from __future__ import annotations

import ast
from pathlib import Path

from art_adapt.code.packages import package_depth
from art_adapt.code.project import Project
from art_adapt.code.syntax import Syntax
from art_adapt.definitions import called_name, definitions_of


def module_at(project: Project, agent: Syntax, path: Path) -> str | None:
    """Return how a train module beside the agent imports the file at ``path``."""
    package, folder = project.package(agent), agent.source.path.parent
    root = folder.parents[package_depth(package) - 1] if package else folder
    if path.stem == "__init__" and path.parent == folder:
        return None  # it would be run once more, as another module
    if path.parent == folder:
        return f".{path.stem}" if package else path.stem
    if path.is_relative_to(root):
        parts = path.relative_to(root).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        return ".".join(parts) if all(map(str.isidentifier, parts)) else None
    return None


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
