"""Tells whether what a call changes lies in files of the project, of which there may be a copy."""

from __future__ import annotations

import ast

from art_adapt.code.command_line import usual_text
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
    return harm is Harm.WRITES


def lies_elsewhere(syntax: Syntax, call: ast.expr) -> bool:
    """True if a call names a file outside the project: ``open("/var/log/orders")``."""
    given = call.args if isinstance(call, ast.Call) else []
    path = usual_text(syntax, given[0]) if given else None
    return path is not None and path.startswith(("/", "~"))
