"""Tells which parameters say what model is asked, and where: a train module gives those."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from art_adapt.calls import CLIENT_CLASSES, KINDS, NOT_OF_POLICY
from art_adapt.code.nodes import (
    Function,
    called_name,
    dotted,
    entries,
    last_name,
    taken_as,
)
from art_adapt.code.project import Project
from art_adapt.code.resolution import resolve
from art_adapt.code.syntax import Syntax
from art_adapt.words import MODELS

MODEL, API_KEY, BASE_URL, API_VERSION = "model", "api_key", "base_url", "api_version"
BY_NAME = {
    **dict.fromkeys(MODELS, MODEL),
    **dict.fromkeys(("api_key", "openai_api_key"), API_KEY),
    **dict.fromkeys(("base_url", "api_base"), BASE_URL),  # litellm's, main.py
}
# Arguments of the SDK's clients (openai 2.54, lib/azure.py).
OF_CLIENTS = {
    "api_key": API_KEY,
    "base_url": BASE_URL,
    "azure_endpoint": BASE_URL,
    "api_version": API_VERSION,
}
# What a train module has in their place. Recorded calls go to the model in training whatever
# they are.
GIVEN = {
    MODEL: "BASE_MODEL",
    API_KEY: 'endpoint["api_key"]',
    BASE_URL: 'endpoint["base_url"]',
    API_VERSION: '"2024-10-21"',
}
OF_ENDPOINT = frozenset({API_KEY, BASE_URL})
_COMPLETIONS = {form.name for kind in KINDS for form in kind.methods}


def supplied_to(
    project: Project, syntax: Syntax, function: Function, name: str, deepest: int = 3
) -> str:
    """Return what a parameter is for a client or a completion; "": neither.

    It may be so for a function or class of the project that it is only handed on to.
    """
    role = _supplied_by_use(syntax, function, name)
    if role or deepest == 0:
        return role
    roles: set[str] = set()
    for read in syntax.owned_by(function.qualname):
        if not isinstance(read, ast.Name) or read.id != name:
            continue
        around = syntax.parents[read]
        call = syntax.parents[around] if isinstance(around, ast.keyword) else around
        takers = list(_takers(project, syntax, call, read))
        if not takers:
            return ""  # it serves for something else, too
        roles |= {supplied_to(project, *taker, deepest - 1) for taker in takers}
    return roles.pop() if len(roles) == 1 else ""


def _takers(
    project: Project, syntax: Syntax, call: ast.AST, given: ast.Name
) -> Iterator[tuple[Syntax, Function, str]]:
    """Yield the parameters that a call gives a name to, each with its function and file."""
    if not isinstance(call, ast.Call):
        return
    for path, qualname in resolve(project, syntax, call.func):
        place = project.files[path]
        function = place.functions[qualname]
        for parameter in taken_as(function, call, given):
            yield place, function, parameter


def _supplied_by_use(syntax: Syntax, function: Function, name: str) -> str:
    """Return what a parameter is for the client or the completion that gets it in its file.

    ``llm`` is a model where ``create(model=self.llm)`` asks, after ``self.llm = llm``.
    """
    own, around = function.qualname, function.qualname.rpartition(".")[0]
    kept = {
        target
        for target, values in syntax.assignments.items()
        if target.startswith("self.")
        for where, value in values
        if where == own and dotted(value) == name
    }
    for owner, given, role in _uses(syntax):
        if given == name and _serves_otherwise(syntax, own, name):
            continue  # a task that names the model, too
        in_class = bool(around) and owner.startswith(f"{around}.")
        if (owner == own and given == name) or (in_class and given in kept):
            return role
    return ""


def _is_of_more(call: ast.Call) -> bool:
    """True if a call asks for anything but text: ``client.embeddings.create(model=...)``."""
    resource = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    return last_name(resource) in NOT_OF_POLICY


def _serves_otherwise(syntax: Syntax, function: str, name: str) -> bool:
    """True if a function uses a parameter for more than to hand it on, or to keep it."""
    return any(
        isinstance(node, ast.Name)
        and node.id == name
        and not isinstance(syntax.parents[node], ast.keyword | ast.Assign)
        for node in syntax.owned_by(function)
    )


@functools.lru_cache(maxsize=512)
def _uses(syntax: Syntax) -> tuple[tuple[str, str, str], ...]:
    """Return where a file gives a client or a completion something: by whom, what, and as what."""
    return tuple(
        (syntax.owner(node), name, role)
        for node in syntax.nodes
        for role, value in _given(node)
        if (name := dotted(value)) is not None
    )


def _given(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield what a call gives, or a request holds, that says which model is asked, and where."""
    if isinstance(node, ast.Call):
        called = called_name(node)
        for keyword in node.keywords:
            if called in CLIENT_CLASSES and keyword.arg in OF_CLIENTS:
                yield OF_CLIENTS[keyword.arg], keyword.value
            if (
                called in _COMPLETIONS
                and keyword.arg == "model"
                and not _is_of_more(node)
            ):
                yield MODEL, keyword.value
    elif isinstance(node, ast.Dict):  # {"model": ..., "messages": ...}
        given = entries(node)
        if "messages" in given and "model" in given:
            yield MODEL, given["model"]
