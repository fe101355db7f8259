"""Hear what a person types: at ``input()``, and at the prompts of a library that does not use it."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

# Of prompt_toolkit 3.0; click, typer and rich ask by input().
PROMPTS = ("PromptSession.prompt", "PromptSession.prompt_async")
FILE = os.path.join("prompt_toolkit", "shortcuts", "prompt.py")


class Typed:
    """An ear that hands on each line."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self.note = note
        self.last: Any = None  # which a function in its place may hand on
        asks = builtins.input

        def heard(*prompt: Any) -> str:
            said = self.last = asks(*prompt)
            note(said)
            return said

        self.heard = builtins.input = heard

    def hears(self, code: CodeType) -> bool:
        if code.co_qualname in PROMPTS and code.co_filename.endswith(FILE):
            return True
        return builtins.input is not self.heard and code in _codes_of(builtins.input)

    def begins(self, frame: FrameType) -> None:
        pass

    def pauses(self, frame: FrameType) -> None:
        pass

    def forgets(self, frame: FrameType) -> None:
        pass

    def ends(self, frame: FrameType, outcome: str, answer: Any = None) -> None:
        if frame.f_code.co_qualname not in PROMPTS:  # what a test has put in its place
            code, held = frame.f_code, frame.f_locals.get("self")
            is_asked = held is builtins.input or code is _codes_of(builtins.input)[0]
            is_new = isinstance(answer, str) and answer is not self.last
            if outcome == "returned" and is_new and is_asked:
                self.note(answer)
            return
        # A condition may say that it is a password: only what is surely none is noted.
        hides = getattr(frame.f_locals.get("self"), "is_password", True)
        if outcome == "returned" and isinstance(answer, str) and hides is False:
            self.note(answer)


def _codes_of(asked: Any) -> tuple[Any, Any]:
    """Return the code of a function, and of the ``__call__`` of an object's class."""
    called = type(asked).__call__
    return getattr(asked, "__code__", None), getattr(called, "__code__", None)
