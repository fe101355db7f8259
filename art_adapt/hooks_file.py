"""The hooks file that lands in the user's repository, and its forerunners."""

from __future__ import annotations

import ast
from pathlib import Path

MODULE = "art_recording"
NAME = f"{MODULE}.py"
# Until 0.1 the recorder itself was copied there, with a second file for agents that call
# the Responses API. Nothing imports that one any more.
FORMER_SIBLING = f"{MODULE}_responses.py"
NAMES = (NAME, FORMER_SIBLING)

# How the docstring of each version begins, the current one's first.
MARKS = (
    "Hooks that let ART train this agent; in production each returns what it is given",
    "Hooks that record an agent's model calls on an ART trajectory while it trains",
    "The Responses API in terms of chat completions, for agents that call it: what a",
)


def contents() -> bytes:
    """Return the hooks file as this version writes it."""
    return Path(__file__).with_name("hooks.py").read_bytes()


def is_ours(data: bytes) -> bool:
    """Tell whether any version of art-adapt has written this file."""
    return _begins(data, MARKS)


def is_current(data: bytes) -> bool:
    """Tell whether ``data`` is the hooks file of this version, whoever has formatted it.

    A repository's formatter may have its own line length, and files a licence above them.
    """
    tree = _parsed(data)
    return tree is not None and ast.dump(tree) == ast.dump(ast.parse(contents()))


def is_former(data: bytes) -> bool:
    """Tell whether ``data`` is a recorder that an older art-adapt has copied there."""
    return _begins(data, MARKS[1:])


def _begins(data: bytes, marks: tuple[str, ...]) -> bool:
    tree = _parsed(data)
    return tree is not None and (ast.get_docstring(tree) or "").startswith(marks)


def _parsed(data: bytes) -> ast.Module | None:
    try:
        return ast.parse(data)
    except (SyntaxError, ValueError):
        return None
