"""Tells which code of a project asks a model, directly or through a function."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from art_adapt.survey.call_graph import CallGraph, FunctionKey
from art_adapt.survey.completion_calls import FoundCall


@dataclass(frozen=True)
class Asking:
    """The nodes of a project at which a model is asked.

    ``completions`` are the completion calls by their callee. ``sites`` are the names of
    functions from which a policy call can be reached, where those functions are used.
    """

    completions: Mapping[ast.AST, FoundCall]
    sites: frozenset[ast.AST]

    @staticmethod
    def of(
        calls: Iterable[FoundCall], graph: CallGraph, policy: Iterable[FunctionKey]
    ) -> Asking:
        reaching = graph.reaching(policy)
        sites = (
            site
            for (_, callee), nodes in graph.sites.items()
            if callee in reaching
            for site in nodes
        )
        return Asking({call.callee: call for call in calls}, frozenset(sites))

    def completes(self, node: ast.AST) -> bool:
        """Whether ``node`` contains a completion call."""
        return any(inner in self.completions for inner in ast.walk(node))

    def asks(self, node: ast.AST) -> bool:
        """Whether ``node`` contains a completion call, or a call that leads to one."""
        return any(
            inner in self.completions or inner in self.sites for inner in ast.walk(node)
        )

    def returns_answer(self, value: ast.expr) -> bool:
        """Whether ``value`` is a completion call that returns the answer itself."""
        if isinstance(value, ast.Await):
            value = value.value
        return isinstance(value, ast.Call) and any(
            call.call is value and call.returns_answer
            for call in self.completions.values()
        )
