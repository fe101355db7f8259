"""Collects the words that an agent's own files write out: its choices are among them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from art_adapt.code.nodes import last_name
from art_adapt.seen.notes import Run
from art_adapt.survey.model import Survey


@dataclass(frozen=True)
class Words:
    """What the model was ``asked``, and what the agent's files write out themselves.

    ``choices``: the words that they compare with, or list. ``written``: all of their texts.
    ``typed``: what a person typed in the runs, on the command line and later.
    """

    asked: str
    choices: frozenset[str]
    written: str
    typed: frozenset[str]


def words_of(asked: str, survey: Survey, runs: Iterable[Run]) -> Words:
    """Return what the model was asked, beside what the files of its agent write out."""
    nodes = [n for file in survey.files for n in ast.walk(file.source.tree)]
    listed = (each for node in nodes for each in _listed(node))
    choices = frozenset(_texts_in(each for whole in listed for each in ast.walk(whole)))
    words = (word for run in runs for word in (*run.command[1:], *run.typed))
    typed = frozenset(part for word in words for part in (word, word.partition("=")[2]))
    return Words(asked, choices, "\n".join(_texts_in(nodes)), typed)


def _texts_in(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _listed(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what holds the words that an option may be: ``if provider == "groq"``, ``choices=[...]``."""
    match node:
        case ast.Compare():
            yield from (node.left, *node.comparators)
        case ast.MatchValue() | ast.keyword(arg="choices"):
            yield node.value
        case ast.Subscript(value=kind, slice=words) if last_name(kind) == "Literal":
            yield words
        case ast.Tuple() | ast.List() | ast.Set():
            yield node
        case ast.Dict():
            yield from (key for key in node.keys if key is not None)
        case ast.ClassDef():  # an enumeration
            yield from (
                each.value for each in node.body if isinstance(each, ast.Assign)
            )
