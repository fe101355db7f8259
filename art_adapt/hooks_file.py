"""The hooks file that lands in the user's repository, and its forerunners."""

from __future__ import annotations

from pathlib import Path

from art_adapt.survey.hooks import RECORDING_MODULE

NAME = f"{RECORDING_MODULE}.py"
# Until 0.1 the recorder itself was copied there, with a second file for agents that call
# the Responses API. Nothing imports that one any more.
FORMER_SIBLING = f"{RECORDING_MODULE}_responses.py"
NAMES = (NAME, FORMER_SIBLING)

_MARKS = (
    b"Hooks that let ART train this agent; in production each returns what it is given",
    b"Hooks that record an agent's model calls on an ART trajectory while it trains",
    b"The Responses API in terms of chat completions, for agents that call it: what a",
)


def contents() -> bytes:
    """Return the hooks file as this version writes it."""
    return Path(__file__).with_name("hooks.py").read_bytes()


def is_ours(data: bytes) -> bool:
    """Tell whether any version of art-adapt has written this file."""
    return data.startswith(tuple(b'"""' + mark for mark in _MARKS))


def is_current(data: bytes) -> bool:
    """Tell whether ``data`` is the hooks file of this version, in whatever line ends."""
    return data.replace(b"\r\n", b"\n") == contents().replace(b"\r\n", b"\n")


def is_former(data: bytes) -> bool:
    """Tell whether ``data`` is a recorder that an older art-adapt has copied there."""
    return data.startswith(tuple(b'"""' + mark for mark in _MARKS[1:]))
