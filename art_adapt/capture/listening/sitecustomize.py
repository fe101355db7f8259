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
from contextvars import ContextVar
from importlib import import_module
from pathlib import PurePath
from types import CodeType, FrameType
from typing import Any

SETTINGS = "ART_ADAPT_CAPTURE"
LONGEST = 10_000_000  # characters of an episode's note
RETURNS = ("RETURN_VALUE", "RETURN_CONST")
SUSPENDS = ("YIELD_VALUE", "RETURN_GENERATOR", "SEND", "YIELD_FROM", "ASYNC_GEN_WRAP")
OF_THE_SDK = (
    "SyncAPIClient.request",
    "AsyncAPIClient.request",
    "Stream.__stream__",
    "AsyncStream.__stream__",
    "BaseClient._process_response_data",
)
CHUNK = "_process_response_data"
current: ContextVar[Any] = ContextVar("art_adapt_capture", default=None)


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
        self.files: dict[str, bool] = {}

    def hears(self, code: CodeType) -> bool:
        return self.is_episode(code) or self.is_constructor(code)

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
        noted = {"began": time.time(), "fields": notes, "conversations": []}
        self.running[id(frame)] = noted
        current.set(noted)

    def forgets(self, frame: FrameType) -> None:
        self.running.pop(id(frame), None)  # it has only been made

    def ends(self, frame: FrameType, outcome: str, answer: Any = None) -> None:
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
            if (part := field["part"]) is not None:
                value = (
                    value.get(part)
                    if isinstance(value, dict)
                    else getattr(value, part, None)
                )
            notes[field["name"]] = as_json(value)
        return notes


class Conversations:
    """What the SDK's clients ask a chat model, and what comes back.

    Every call of the SDK ends in its clients' ``request``; a stream is read by its
    ``__stream__``, which has each chunk made by ``_process_response_data`` (openai 2 and
    3, _base_client.py and _streaming.py).
    """

    def __init__(self, episodes: Episodes) -> None:
        self.episodes = episodes
        self.asked: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
        self.streams: dict[int, tuple[dict[str, Any], dict[str, Any], list[Any]]] = {}

    def hears(self, code: CodeType) -> bool:
        return code.co_qualname in OF_THE_SDK and "openai" in code.co_filename

    def begins(self, frame: FrameType) -> None:
        options = frame.f_locals.get("options")
        url = str(getattr(options, "url", ""))
        episode = self.episodes.around()
        if episode is not None and url.endswith("/chat/completions"):
            body = as_json(getattr(options, "json_data", None)).get("value")
            if isinstance(body, dict) and id(frame) not in self.asked:
                self.asked[id(frame)] = episode, body

    def forgets(self, frame: FrameType) -> None:
        self.asked.pop(id(frame), None)

    def ends(self, frame: FrameType, outcome: str, answer: Any = None) -> None:
        if frame.f_code.co_name == CHUNK:
            stream = frame.f_back and frame.f_back.f_locals.get("self")
            if id(stream) in self.streams:
                self.streams[id(stream)][2].append(answer)
            return
        if frame.f_code.co_name == "__stream__":
            streamed = self.streams.pop(id(frame.f_locals.get("self")), None)
            if streamed is not None:
                episode, body, chunks = streamed
                note_completion(episode, body, message_of_chunks(chunks))
            return
        asked = self.asked.pop(id(frame), None)
        if asked is None or outcome != "returned":
            return
        if hasattr(answer, "__stream__"):
            self.streams[id(answer)] = (*asked, [])
            return
        content = getattr(getattr(answer, "http_response", None), "_content", None)
        said = as_json(answer) if content is None else {"value": json.loads(content)}
        choices = (said.get("value") or {}).get("choices") or [{}]
        note_completion(*asked, choices[0].get("message") or {})


def message_of_chunks(chunks: list[Any]) -> dict[str, Any]:
    """Put the message together that a stream has carried."""
    content = ""
    calls: dict[int, dict[str, Any]] = {}
    for chunk in chunks:
        for choice in getattr(chunk, "choices", None) or ():
            if choice.index:
                continue
            content += getattr(choice.delta, "content", None) or ""
            for part in getattr(choice.delta, "tool_calls", None) or ():
                function = {"name": "", "arguments": ""}
                call = calls.setdefault(
                    part.index, {"id": "", "type": "function", "function": function}
                )
                call["id"] = part.id or call["id"]
                for name in function:
                    call["function"][name] += getattr(part.function, name, None) or ""
    message: dict[str, Any] = {"role": "assistant", "content": content or None}
    return message | ({"tool_calls": list(calls.values())} if calls else {})


def note_completion(
    episode: dict[str, Any], body: dict[str, Any], message: dict[str, Any]
) -> None:
    """Add a request and its answer to an episode, in the place of those it goes on from."""
    before = body.get("messages") or []
    said = {name: value for name, value in message.items() if value is not None}
    conversation = {"messages": [*before, {"content": None, **said}]}
    if body.get("tools"):
        conversation["tools"] = body["tools"]
    kept = episode["conversations"]
    for number, other in enumerate(kept):
        length = len(other["messages"])
        if len(before) >= length and before[: length - 1] == other["messages"][:-1]:
            del kept[number]
            break
    kept.append(conversation)


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


def listen(episodes: Episodes, *, conversations: bool) -> None:
    ears: list[Any] = [episodes]
    if conversations:
        ears.append(Conversations(episodes))
    if any(field["of"] == "inputs" for field in episodes.fields):
        _listen_to_input(episodes)
    if episodes.function == "<module>":  # a script is an episode
        _listen_to_the_process(episodes)
        ears.remove(episodes)
    if not ears:
        return
    if sys.version_info >= (3, 12):
        _listen_by_monitoring(ears)
    else:
        _listen_by_profiling(ears)


def _listen_to_input(listener: Episodes) -> None:
    asks = builtins.input

    def heard(*prompt: Any) -> str:
        said = asks(*prompt)
        listener.inputs.append(said)
        return said

    builtins.input = heard


def _listen_to_the_process(listener: Episodes) -> None:
    noted: dict[str, Any] = {"began": time.time(), "fields": {}, "conversations": []}
    listener.running[0] = noted

    def end() -> None:
        # Of a script that has ended, __main__ has no __file__ any more.
        main = getattr(sys.modules.get("__main__"), "__file__", sys.argv[0])
        if os.path.realpath(main) == listener.file:
            listener.write(noted, "ended", None)

    atexit.register(end)


if sys.version_info >= (3, 12):

    def _listen_by_monitoring(ears: list[Any]) -> None:
        monitoring = sys.monitoring
        free = [n for n in (4, 3, 5, 2, 1, 0) if monitoring.get_tool(n) is None]
        if not free:
            sys.stderr.write("art-adapt capture: other tools watch: nothing is kept\n")
            return
        tool, events = free[0], monitoring.events
        monitoring.use_tool_id(tool, "art-adapt capture")

        def starts(code: CodeType, _: int) -> Any:
            heard = [ear for ear in ears if ear.hears(code)]
            for ear in heard:
                ear.begins(sys._getframe(1))
            return None if heard else monitoring.DISABLE

        def returns(code: CodeType, _: int, value: Any) -> Any:
            heard = [ear for ear in ears if ear.hears(code)]
            for ear in heard:
                ear.ends(sys._getframe(1), "returned", value)
            return None if heard else monitoring.DISABLE

        def unwinds(code: CodeType, _: int, error: BaseException) -> None:
            for ear in ears:
                if ear.hears(code):
                    ear.ends(sys._getframe(1), f"raised {type(error).__name__}")

        monitoring.register_callback(tool, events.PY_START, starts)
        monitoring.register_callback(tool, events.PY_RETURN, returns)
        monitoring.register_callback(tool, events.PY_UNWIND, unwinds)
        monitoring.set_events(
            tool, events.PY_START | events.PY_RETURN | events.PY_UNWIND
        )


def _listen_by_profiling(ears: list[Any]) -> None:
    import dis

    thrown: dict[
        int, int
    ] = {}  # where generators wait that an exception is thrown into

    def heard(frame: FrameType, event: str, value: Any) -> None:
        if event not in ("call", "return"):
            return
        for ear in ears:
            if not ear.hears(frame.f_code):
                continue
            name = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            if event == "call":
                if name == "YIELD_VALUE":
                    thrown[id(frame)] = frame.f_lasti
                ear.begins(frame)
                continue
            gave_up = thrown.pop(id(frame), None) == frame.f_lasti
            if name in RETURNS:
                ear.ends(frame, "returned", value)
            elif name == "RETURN_GENERATOR":
                ear.forgets(frame)
            elif value is None and (gave_up or name not in SUSPENDS):
                ear.ends(frame, "raised")

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
            _told = json.load(_file)
        listen(Episodes(_told), conversations=_told["conversations"])
    except Exception as _error:  # the agent runs, whatever happens here
        sys.stderr.write(f"art-adapt capture: {_error!r}: nothing is kept\n")
    _import_the_next_one()
