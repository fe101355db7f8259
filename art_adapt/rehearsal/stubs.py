"""Keep functions of an agent from running in a rehearsal: what talks to a real service.

A function that is stubbed stays the same object, wherever it was registered, imported or
decorated: only what it does is replaced.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any

from art_adapt.errors import Refusal
from art_adapt.rehearsal.environment import files_of
from art_adapt.rehearsal.protocol import Stub

STUBBED = "this function is stubbed in a rehearsal"


def parse_stub(said: str) -> Stub:
    """Read ``NAME`` or ``NAME=VALUE``; a value that is no JSON is a text."""
    name, equals, text = said.partition("=")
    if not equals:
        return Stub(name, STUBBED)
    try:
        return Stub(name, json.loads(text))
    except ValueError:
        return Stub(name, text)


def check_stubs(train_module: Path, stubs: Sequence[Stub]) -> None:
    """Refuse stubs of functions that the train module's files do not have.

    Raises:
        Refusal: there is no such function.
    """
    if not stubs:
        return
    known = {
        name: syntax.source.path
        for syntax in files_of(train_module)
        for name in syntax.functions
    }
    for stub in stubs:
        if stub.function not in known:
            raise Refusal(
                f"--stub {stub.function}: the agent has no function of that name",
                next_step=f"name one of these: {', '.join(sorted(known)[:20])}",
                path=train_module,
            )


def put_stubs(stubs: Sequence[Stub], root: Path) -> None:
    """Replace the code of functions of the modules below ``root``."""
    for stub in stubs:
        for function in _functions(stub.function, root):
            _stub(function, stub.returns)


def _functions(name: str, root: Path) -> Iterator[FunctionType]:
    """Yield the functions with a qualified name, inside whatever decorates them."""
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or not Path(file).is_relative_to(root):
            continue
        found: Any = module
        for part in name.split("."):
            found = inspect.getattr_static(found, part, None)
        while not isinstance(found, FunctionType):
            inner = [getattr(found, each, None) for each in INNER]
            found = next((each for each in inner if each is not None), None)
            if found is None:
                break
        else:
            yield inspect.unwrap(found)


# Where static methods and the tools of frameworks keep their function.
INNER = ("__func__", "__wrapped__", "func", "fn", "function", "_func", "coroutine")


def _stub(function: FunctionType, returns: Any) -> None:
    made = "async def" if inspect.iscoroutinefunction(function) else "def"
    text = f"import json\n    return json.loads({json.dumps(returns)!r})"
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        text = text.replace("return", "yield")
    names = function.__code__.co_freevars  # a closure's code needs the same
    inner = f"{made} stub(*_, **__):\n    if False: {', '.join(names) or '...'}\n    {text}\n"
    indented = "".join(f"    {line}\n" for line in inner.splitlines())
    outer = f"def outer({', '.join(names)}):\n{indented}    return stub\n"
    defined: dict[str, Any] = {}
    exec(outer, defined)
    function.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    function.__code__ = defined["outer"](*names).__code__
    function.__defaults__ = function.__kwdefaults__ = None
