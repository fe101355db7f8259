"""Imports a train module as a run would, and puts all checks to it."""

from __future__ import annotations

import ast
import importlib
import os
import pkgutil
import sys
import traceback
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType

from art_adapt.calls import DEFAULT_KEY
from art_adapt.code.syntax import MODULE_LEVEL, Syntax
from art_adapt.doctor import checks
from art_adapt.doctor.finding import Check, Finding, Setup, failed, ok
from art_adapt.errors import Refusal
from art_adapt.recording.installed import is_installed
from art_adapt.rehearsal.environment import keys_read, project_of
from art_adapt.source import read_source
from art_adapt.train_file import import_name, train_module_path

PLACEHOLDER = "placeholder"


def examine(
    path: Path, *, backend: str | None = None, try_judge: bool = False
) -> Iterator[Finding]:
    """Yield what is found about a train module, on this machine and in this environment.

    ``backend`` replaces the module's own; ``try_judge`` asks the judge for an answer.

    Raises:
        Refusal: it is no train module.
    """
    if not _trains(path):
        raise Refusal(
            "not a train module: it has no Scenario or no main()",
            next_step=f"name the file that art-adapt wrote, such as {train_module_path(path).name}",
            path=path,
        )
    try:
        module = import_train_module(path)
    except (Exception, SystemExit) as error:
        yield _not_imported(error)
        module = _without_keys(path) or _constants_alone(path)
    else:
        yield ok("module", f"{path} and its agent can be imported")
    constants = {name: getattr(module, name) for name in dir(module) if name.isupper()}
    constants |= {"BACKEND": backend} if backend else {}
    if "BASE_MODEL" not in constants:
        return  # no train module, or one that nobody can read
    setup = Setup(path, module, constants, try_judge)
    for check in _checks():
        yield from check(setup)


def _trains(path: Path) -> bool:
    """True unless a file that can be read lacks what every train module has."""
    try:
        written = Syntax.of(read_source(path))
    except Refusal:
        return True  # importing it says why
    return "Scenario" in written.classes and "main" in written.functions


REMEDY = "fix this first; training would stop here as well"


def _without_keys(path: Path) -> ModuleType | None:
    """Import a module with placeholders for keys that are missing; None: that fails, too.

    Clients refuse to be made without a key, and any value does to look at the rest.
    """
    missing = {name for name in keys_read(project_of(path)) if name not in os.environ}
    missing |= {DEFAULT_KEY} - os.environ.keys()
    try:
        os.environ.update(dict.fromkeys(missing, PLACEHOLDER))
        return import_train_module(path)
    except (Exception, SystemExit):
        return None
    finally:
        for name in missing:
            os.environ.pop(name, None)


def _constants_alone(path: Path) -> ModuleType:
    """Return a module with nothing but the constants that the file writes out."""
    module = ModuleType(path.stem)
    try:
        assigned = Syntax.of(read_source(path)).assignments
    except Refusal:
        return module
    for name, values in assigned.items():
        for where, value in values if name.isupper() else ():
            if where == MODULE_LEVEL:
                with suppress(ValueError):
                    setattr(module, name, ast.literal_eval(value))
    return module


def import_train_module(path: Path) -> ModuleType:
    """Import a train module as a run would: with its agent, whose code runs."""
    root, name = import_name(path.resolve())
    sys.path.insert(0, str(root))
    return importlib.import_module(name)


def _not_imported(error: BaseException) -> Finding:
    if DEFAULT_KEY in str(error):  # then openai is installed
        from art_adapt.training.start_errors import SET_KEY, lacks_key, without_key

        if lacks_key(error):
            what = f"cannot be imported: {without_key(error)}"
            return failed("module", what, SET_KEY)
    return failed("module", f"cannot be imported: {_described(error)}", REMEDY)


def _described(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if not (f.filename[:1] == "<" or is_installed(f.filename))]
    last = (own or frames)[-1]
    return f"{type(error).__name__}: {error} ({last.filename}:{last.lineno})"


def _checks() -> list[Check]:
    names = sorted(found.name for found in pkgutil.iter_modules(checks.__path__))
    modules = (importlib.import_module(f"{checks.__name__}.{name}") for name in names)
    return [module.check for module in modules]
