"""What leads to the policy calls of a project."""

from __future__ import annotations

from dataclasses import dataclass, field

from art_adapt.code.call_graph import CallGraph
from art_adapt.code.classes import FunctionKey
from art_adapt.code.nodes import Function
from art_adapt.code.project import Project
from art_adapt.code.syntax import LOOPS, Syntax
from art_adapt.survey.calls.asking import Asking
from art_adapt.survey.calls.going_on import lets_go_on
from art_adapt.survey.candidates.set_by_start import starts_that_set


@dataclass(frozen=True)
class Leads:
    """What leads to the policy calls of a project; ``reaching``: the functions that do."""

    project: Project
    graph: CallGraph
    asking: Asking
    reaching: set[FunctionKey]
    _setters: dict[FunctionKey, set[FunctionKey]] = field(default_factory=dict)

    def syntax(self, key: FunctionKey) -> Syntax:
        return self.project.files[key[0]]

    def function(self, key: FunctionKey) -> Function | None:
        """Return a function; None for the module level."""
        return self.syntax(key).functions.get(key[1])

    def drives(self, key: FunctionKey) -> bool:
        """True if a loop of a function drives a conversation."""
        function = self.function(key)
        return function is not None and self.asking.drives(self.syntax(key), function)

    def lets_go_on(self, key: FunctionKey) -> bool:
        """True if a loop of a function lets an agent go on that keeps what is said."""
        syntax = self.syntax(key)
        return any(
            lets_go_on(syntax, node, self.asking.keeping)
            for node in syntax.owned_by(key[1])
            if isinstance(node, LOOPS)
        )

    def called_by(self, key: FunctionKey) -> set[FunctionKey]:
        """Return the other functions that a function certainly calls."""
        return self.graph.certain.get(key, set()) - {key}

    def starts_that_set(self, key: FunctionKey) -> set[FunctionKey]:
        """Return what starts a function and sets what it reads; see ``set_by_start``."""
        if key not in self._setters:
            self._setters[key] = starts_that_set(self.project, self.graph, key)
        return self._setters[key]

    def sets_what_it_runs(self, key: FunctionKey) -> bool:
        """True if a start sets a variable that a function which it calls has to find set."""
        called = self.called_by(key) & self.reaching
        return any(key in self.starts_that_set(each) for each in called)
