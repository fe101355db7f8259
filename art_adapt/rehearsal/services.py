"""Name what an agent does to the world outside before a rehearsal lets it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from art_adapt.code.nodes import keyword, last_name
from art_adapt.code.syntax import Syntax
from art_adapt.rehearsal.stubs import run_as_scripts
from art_adapt.rehearsal.surveyed import surveyed
from art_adapt.source import Place, read_source
from art_adapt.survey.side_effects.harm import Effect, Harm

OUTSIDE = (Harm.NETWORK, Harm.WRITES, Harm.COMMITS, Harm.PROCESS, Harm.CODE)


@dataclass(frozen=True)
class Service:
    """Something that outlives a rehearsal, and the function in which it happens.

    ``function`` is empty at module level, and where a stub would keep the agent from
    running: it is the agent itself, or makes an object that the agent uses; and in a script,
    which each episode runs anew.
    """

    place: Place
    function: str
    what: str


def _is_copied(effect: Effect) -> bool:
    """True if what an effect changes is a file; what is run may change anything."""
    is_file = effect.in_files or effect.harm is Harm.WRITES
    return is_file and effect.harm is not Harm.CODE


def services(train_module: Path, *, in_place: bool) -> tuple[Service, ...]:
    """Return what the agent of a train module does outside itself, as far as it is known.

    ``in_place``: it works on the project's own files, which otherwise stay as they are.
    """
    found = surveyed(train_module)
    if found is None:
        return ()
    running = {entry.called for entry in found.entry_points}
    scripts = run_as_scripts(train_module)
    copied = not in_place or (train_module.is_file() and works_in_copies(train_module))
    named = (
        (effect, function_at(Syntax.of(file.source), effect.place.line))
        for file in found.files
        for effect in file.effects
        if effect.harm in OUTSIDE
        # What is written elsewhere goes to a copy: see outside.py.
        and not (copied and _is_copied(effect))
    )
    return tuple(
        Service(
            effect.place,
            name
            if _can_be_stubbed(name, running) and effect.place.path.name not in scripts
            else "",
            effect.what,
        )
        for effect, name in named
    )


def works_in_copies(train_module: Path) -> bool:
    """True if each episode of a train module has a copy of the project: its files stay."""
    return any(
        isinstance(node, ast.Call)
        and last_name(node.func) == "isolated"
        and keyword(node, "copy_of") is not None
        for node in Syntax.of(read_source(train_module)).nodes
    )


def _can_be_stubbed(name: str, running: set[str]) -> bool:
    return name not in running and not name.endswith("__init__")


def function_at(syntax: Syntax, line: int) -> str:
    """Return the function around a line that is there once the module is imported, else ""."""
    around = (
        (function.node.lineno, name)
        for name, function in syntax.functions.items()
        if not function.nested
        and function.node.lineno <= line <= (function.node.end_lineno or 0)
    )
    return max(around, default=(0, ""))[1]
