"""Imports what every episode needs, once, in the process that those of episodes are forked from.

``multiprocessing``'s fork server runs it, told in the environment what to prepare. Its own
``set_forkserver_preload`` imports modules by name only, before Python 3.12.4 with a
``sys.path`` of its own, and never the main module (CPython, multiprocessing/forkserver.py).
"""

from __future__ import annotations

import gc
import json
import multiprocessing.process
import multiprocessing.spawn
import os
import random
import signal
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.machinery import ModuleSpec
from typing import Any, get_args

from pydantic import BaseModel

from art_adapt.forked_from import TOLD

PREPARED = (
    "sys_path",
    "sys_argv",
    "dir",
    "orig_dir",
    "init_main_from_name",
    "init_main_from_path",
)
MAIN = PREPARED[-2:]

problem = ""  # why no episode can be forked from this process


def started_as() -> dict[str, Any]:
    """Return what a process is told to be as this one: its paths, and its main module."""
    spawned = multiprocessing.spawn.get_preparation_data("forked from")
    process = {key: spawned[key] for key in PREPARED if key in spawned}
    process["sys_argv"] = sys.argv[:1]  # as modules see it when they are imported
    return process


def told(module: str | None, *, alone: bool) -> str:
    """Return what the fork server is to be told: to be as this process, and a module.

    None: its processes import the main module and the agent themselves; ``alone``: from
    elsewhere, so that ``multiprocessing`` must not do it for them.
    """
    process = started_as()
    main = {} if module else {k: process.pop(k) for k in MAIN if k in process}
    known = {
        "process": process,
        "module": module,
        "torch": "torch" in sys.modules,
        "main": main if alone else {},
    }
    return json.dumps(known)


def preload() -> None:
    """Import what the environment tells, and note what a fork of it would lack, or share."""
    global problem
    wanted = json.loads(os.environ.pop(TOLD))
    before = _held()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C lets a step be finished
    here = vars(multiprocessing.process.current_process())
    # As in a spawned process: a main module without a guard must not start anything.
    here["_inheriting"] = True
    try:
        multiprocessing.spawn.prepare(wanted["process"])
        if wanted["module"] not in (None, "__main__"):
            import_module(wanted["module"])
        _import_what_a_call_does()
        _seem(**wanted["main"])
    except (Exception, SystemExit) as error:
        problem = f"importing them there failed: {error!r}"
    finally:
        del here["_inheriting"]
    problem = problem or _kept(before)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()  # or each fork prints it again
    # Left out of collections, the pages of all these objects stay shared with the forks.
    gc.collect()
    gc.freeze()


def _seem(
    init_main_from_name: str = "", init_main_from_path: str | None = None
) -> None:
    """Let ``multiprocessing`` find a main module in forks of this process, and import none.

    It looks for the name or the file of the one that it has (CPython, multiprocessing/spawn.py).
    """
    main = sys.modules["__main__"]
    if init_main_from_name:
        main.__spec__ = ModuleSpec(init_main_from_name, None)
    if init_main_from_path is not None:
        main.__file__ = init_main_from_path


def start_anew() -> None:
    """Undo in a fork what it shares with the others: numpy's random numbers.

    Those of ``random`` are seeded anew by Python itself.
    """
    if (numpy := sys.modules.get("numpy")) is not None:
        numpy.random.seed()


def _kept(before: _Held) -> str:
    """Say what the modules hold that no fork may use: threads, connections, event loops."""
    after, main = _held(), threading.main_thread()
    if threads := [t.name for t in threading.enumerate() if t is not main]:
        return f"they start threads when they are imported ({', '.join(threads)})"
    if after.threads > before.threads:  # as OpenMP's, which a fork would wait for
        return "libraries start threads of their own when they are imported"
    if opened := sorted(after.opened - before.opened):
        return f"they open {', '.join(opened)} when they are imported"
    if after.random != before.random:
        return "they seed or draw random numbers when they are imported"
    return ""


@dataclass(frozen=True)
class _Held:
    """What a process holds: native threads, what is open, and where chance stands."""

    threads: int
    opened: set[str]
    random: int


def _held() -> _Held:
    threads = len(os.listdir("/proc/self/task"))
    return _Held(threads, _held_open(), hash(random.getstate()))


def _held_open() -> set[str]:
    """Return what this process holds open (Linux): files, sockets, pipes; no devices."""
    found = set()
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # the listing's own
            found.add(os.readlink(f"/proc/self/fd/{number}"))
    return {each for each in found if not each.startswith("/dev/")}


def _import_what_a_call_does() -> None:
    """Import what an episode's first call would: some 450 modules of the SDK."""
    from art_adapt.recording.callees import find_callee
    from art_adapt.recording.clients import connected_client

    find_callee(connected_client(None).chat.completions.create)
    build_types()


def build_types() -> None:
    """Build the types of the SDK's responses, which it does when they are first needed.

    That is not safe: first replies in several threads raise a PydanticUserError now and then
    (openai 3.57, _models.py:129: ``defer_build``).
    """
    from openai.types.chat import ChatCompletion, ChatCompletionChunk
    from openai.types.responses import Response

    for each in _types_in(ChatCompletion, ChatCompletionChunk, Response):
        each.model_rebuild()  # nothing, if it is built


def _types_in(*roots: type[BaseModel]) -> set[type[BaseModel]]:
    """Return models, and those that their fields are made of."""
    found: set[type[BaseModel]] = set()
    left: list[Any] = [*roots]
    while left:
        each = left.pop()
        left += get_args(each)
        is_model = isinstance(each, type) and issubclass(each, BaseModel)
        if is_model and each not in found:
            found.add(each)
            left += [field.annotation for field in each.model_fields.values()]
    return found
