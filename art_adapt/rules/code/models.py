"""Tell which expressions are models of ART."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from art_adapt.code.nodes import (
    dotted,
    first_argument,
    unquoted,
)
from art_adapt.code.syntax import Syntax
from art_adapt.rules.code.annotated import annotation
from art_adapt.rules.code.art_names import MAKES
from art_adapt.rules.code.file import File
from art_adapt.rules.code.values import Value

BACKENDS = re.compile(
    r"(?<![\w.])(?:(\w+)\.(?:\w+\.)*)?(Backend|LocalBackend|ServerlessBackend)\b"
)


@dataclass(frozen=True)
class Models:
    """The models of ART in a file."""

    file: File

    def is_one(self, expression: ast.expr | Value) -> bool:
        """Return whether it is constructed, annotated or used as a model of ART."""
        return any(map(self._is_one, self.file.values(expression)))

    def _is_one(self, value: Value) -> bool:
        made = value.node
        if isinstance(made, ast.Call):
            return _is_class(_made_by(value.syntax, made))
        if not isinstance(made, ast.Name):
            return False
        annotations = value.syntax.annotations_of(made)
        if annotations:
            return any(
                _is_class(value.syntax.qualified(each))
                for annotation in annotations
                for each in ast.walk(unquoted(annotation))
                if isinstance(each, ast.Name | ast.Attribute)
            )
        return self._has_client(value.syntax.owner(made), made.id)

    def is_trainable(self, expression: ast.expr | Value) -> bool:
        """Return whether it is constructed as a model that is trained."""
        return any(
            isinstance(value.node, ast.Call)
            and (named := _made_by(value.syntax, value.node)).startswith("art.")
            and named.endswith("TrainableModel")
            for value in self.file.values(expression)
        )

    def kept_by(self, made: ast.Call) -> str:
        """Return the argument by which a model is kept: ``run_name``, where there is one."""
        given = self.file.contents.given(made, "run_name")
        return "name" if given is None else "run_name"

    def is_backend(self, expression: ast.expr) -> bool:
        """Return whether it is constructed, annotated or used as a backend of ART.

        A model keeps the backend that it is registered with: ``model._backend``.
        """
        if isinstance(expression, ast.Attribute) and expression.attr == "_backend":
            return self.is_one(expression.value)
        if isinstance(expression, ast.Call):
            called = expression.func
            return (
                isinstance(called, ast.Attribute)
                and called.attr == "backend"
                and self.is_one(called.value)
            )
        values = self.file.values(expression)
        made = [
            self.file.art_name(value.node.func)
            or MAKES.get(value.syntax.qualified(value.node.func) or "", "")
            for value in values
            if isinstance(value.node, ast.Call)
        ]
        if made:
            return all(each.endswith("Backend") for each in made)
        annotated = [
            a for a in (annotation(self.file.flow, each) for each in values) if a
        ]
        if annotated:
            return any(map(self._is_arts_backend, annotated))
        return any(
            (given := first_argument(call, "backend")) is not None
            and ast.dump(given) == ast.dump(expression)
            and self.is_one(model)
            for call, model in self.file.method_calls("register")
        )

    def _is_arts_backend(self, spelled: str) -> bool:
        """Return whether an annotation is a backend of ART's, not one of the project's own."""
        match = BACKENDS.search(spelled)
        if match is None:
            return False
        syntax = self.file.syntax
        imported = syntax.imports.get(match[1] or match[2])
        if match[1] and imported is None:
            return False
        own = imported is not None and not f"{imported.module}.".startswith("art.")
        return match[2] not in syntax.classes and not own

    def _has_client(self, function: str, name: str) -> bool:
        """Return whether a function asks a parameter for the client that ART's models have."""
        return any(
            dotted(model) == name and self.file.syntax.owner(call) == function
            for call, model in self.file.method_calls("openai_client")
        )


def _made_by(syntax: Syntax, call: ast.Call) -> str:
    """Return the full name of the class that a call constructs, or a train helper returns."""
    name = syntax.qualified(call.func) or ""
    return MAKES.get(name, name)


def _is_class(name: str | None) -> bool:
    return name is not None and name.startswith("art.") and name.endswith("Model")
