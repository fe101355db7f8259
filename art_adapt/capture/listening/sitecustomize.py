"""Listen to where episodes begin and end, in a process that ``art-adapt capture`` has started.

Python imports this file when it starts, as it lies in a folder of PYTHONPATH. No function,
class or module is changed: the interpreter says which function begins, through
``sys.monitoring`` (3.12 and later) or a profile function (3.11). It needs the standard
library only, since it runs in the agent's environment.
"""

from __future__ import annotations

import atexit
import builtins
import contextlib
import dataclasses
import datetime
import decimal
import enum
import json
import os
import sys
import threading
import time
import uuid
import weakref
from importlib import import_module
from pathlib import PurePath
from types import CodeType, FrameType
from typing import Any

SETTINGS = "ART_ADAPT_CAPTURE"
LONGEST = 1_000_000  # characters of an episode's note
RETURNS = ("RETURN_VALUE", "RETURN_CONST")
SUSPENDS = ("YIELD_VALUE", "RETURN_GENERATOR", "SEND", "YIELD_FROM", "ASYNC_GEN_WRAP")


class Listener:
    """What has begun and not ended, and where notes go."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.log: str = settings["log"]
        self.file: str = settings["file"]
        self.function: str = settings["function"]
        self.class_name: str | None = settings["class_name"]
        self.fields: list[dict[str, Any]] = settings["fields"]
        self.inputs: list[str] = []
        self.running: dict[int, dict[str, Any]] = {}
        self.made: dict[int, tuple[Any, dict[str, Any]]] = {}
        self.files: dict[str, bool] = {}

    def is_episode(self, code: CodeType) -> bool:
        if code.co_qualname != self.function:
            return False
        name = code.co_filename
        if name not in self.files:
            self.files[name] = os.path.realpath(name) == self.file
        return self.files[name]

    def is_constructor(self, code: CodeType) -> bool:
        return self.class_name is not None and code.co_name == "__init__"

    def constructs(self, frame: FrameType) -> None:
        """Keep what an object of the episode's class is made with."""
        code = frame.f_code
        first = code.co_varnames[0] if code.co_argcount else ""
        made = frame.f_locals.get(first)
        if all(each.__name__ != self.class_name for each in type(made).__mro__):
            return
        notes = self.noted(frame, "constructor")
        known = self.made.get(id(made))
        if known is not None and known[0]() is made:
            notes |= known[1]  # its class calls the base's
        with contextlib.suppress(TypeError):
            self.made[id(made)] = (weakref.ref(made), notes)

    def begins(self, frame: FrameType) -> None:
        if id(frame) in self.running:
            return
        self.inputs.clear()
        notes = self.noted(frame, "function")
        if self.class_name is not None and frame.f_code.co_argcount:
            made = frame.f_locals.get(frame.f_code.co_varnames[0])
            known = self.made.get(id(made))
            if known is not None and known[0]() is made:
                notes = {**known[1], **notes}
        self.running[id(frame)] = {"began": time.time(), "fields": notes}

    def ends(self, frame: FrameType, outcome: str, answer: Any = None) -> None:
        noted = self.running.pop(id(frame), None)
        if noted is not None:
            self.write(noted, outcome, answer)

    def write(self, noted: dict[str, Any], outcome: str, answer: Any) -> None:
        for field in self.fields:
            if field["of"] == "arguments":
                noted["fields"][field["name"]] = {"value": sys.argv[1:]}
            elif field["of"] == "inputs":
                noted["fields"][field["name"]] = {"value": list(self.inputs)}
        noted["seconds"] = round(time.time() - noted["began"], 3)
        noted["outcome"] = outcome
        noted["answer"] = as_json(answer).get("value")
        line = json.dumps(noted)
        if len(line) > LONGEST:
            noted["answer"] = None
            line = json.dumps(noted)
        # One write to the end of the file: other processes may write as well.
        handle = os.open(self.log, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)
        try:
            os.write(handle, line.encode() + b"\n")
        finally:
            os.close(handle)

    def noted(self, frame: FrameType, of: str) -> dict[str, Any]:
        """Return the fields that come from the arguments of the function that begins."""
        notes = {}
        values = frame.f_locals
        for field in self.fields:
            if field["of"] != of or field["parameter"] not in values:
                continue
            value = values[field["parameter"]]
            if (part := field["part"]) is not None:
                value = (
                    value.get(part)
                    if isinstance(value, dict)
                    else getattr(value, part, None)
                )
            notes[field["name"]] = as_json(value)
        return notes


def as_json(value: Any) -> dict[str, Any]:
    """Return ``value`` as JSON can hold it, as it is now; or what it is instead."""
    try:
        return {"value": json.loads(json.dumps(value, default=_plain))}
    except Exception:  # whatever an object's own methods raise
        return {"not_json": type(value).__qualname__}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if hasattr(type(value), "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    texts = (PurePath, datetime.date, datetime.time, decimal.Decimal, uuid.UUID)
    if isinstance(value, texts):
        return str(value)
    raise TypeError


def listen(listener: Listener) -> None:
    if any(field["of"] == "inputs" for field in listener.fields):
        _listen_to_input(listener)
    if listener.function == "<module>":  # a script is an episode
        _listen_to_the_process(listener)
    elif sys.version_info >= (3, 12):
        _listen_by_monitoring(listener)
    else:
        _listen_by_profiling(listener)


def _listen_to_input(listener: Listener) -> None:
    asks = builtins.input

    def heard(*prompt: Any) -> str:
        said = asks(*prompt)
        listener.inputs.append(said)
        return said

    builtins.input = heard


def _listen_to_the_process(listener: Listener) -> None:
    noted: dict[str, Any] = {"began": time.time(), "fields": {}}

    def end() -> None:
        # Of a script that has ended, __main__ has no __file__ any more.
        main = getattr(sys.modules.get("__main__"), "__file__", sys.argv[0])
        if os.path.realpath(main) == listener.file:
            listener.write(noted, "ended", None)

    atexit.register(end)


if sys.version_info >= (3, 12):

    def _listen_by_monitoring(listener: Listener) -> None:
        monitoring = sys.monitoring
        free = [n for n in (4, 3, 5, 2, 1, 0) if monitoring.get_tool(n) is None]
        if not free:
            sys.stderr.write("art-adapt capture: other tools watch: nothing is kept\n")
            return
        tool, events = free[0], monitoring.events
        monitoring.use_tool_id(tool, "art-adapt capture")

        def start(code: CodeType, _: int) -> Any:
            if listener.is_episode(code):
                listener.begins(sys._getframe(1))
            elif listener.is_constructor(code):
                listener.constructs(sys._getframe(1))
            else:
                return monitoring.DISABLE
            return None

        def returns(code: CodeType, _: int, value: Any) -> Any:
            if not listener.is_episode(code):
                return monitoring.DISABLE
            listener.ends(sys._getframe(1), "returned", value)
            return None

        def unwinds(code: CodeType, _: int, error: BaseException) -> None:
            if listener.is_episode(code):
                listener.ends(sys._getframe(1), f"raised {type(error).__name__}")

        monitoring.register_callback(tool, events.PY_START, start)
        monitoring.register_callback(tool, events.PY_RETURN, returns)
        monitoring.register_callback(tool, events.PY_UNWIND, unwinds)
        monitoring.set_events(
            tool, events.PY_START | events.PY_RETURN | events.PY_UNWIND
        )


def _listen_by_profiling(listener: Listener) -> None:
    import dis

    def heard(frame: FrameType, event: str, value: Any) -> None:
        if event == "call":
            if listener.is_episode(frame.f_code):
                listener.begins(frame)
            elif listener.is_constructor(frame.f_code):
                listener.constructs(frame)
        elif event == "return" and id(frame) in listener.running:
            name = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            if name in RETURNS:
                listener.ends(frame, "returned", value)
            elif name == "RETURN_GENERATOR":
                del listener.running[id(frame)]  # it has only been made
            elif name not in SUSPENDS and value is None:
                listener.ends(frame, "raised")

    sys.setprofile(heard)
    threading.setprofile(heard)


def _import_the_next_one() -> None:
    """Import the ``sitecustomize`` that this one stands before."""
    here = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.realpath(path) != here]
    own = sys.modules.pop("sitecustomize", None)
    try:
        import_module("sitecustomize")
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
        if own is not None:
            sys.modules["sitecustomize"] = own


if SETTINGS in os.environ:
    try:
        with open(os.environ[SETTINGS], encoding="utf-8") as _file:
            listen(Listener(json.load(_file)))
    except Exception as _error:  # the agent runs, whatever happens here
        sys.stderr.write(f"art-adapt capture: {_error!r}: nothing is kept\n")
    _import_the_next_one()
