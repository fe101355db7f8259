"""Finds the environment variables that code reads, and those that it raises without."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from art_adapt.code.dependence import raises_without
from art_adapt.code.nodes import last_name, text_of
from art_adapt.code.project import Project
from art_adapt.code.questions import question
from art_adapt.code.syntax import Syntax
from art_adapt.code.values import steps

READS = ("get", "pop", "setdefault")


def variables_read(
    project: Project, syntax: Syntax, nodes: Iterable[ast.AST]
) -> Iterator[str]:
    """Yield the variables that some nodes of a file read: ``os.getenv("X")``, ``environ["X"]``.

    A name that a helper takes, as in ``get_env("X")``, is found at the helper's calls. Of one
    that is put together, ``f"{provider}_API_KEY"``, the rest is ``*``.
    """
    for node in nodes:
        named = _named_in_call(syntax, node) or _named_in_subscript(syntax, node)
        if named is not None:
            yield from _texts(project, syntax, named)


def variables_required(
    project: Project, syntax: Syntax, nodes: Iterable[ast.AST]
) -> Iterator[str]:
    """Yield the variables without which some nodes of a file raise.

    They are spelled out: ``os.environ["X"]``, and ``x = os.getenv("X")`` before ``if not x: raise ...``.
    """
    for node in nodes:
        named = _named_in_subscript(syntax, node)
        if isinstance(node, ast.Call) and raises_without(syntax, node):
            named = _named_in_call(syntax, node)
        if named is not None:
            texts = _texts(project, syntax, named)
            yield from (text for text in texts if "*" not in text)


def _named_in_call(syntax: Syntax, node: ast.AST) -> ast.expr | None:
    match node:
        case ast.Call(func=ast.Attribute(value=holder, attr=method), args=[name, *_]):
            of_environment = method in READS and _is_environment(syntax, holder)
            return name if of_environment or method == "getenv" else None
        case ast.Call(func=called, args=[name, *_]):
            return name if syntax.qualified(called) == "os.getenv" else None
    return None


def _named_in_subscript(syntax: Syntax, node: ast.AST) -> ast.expr | None:
    match node:
        case ast.Subscript(value=holder, slice=name, ctx=ast.Load()):
            return name if _is_environment(syntax, holder) else None
    return None


def _is_environment(syntax: Syntax, holder: ast.expr) -> bool:
    return last_name(holder) == "environ" or syntax.qualified(holder) == "os.environ"


@question
def _texts(project: Project, syntax: Syntax, value: ast.expr) -> Iterator[str]:
    """Yield the texts that a value may be."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield value.value
    if isinstance(value, ast.JoinedStr):
        yield "".join(text_of(part) or "*" for part in value.values)
    for place, each in steps(project, syntax, value):
        yield from _texts(project, place, each)


def reads_default_key(node: ast.AST) -> bool:
    """True if a call makes a client of OpenAI's that is given no key: it reads OPENAI_API_KEY.

    Source: openai 2.54, _client.py (OpenAI.__init__).
    """
    return (
        isinstance(node, ast.Call)
        and last_name(node.func) in ("OpenAI", "AsyncOpenAI")
        and not {"api_key", None} & {each.arg for each in node.keywords}
    )
