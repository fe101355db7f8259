"""Lets the prompts of libraries read what a scenario says that a person types.

They do not ask with ``input()``, or have taken it from ``builtins`` when they were imported.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any, Protocol

# Where libraries ask, by module; in click 8.5, typer 0.29, prompt_toolkit 3.0.
PROMPTS = {
    "click.termui": ("visible_prompt_func", "hidden_prompt_func"),
    "typer._click.termui": ("visible_prompt_func", "hidden_prompt_func"),
    "prompt_toolkit.shortcuts.prompt": (
        "PromptSession.prompt",
        "PromptSession.prompt_async",
    ),
    "getpass": ("getpass",),
}


class Typed(Protocol):
    """What a person types, one line at a time."""

    def read(self) -> str: ...


def answer_prompts(current: Callable[[], Typed | None]) -> None:
    """Let the prompts of imported libraries read from ``current()``, if it is anything.

    Done again, it takes in what has been imported since.
    """
    for module_name, names in PROMPTS.items():
        module = sys.modules.get(module_name)
        for name in names if module is not None else ():
            owner, _, last = name.rpartition(".")
            holder = getattr(module, owner, None) if owner else module
            asking = getattr(holder, last, None)
            if asking is not None and not hasattr(asking, _MARK):
                setattr(holder, last, _answered(asking, current))


_MARK = "_art_adapt_asks"


def _answered(
    asking: Callable[..., Any], current: Callable[[], Typed | None]
) -> Callable[..., Any]:
    @functools.wraps(asking, updated=())
    def ask(*args: Any, **kwargs: Any) -> Any:
        typed = current()
        return asking(*args, **kwargs) if typed is None else typed.read()

    @functools.wraps(asking, updated=())
    async def ask_async(*args: Any, **kwargs: Any) -> Any:
        typed = current()
        return await asking(*args, **kwargs) if typed is None else typed.read()

    answered = ask_async if inspect.iscoroutinefunction(asking) else ask
    setattr(answered, _MARK, True)
    return answered
