"""Note where the episodes of one function begin and end."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
import weakref
from contextvars import ContextVar
from types import CodeType, FrameType
from typing import Any

from .values import as_json

MOST_OPENED = 10_000  # conversations whose beginning is kept
LONGEST = 10_000_000  # characters of an episode's note
current: ContextVar[Any] = ContextVar("art_adapt_capture", default=None)


def key_of(value: Any) -> str | int | None:
    """Return a value under which a conversation can be kept; None for any other."""
    said = as_json(value).get("value")
    return said if isinstance(said, str | int) else None


class Episodes:
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
        self.openers = {each["method"] for each in self.fields if each["opens"]}
        self.opening: dict[int, dict[str, Any]] = {}
        self.opened: dict[
            str | int | None, dict[str, Any]
        ] = {}  # by what they returned
        self.files: dict[str, bool] = {}

    def hears(self, code: CodeType) -> bool:
        return (
            self.is_episode(code) or self.is_constructor(code) or self.is_opener(code)
        )

    def is_opener(self, code: CodeType) -> bool:
        """True for what begins a conversation and returns the key that an episode is given."""
        of_class = self.class_name is None or "." in code.co_qualname
        return code.co_name in self.openers and of_class and self.is_here(code)

    def is_episode(self, code: CodeType) -> bool:
        return code.co_qualname == self.function and self.is_here(code)

    def is_here(self, code: CodeType) -> bool:
        """True if a function stands in the episode's file."""
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
        if self.is_opener(frame.f_code):
            self.opening.setdefault(id(frame), self.noted(frame, "setup"))
            return
        if not self.is_episode(frame.f_code):
            self.constructs(frame)
            return
        if id(frame) in self.running:
            return
        self.inputs.clear()
        notes = self.noted(frame, "function")
        if self.class_name is not None and frame.f_code.co_argcount:
            made = frame.f_locals.get(frame.f_code.co_varnames[0])
            known = self.made.get(id(made))
            if known is not None and known[0]() is made:
                notes = {**known[1], **notes}
        for opens in {each["opens"] for each in self.fields if each["opens"]}:
            key = key_of(frame.f_locals.get(opens))
            notes = {**self.opened.get(key, {}), **notes}
        noted = {"began": time.time(), "fields": notes, "conversations": []}
        self.running[id(frame)] = noted
        current.set(noted)

    def pauses(self, frame: FrameType) -> None:
        pass

    def forgets(self, frame: FrameType) -> None:
        # It has only been made.
        self.running.pop(id(frame), None)
        self.opening.pop(id(frame), None)

    def ends(self, frame: FrameType, outcome: str, answer: Any = None) -> None:
        if (opening := self.opening.pop(id(frame), None)) is not None:
            key = key_of(answer)
            if key is not None:
                self.opened[key] = opening
            if len(self.opened) > MOST_OPENED:
                del self.opened[next(iter(self.opened))]
        noted = self.running.pop(id(frame), None)
        if noted is not None:
            self.write(noted, outcome, answer)

    def around(self) -> dict[str, Any] | None:
        """Return the episode that this code is a part of, as far as that can be told."""
        noted: dict[str, Any] | None = current.get()
        running = list(self.running.values())
        if any(each is noted for each in running):
            return noted
        return running[0] if len(running) == 1 else None  # a thread of its own

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
            noted["answer"], noted["conversations"] = None, []
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
            for part in field["path"]:
                value = (
                    value.get(part)
                    if isinstance(value, dict)
                    else getattr(value, part, None)
                )
            notes[field["name"]] = as_json(value)
        return notes
