"""Reads the Scenario class of a train module without importing the module or its agent."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pydantic

from art_adapt.errors import Refusal
from art_adapt.scenarios.rows import RecordedRequest, Scenario
from art_adapt.source import read_source

IMPORTED = {*sys.stdlib_module_names, "pydantic"}


def declared_scenario(path: Path) -> type[pydantic.BaseModel]:
    """Make the class ``Scenario`` of the train module at ``path``.

    Of the module only that class runs, with what the module imports from the standard
    library and from pydantic.

    Raises:
        Refusal: there is none, or it needs more of the module.
    """
    tree = read_source(path).tree
    body = [
        n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Scenario"
    ]
    if not body:
        raise Refusal(
            "not a train module: it has no class Scenario",
            next_step="name the file that art-adapt wrote, agent_train.py",
            path=path,
        )
    module = ast.Module([*_imports(tree), *body], [])
    names: dict[str, Any] = {
        "__name__": path.stem,
        "training": SimpleNamespace(Scenario=Scenario, RecordedRequest=RecordedRequest),
    }
    try:
        exec(compile(module, str(path), "exec", dont_inherit=True), names)
        found: type[pydantic.BaseModel] = names["Scenario"]
        found.model_rebuild(_types_namespace=names)
    except Exception as error:
        raise Refusal(
            f"the class Scenario depends on other code of the module: {type(error).__name__}: {error}",
            why="art-adapt runs only this class, because running the module would run the agent",
            next_step="run art-adapt doctor, which imports the module and checks its scenarios",
            path=path,
            line=body[0].lineno,
        ) from error
    return found


def constant(path: Path, name: str) -> Any:
    """Return a constant at the top of a train module; None if it is computed, or absent."""
    for node in read_source(path).tree.body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=found)], value=ast.expr() as value)
                | ast.AnnAssign(target=ast.Name(id=found), value=ast.expr() as value)
            ) if found == name:
                try:
                    return ast.literal_eval(value)
                except ValueError:
                    return None
    return None


def _imports(tree: ast.Module) -> Iterator[ast.stmt]:
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            if node.module == "__future__" or (
                node.level == 0 and (node.module or "").split(".")[0] in IMPORTED
            ):
                yield node
        elif isinstance(node, ast.Import):
            kept = [n for n in node.names if n.name.split(".")[0] in IMPORTED]
            if kept:
                yield ast.copy_location(ast.Import(kept), node)
