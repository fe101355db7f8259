"""Check the rules against rewritten cases that mean the same.

Each way of writing a bad case anew keeps what it does. A rule that finds less then knows its
author's spelling, and not the mistake.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from pathlib import Path

import pytest

from art_adapt.code.nodes import FunctionNode, last_name
from art_adapt.rules import rules
from art_adapt.rules.code import Code
from art_adapt.rules.rule import RuleModule
from art_adapt.source import Source

Rewrite = Callable[[ast.Module], ast.Module]
# What ART's functions call their arguments, in order.
NAMES = {
    "TrajectoryGroup": ["trajectories"],
    "gather_trajectory_groups": ["groups"],
    "gather_trajectories": ["trajectories"],
    "ruler_score_group": ["group", "judge_model"],
    "iterate_dataset": ["dataset"],
    "register": ["backend"],
    "wrap_rollout": ["model", "fn"],
    "delete_checkpoints": ["best_checkpoint_metric"],
}
# What only a name tells in these cases: that a list holds several scenarios or is for
# validation, that what a parameter is given are trajectories, that what trains is a backend.
ONLY_BY_NAME = {
    *{("ART502", 0), ("ART502", 1), ("ART502", 4), ("ART303", 2)},
    *{("ART510", 0), ("ART510", 1), ("ART510", 2), ("ART537", 1)},
    *{
        ("ART511", 4),
        ("ART545", 3),
        ("ART545", 4),
        *(("ART549", at) for at in range(4)),
    },
    *{("ART554", 0), ("ART554", 1)},
}


class ByName(ast.NodeTransformer):
    """Give the arguments of ART's functions by their names."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        names = NAMES.get(last_name(node.func), [])
        if names and not any(isinstance(each, ast.Starred) for each in node.args):
            given = zip(names, node.args, strict=False)
            node.keywords[:0] = [ast.keyword(name, value) for name, value in given]
            node.args = node.args[len(names) :]
        return node


class InDict(ast.NodeTransformer):
    """Give the fields of a trajectory, and the options of a request, as ``**{...}``."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        keys = [ast.Constant(each.arg) for each in node.keywords]
        named = bool(keys) and all(each.arg for each in node.keywords)
        if named and last_name(node.func) in ("Trajectory", "create", "train"):
            values = [each.value for each in node.keywords]
            node.keywords = [ast.keyword(None, ast.Dict([*keys], values))]
        return node


class ByAlias(ast.NodeTransformer):
    """Import ``art`` under another name."""

    def visit_Import(self, node: ast.Import) -> ast.Import:
        for each in node.names:
            if each.name == "art" and each.asname is None:
                each.asname = "rl"
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name("rl", node.ctx) if node.id == "art" else node


class Annotated(ast.NodeTransformer):
    """Annotate what is assigned."""

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            return ast.AnnAssign(node.targets[0], ast.Name("Any"), node.value, 1)
        return node


class InBlock(ast.NodeTransformer):
    """Put the body of each function in a ``with`` block."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        span = ast.withitem(ast.Call(ast.Name("span"), [], []))
        node.body = [ast.With([span], node.body)]
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        self.generic_visit(node)
        span = ast.withitem(ast.Call(ast.Name("span"), [], []))
        node.body = [ast.With([span], node.body)]
        return node


def renamed(tree: ast.Module) -> ast.Module:
    """Give parameters and variables names that say nothing."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    given = {each.arg for call in calls for each in call.keywords}
    for function in [each for each in tree.body if isinstance(each, FunctionNode)]:
        nodes = list(ast.walk(function))
        names = [n.arg for n in nodes if isinstance(n, ast.arg)]
        names += [
            node.id
            for node in nodes
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        ]
        new = {
            name: f"x{number}"
            for number, name in enumerate(sorted(set(names) - given - {"self"}))
        }
        for node in nodes:
            if isinstance(node, ast.Name):
                node.id = new.get(node.id, node.id)
            elif isinstance(node, ast.arg):
                node.arg = new.get(node.arg, node.arg)
    return tree


REWRITES: dict[str, Rewrite] = {
    "arguments by name": ByName().visit,
    "fields in a dict": InDict().visit,
    "another name for art": ByAlias().visit,
    "annotated": Annotated().visit,
    "in a block": InBlock().visit,
    "names that say nothing": renamed,
}
# Each once: how a case spells a reference to a method, or to a class, is its mistake.
EXCEPT = {
    "arguments by name": {
        ("ART555", 0),
        ("ART555", 1),
    },  # a model's register() is named so
    "fields in a dict": {("ART529", 0)},
    "another name for art": {("ART522", 0)},
    "names that say nothing": ONLY_BY_NAME,
}


@functools.cache
def as_written(case: str) -> str:
    return ast.unparse(ast.parse(case))


@functools.cache  # of a case as it is written, each rewriting asks again
def found(rule: RuleModule, text: str) -> int:
    return len(list(rule.check(Code(Source(Path("case.py"), text.encode())))))


@pytest.mark.wide
@pytest.mark.parametrize("how", REWRITES)
def test_a_case_that_is_written_anew_is_found_as_well(how: str) -> None:
    lost = []
    for rule in rules():
        cases = [] if rule.reads_dependencies else rule.bad
        for number, case in enumerate(cases):
            again = REWRITES[how](ast.parse(case))
            text = ast.unparse(ast.fix_missing_locations(again))
            if (rule.rule.code, number) in EXCEPT.get(how, ()):
                continue
            if found(rule, text) < found(rule, as_written(case)):
                lost.append((rule.rule.code, number, text))
    assert not lost
