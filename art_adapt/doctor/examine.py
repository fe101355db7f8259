"""Imports a train module as a run would, and puts all checks to it."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from art_adapt.code.packages import import_name
from art_adapt.doctor import checks
from art_adapt.doctor.finding import Check, Finding, Setup, failed, ok
from art_adapt.errors import Refusal


def examine(
    path: Path, *, backend: str | None = None, try_judge: bool = False
) -> Iterator[Finding]:
    """Yield what is found about a train module, on this machine and in this environment.

    ``backend`` replaces the module's own; ``try_judge`` asks the judge for an answer.

    Raises:
        Refusal: there is no such file, or it is no train module.
    """
    if not path.is_file():
        raise Refusal("there is no such file", path=path)
    try:
        module = import_train_module(path)
    except (Exception, SystemExit) as error:
        yield failed("module", f"cannot be imported: {_described(error)}", _REMEDY)
        return
    if not hasattr(module, "Scenario") or not hasattr(module, "main"):
        raise Refusal(
            "this is no train module",
            why="it has no Scenario and no main()",
            next_step="name the file that art-adapt has written, agent_train.py",
            path=path,
        )
    yield ok("module", f"{path} and its agent can be imported")
    constants = {name: getattr(module, name) for name in dir(module) if name.isupper()}
    constants |= {"BACKEND": backend} if backend else {}
    setup = Setup(path, module, constants, try_judge)
    for check in _checks():
        yield from check(setup)


_REMEDY = "mend that first: a run would end there, too"


def import_train_module(path: Path) -> ModuleType:
    """Import a train module as a run would: with its agent, whose code runs."""
    root, name = import_name(path.resolve())
    sys.path.insert(0, str(root))
    return importlib.import_module(name)


def _described(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({last.filename}:{last.lineno})"


def _checks() -> list[Check]:
    names = sorted(found.name for found in pkgutil.iter_modules(checks.__path__))
    modules = (importlib.import_module(f"{checks.__name__}.{name}") for name in names)
    return [module.check for module in modules]
