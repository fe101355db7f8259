"""The hooks file that lands in the user's repository, and its forerunners."""

from __future__ import annotations

from pathlib import Path

MODULE = "art_recording"
NAME = f"{MODULE}.py"
# Until 0.1 the recorder itself was copied there, with a second file for agents that call
# the Responses API. Nothing imports that one any more.
FORMER_SIBLING = f"{MODULE}_responses.py"
NAMES = (NAME, FORMER_SIBLING)

# How the docstring of each version begins, the current one's first.
MARKS = (
    b"Hooks that let ART train this agent; in production each returns what it is given",
    b"Hooks that record an agent's model calls on an ART trajectory while it trains",
    b"The Responses API in terms of chat completions, for agents that call it: what a",
)


def contents() -> bytes:
    """Return the hooks file as this version writes it."""
    return Path(__file__).with_name("hooks.py").read_bytes()


def is_ours(data: bytes) -> bool:
    """Tell whether any version of art-adapt has written this file."""
    return data.startswith(tuple(b'"""' + mark for mark in MARKS))


def is_current(data: bytes) -> bool:
    """Tell whether ``data`` is the hooks file of this version, in whatever line ends."""
    return data.replace(b"\r\n", b"\n") == contents().replace(b"\r\n", b"\n")


def is_former(data: bytes) -> bool:
    """Tell whether ``data`` is a recorder that an older art-adapt has copied there."""
    return data.startswith(tuple(b'"""' + mark for mark in MARKS[1:]))
