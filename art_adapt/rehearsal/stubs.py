"""Keep functions of an agent from running in a rehearsal: what talks to a real service.

A function that is stubbed stays the same object, wherever it was registered, imported or
decorated: only what it does is replaced.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from art_adapt.code.nodes import last_name
from art_adapt.code.syntax import Syntax
from art_adapt.errors import Refusal
from art_adapt.rehearsal.environment import files_of
from art_adapt.rehearsal.protocol import Stub
from art_adapt.source import read_source

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
    """Refuse stubs of functions that cannot be replaced.

    Raises:
        Refusal: there is no such function, or it is made anew by each call of another or by
            each episode.
    """
    if not stubs:
        return
    files = files_of(train_module)
    names = run_as_scripts(train_module)
    scripts = [syntax for syntax in files if syntax.source.path.name in names]
    known = {
        name: function.nested
        for syntax in files
        if syntax not in scripts
        for name, function in syntax.functions.items()
    }
    for stub in stubs:
        script = next((s for s in scripts if stub.function in s.functions), None)
        if script is not None and stub.function not in known:
            name = script.source.path.name
            raise Refusal(
                f"--stub {stub.function}: each episode runs {name} as a script, which redefines "
                "its functions",
                next_step=f"move the function into a module that {name} imports",
                path=train_module,
            )
        if known.get(stub.function, True):
            inner = stub.function in known
            can_be = sorted(name for name, nested in known.items() if not nested)
            raise Refusal(
                f"--stub {stub.function}: it is a nested function, which each call of the outer function redefines"
                if inner
                else f"--stub {stub.function}: the agent has no function with this name",
                next_step=f"name one of these: {', '.join(can_be[:20])}",
                path=train_module,
            )


def run_as_scripts(train_module: Path) -> set[str]:
    """Return the names of the files that a train module runs by ``training.run_script``."""
    if not train_module.is_file():
        return set()
    return {
        Path(part.value).name
        for call in Syntax.of(read_source(train_module)).nodes
        if isinstance(call, ast.Call) and last_name(call.func) == "run_script"
        for part in ast.walk(call)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }


def put_stubs(stubs: Sequence[Stub], root: Path) -> None:
    """Replace the code of functions of the modules below ``root``, now or when imported.

    What is imported later is stubbed when its module has been run.
    """
    if not stubs:
        return
    put: set[FunctionType] = set()

    def put_into(module: ModuleType) -> None:
        loader = getattr(module, "__loader__", None)
        # In an episode's copy, the code says the file of the project.
        file = getattr(loader, "code_file", getattr(module, "__file__", None))
        if not isinstance(file, str) or not Path(file).is_relative_to(root):
            return
        for stub in stubs:
            function = _function(module, stub.function)
            if function is not None and function not in put:
                put.add(function)
                _stub(function, stub.returns)

    for module in list(sys.modules.values()):
        put_into(module)
    load = SourceFileLoader.exec_module

    def exec_module(self: SourceFileLoader, module: ModuleType) -> None:
        load(self, module)
        put_into(module)  # not into all of them: an agent imports thousands

    SourceFileLoader.exec_module = exec_module  # type: ignore[assignment, method-assign]


def _function(module: ModuleType, name: str) -> FunctionType | None:
    """Return a module's function with a qualified name, inside whatever decorates it."""
    found: Any = module
    for part in name.split("."):
        found = inspect.getattr_static(found, part, None)
    while found is not None and not isinstance(found, FunctionType):
        inner = (getattr(found, each, None) for each in INNER)
        found = next((each for each in inner if each is not None), None)
    return None if found is None else inspect.unwrap(found)


# Where properties, static methods and the tools of frameworks keep their function.
INNER = (
    "fget",
    "__func__",
    "__wrapped__",
    "func",
    "fn",
    "function",
    "_func",
    "coroutine",
)


def _stub(function: FunctionType, returns: Any) -> None:
    if function.__name__ == "__init__":
        returns = None  # Python allows nothing else
    asynchronous = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(
        function
    )
    yields = inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(
        function
    )
    names = function.__code__.co_freevars  # a closure's code needs the same
    body = f"{'yield' if yields else 'return'} json.loads({json.dumps(returns)!r})"
    text = (
        f"def outer({', '.join(names)}):\n"
        f"    {'async ' if asynchronous else ''}def stub(*_, **__):\n"
        f"        if False: {', '.join(names) or '...'}\n"
        f"        import json\n"
        f"        {body}\n"
        f"    return stub\n"
    )
    defined: dict[str, Any] = {}
    exec(text, defined)
    function.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    function.__code__ = defined["outer"](*names).__code__
    function.__defaults__ = function.__kwdefaults__ = None
