"""Tells whether a call writes a file, and whether what it changes is in files, which may be copied."""

from __future__ import annotations

import ast

from art_adapt.code.command_line import usual_text
from art_adapt.code.nodes import keyword
from art_adapt.code.syntax import Syntax
from art_adapt.survey.side_effects.harm import Harm
from art_adapt.survey.side_effects.library_calls import BY_MODULE

SQLITE = ("sqlite3", "aiosqlite")  # whose databases are files


def is_of_files(syntax: Syntax, call: ast.expr, harm: Harm) -> bool:
    """True if a call changes files that may be the project's: no server's, nowhere else."""
    if lies_elsewhere(syntax, call):
        return False
    if harm is Harm.COMMITS:
        tops = {each.module.partition(".")[0] for each in syntax.imports.values()}
        served = any(BY_MODULE.get(top) is Harm.NETWORK for top in tops)
        return syntax.imports_module(*SQLITE) is not None and not served
    return harm in (Harm.WRITES, Harm.CODE)


def lies_elsewhere(syntax: Syntax, call: ast.expr) -> bool:
    """True if a call names a file outside the project: ``open("/var/log/orders")``."""
    given = call.args if isinstance(call, ast.Call) else []
    path = usual_text(syntax, given[0]) if given else None
    return path is not None and path.startswith(("/", "~"))


def opens_for_writing(call: ast.Call, syntax: Syntax, position: int) -> bool:
    """True if a mode may be one for writing, also by its default or on one branch."""
    mode = call.args[position] if len(call.args) > position else keyword(call, "mode")
    if mode is None:
        return False
    modes = [mode.body, mode.orelse] if isinstance(mode, ast.IfExp) else [mode]
    if isinstance(mode, ast.Name):
        modes = [*syntax.values_of(mode), *syntax.defaults_of(mode)]
    return any(
        isinstance(each, ast.Constant)
        and isinstance(each.value, str)
        and set(each.value) <= set("rwaxbt+|:gz*")
        and not set(each.value).isdisjoint("wax+")
        for each in modes
    )
