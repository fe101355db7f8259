"""Tells which calls run code or commands that an episode writes."""

from __future__ import annotations

import ast

from art_adapt.code.command_line import usual_text
from art_adapt.code.nodes import keyword, text_of
from art_adapt.code.syntax import Syntax

INTERPRETS = ("exec", "eval")
SHELLS = ("os.system", "os.popen", "asyncio.create_subprocess_shell")
STARTS = ("subprocess.", "asyncio.create_subprocess")


def runs_written_code(syntax: Syntax, call: ast.Call, name: str) -> bool:
    """True if a call of ``name`` runs what is no constant: ``exec(code)``, or with a shell."""
    if not call.args:
        return False
    if name in INTERPRETS:
        is_own = isinstance(call.func, ast.Attribute) or name in syntax.functions
        return not is_own and not isinstance(call.args[0], ast.Constant)
    words = call.args[0].elts if isinstance(call.args[0], ast.List) else call.args
    return _has_shell(call, words, name) and any(
        usual_text(syntax, each) is None for each in words
    )


def _has_shell(call: ast.Call, words: list[ast.expr], name: str) -> bool:
    """True if a command is for a shell, or code for an interpreter: ``["bash", "-c", x]``."""
    shell = keyword(call, "shell")
    of_shell = isinstance(shell, ast.Constant) and shell.value is True
    of_code = any(text_of(each) == "-c" for each in words)
    return name in SHELLS or (name.startswith(STARTS) and (of_shell or of_code))
