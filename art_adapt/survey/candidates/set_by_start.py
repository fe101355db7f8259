"""Tells which functions read a variable that only what starts them sets."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping

from art_adapt.code.classes import FunctionKey
from art_adapt.code.syntax import MODULE_LEVEL, Syntax
from art_adapt.survey.candidates.leads import Leads


def starts_that_set(leads: Leads, key: FunctionKey) -> set[FunctionKey]:
    """Return what starts a function and sets a variable of a module that it reads, or what it runs.

    ``global client; client = OpenAI()`` in the ``main()`` that runs it sets one, and so does
    ``chat = Chat()`` under ``if __name__ == "__main__":``. Run by itself, it would fail.
    """
    run = leads.graph.run_by([key])
    setters = {
        (path, setter)
        for path, name in run
        if (late := _set_late(leads.project.files[path]))
        for node in leads.project.files[path].owned_by(name)
        if isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Load)
        and not leads.project.files[path].is_local(node.id, name)
        for setter in late.get(node.id, ())
    }
    return {setter for setter in setters - run if key in leads.graph.run_by([setter])}


def sets_what_it_runs(leads: Leads, key: FunctionKey) -> bool:
    """True if a start sets a variable that a function which it calls has to find set."""
    called = leads.called_by(key) & leads.reaching
    return any(key in starts_that_set(leads, each) for each in called)


@functools.lru_cache(maxsize=512)
def _set_late(syntax: Syntax) -> Mapping[str, frozenset[str]]:
    """Return the variables that importing a file leaves unset or None, with what sets them.

    That is a function, or the module where it is run as a program.
    """
    found: dict[str, frozenset[str]] = {}
    for name, values in syntax.assignments.items():
        top = [value for where, value in values if where == MODULE_LEVEL]
        setters = {
            syntax.owner(value): syntax.is_guarded(value)
            for value in top
            if not (isinstance(value, ast.Constant) and value.value is None)
        }
        known = name in syntax.imports or name in syntax.functions
        if "." in name or known or not setters:
            continue
        if all(where != MODULE_LEVEL or guarded for where, guarded in setters.items()):
            found[name] = frozenset(setters)
    return found
