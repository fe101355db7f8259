"""Tell which part of a completion an expression is, and which call sampled it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from enum import StrEnum

from art_adapt.rules.code.completions import Completions
from art_adapt.rules.code.file import DEPTH, File
from art_adapt.survey.nodes import dotted

UNCHANGING = ("model_dump", "to_dict", "dict", "strip", "model_copy")
Local = tuple[str, str]  # a function and a name in it


class Kind(StrEnum):
    """The parts of a completion that are told apart."""

    CHOICE = "choice"
    MESSAGE = "message"
    DUMPED_CHOICE = "dumped choice"
    DUMPED_MESSAGE = "dumped message"
    TEXT = "text"


@dataclass(frozen=True)
class Sampled:
    """The expressions of a file that hold what a model has sampled."""

    file: File
    completions: Completions
    _kinds: dict[Local, Kind | None] = field(default_factory=dict, init=False)
    _sources: dict[Local, frozenset[ast.Call | None]] = field(
        default_factory=dict, init=False
    )

    def is_choice(self, expression: ast.expr) -> bool:
        return self.kind(expression) is Kind.CHOICE

    def kind(self, expression: ast.expr, depth: int = DEPTH) -> Kind | None:
        """Return which part of a completion ``expression`` is, None if uncertain."""
        if isinstance(expression, ast.Await):
            return self.kind(expression.value, depth)
        if isinstance(expression, ast.Subscript):
            value = expression.value
            if (
                isinstance(value, ast.Attribute)
                and value.attr == "choices"
                and not isinstance(expression.slice, ast.Slice)
            ):
                return Kind.CHOICE
            return None
        if isinstance(expression, ast.Attribute):
            inner = self.kind(expression.value, depth)
            if inner is Kind.CHOICE and expression.attr == "message":
                return Kind.MESSAGE
            if inner is Kind.MESSAGE and expression.attr == "content":
                return Kind.TEXT
            return None
        if isinstance(expression, ast.BoolOp):
            return self.kind(expression.values[0], depth)
        if isinstance(expression, ast.Call):
            return self._kind_of_call(expression, depth)
        if isinstance(expression, ast.Name) and depth:
            return self._kind_of_name(expression, depth)
        return None

    def _kind_of_name(self, name: ast.Name, depth: int) -> Kind | None:
        key = (self.file.syntax.owner(name), name.id)
        if key not in self._kinds:
            self._kinds[key] = None  # ends the recursion of a name assigned from itself
            values = [
                value
                for value in self.file.syntax.values_of(name)
                if not (isinstance(value, ast.Constant) and value.value in (None, ""))
            ]
            kinds = {self.kind(value, depth - 1) for value in values}
            self._kinds[key] = kinds.pop() if len(kinds) == 1 else None
        return self._kinds[key]

    def _kind_of_call(self, call: ast.Call, depth: int) -> Kind | None:
        name = dotted(call.func) or ""
        if name in ("cast", "typing.cast") and len(call.args) == 2:
            return self.kind(call.args[1], depth)
        if name in ("copy.copy", "copy.deepcopy", "deepcopy", "str") and call.args:
            return self.kind(call.args[0], depth)
        if not isinstance(call.func, ast.Attribute):
            return None
        inner = self.kind(call.func.value, depth)
        if call.func.attr in ("model_dump", "to_dict", "dict", "model_dump_json"):
            if inner is Kind.CHOICE:
                return Kind.DUMPED_CHOICE
            if inner is Kind.MESSAGE:
                return Kind.DUMPED_MESSAGE
        if inner is Kind.TEXT and call.func.attr in ("strip", "rstrip", "lstrip"):
            return Kind.TEXT
        return None

    def sources(self, expression: ast.expr) -> frozenset[ast.Call | None]:
        """Return the calls that a value may come from; None is an unknown one."""
        while isinstance(expression, ast.Subscript | ast.Attribute | ast.Await):
            expression = expression.value
        if isinstance(expression, ast.Call):
            if (
                isinstance(expression.func, ast.Attribute)
                and expression.func.attr in UNCHANGING
            ):
                return self.sources(expression.func.value)
            return frozenset({expression})
        if not isinstance(expression, ast.Name):
            return frozenset({None})
        key = (self.file.syntax.owner(expression), expression.id)
        if key not in self._sources:
            self._sources[key] = frozenset()  # ends the recursion, as above
            values = self.file.syntax.values_of(expression)
            found = [self.sources(value) for value in values]
            self._sources[key] = (
                frozenset().union(*found) if found else frozenset({None})
            )
        return self._sources[key]

    def by_another_model(self, expression: ast.expr) -> bool:
        """Return whether it certainly was sampled from models that are not trained."""
        known = self.completions.by_call
        calls = self.sources(expression)
        return bool(calls) and all(
            call in known and not self.completions.may_be_trained(known[call])
            for call in calls
        )
