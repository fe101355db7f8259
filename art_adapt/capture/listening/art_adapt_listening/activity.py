"""Note which functions of the project were active when a model was asked, and what they were given.

A function is noted only once a model is asked in it: then all those around it are written,
each before what it encloses, with the objects that they belong to.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import itertools
import json
import os
import signal
import sys
import threading
import time
import weakref
from collections import Counter
from contextvars import ContextVar
from pathlib import Path
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any

from .active import Active, Made, Site, is_of_a_loop, outward
from .conversations import (
    EMBEDDINGS,
    OF_THE_SDK,
    Requests,
    embedded,
    message_of,
    send_to,
)
from .ears import GENERATES
from .values import snapshot, standard_class

MOST_CALLS = 5_000  # of one function that asks nothing: then it is heard no more
MOST_OPENED = 1_000  # texts that functions returned last: a later call may be given one
KEYS = range(4, 200)  # characters of a text that may be the key of a conversation
MOST_SETUP = 40  # calls of one object's methods before a model is asked
MOST_BETWEEN = 1_000  # and between its questions
MOST_EMBEDDED = 1_000  # texts: the questions of runs, and no large index
MOST_WRITTEN = 50_000_000  # characters, of one process
# Where a thread's work is handed over and begins (Python 3.11 to 3.14).
HANDS_OVER = ("_WorkItem.__init__", "Thread.start")
TAKES_OVER = ("_WorkItem.run", "Thread.run")
SDK_FILES = ("_base_client.py", "_streaming.py")

MOST_SCRIPTED = 1_000  # requests: ten episodes of a hundred turns
TOO_MANY = (
    f"\nart-adapt: stopped the command after {MOST_SCRIPTED:,} requests: no reply of the scripted "
    "model ends it. --replies FILE.jsonl says what it answers.\n"
)
active: ContextVar[Any] = ContextVar("art_adapt_active", default=None)


class Activity:
    """Everything of the project that is active, and the file that notes go to."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.root: str = told["root"]
        self.file: str = told["file"]
        self.scripted: str | None = told.get("scripted")
        self.without_secrets = loaded(told["secrets"]).without_secrets
        if self.scripted is not None:
            loaded(told["litellm"]).answer_litellm(self.scripted)
        self.numbers = itertools.count(1)
        self.asked = 0  # requests to the scripted model
        self.heard: dict[CodeType, str] = {}  # "own", "sdk", "thread" or ""
        self.own: dict[CodeType, bool] = {}
        self.calls: Counter[CodeType] = Counter()
        self.embedded = 0  # texts whose vectors are noted
        self.asking: set[CodeType] = set()  # of functions in which a model was asked
        self.running: dict[int, Active] = {}
        self.made: dict[int, tuple[weakref.ref[Any], Made]] = {}
        self.numbered: dict[int, Made] = {}
        self.handed: dict[int, Active | None] = {}
        # Texts by their numbers, each kept so that no other gets it, with who returned it.
        self.opened: dict[int, tuple[str, list[str]]] = {}
        self.requests = Requests(self._asks, self._says)
        self.classes: dict[type[Any], bool] = {}
        self.alone: dict[CodeType, int] = {}  # what a library called, as a fixture
        self.size = 0
        self.folder = os.getcwd()
        self.program = sys.orig_argv[1:]  # with "-m MODULE", which sys.argv lacks
        self._begins_run()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)

    def _begins_run(self) -> None:
        self.write(
            {
                "run": [*sys.argv],
                "python": sys.version.split()[0],
                "folder": self.folder,
                "program": self.program,
            }
        )

    def _forked(self) -> None:
        """Begin a run of its own in a process that was forked.

        What is active there has started it, and returns in the other process.
        """
        self.program = []
        self._begins_run()
        for each in (*self.running.values(), active.get()):
            for around in outward(each):
                around.written, around.over = False, True
        for made in self.numbered.values():
            made.written = False

    # ------------------------------------------------------------------ what is heard

    def hears(self, code: CodeType) -> bool:
        kind = self.heard.get(code)
        if kind is None:
            kind = self.heard[code] = self._kind(code)
        return kind != "" and self.size < MOST_WRITTEN

    def _kind(self, code: CodeType) -> str:
        name = code.co_filename
        if code.co_qualname in OF_THE_SDK and name.endswith(SDK_FILES):
            return "sdk"  # openai's, or one made in its image, as Groq's
        if code.co_qualname in (*HANDS_OVER, *TAKES_OVER):
            return "thread" if name.endswith(("threading.py", "thread.py")) else ""
        is_unnamed = code.co_name.startswith("<") and code.co_name != "<module>"
        if name.startswith("<") or is_unnamed:
            return ""  # what is made at run time; lambdas, comprehensions
        return "own" if self._is_inside(name) else ""

    def _is_of_project(self, code: CodeType) -> bool:
        """True if code is the project's: also a lambda or a comprehension, which is not heard."""
        found = self.own.get(code)
        if found is None:
            found = self.own[code] = self._is_inside(code.co_filename)
        return found

    def _is_inside(self, name: str) -> bool:
        """True if a file is the project's, and no package's that is installed below it."""
        path = os.path.realpath(name)
        inside = path.startswith(self.root + os.sep)
        return inside and f"{os.sep}site-packages{os.sep}" not in path

    def begins(self, frame: FrameType) -> None:
        code = frame.f_code
        kind = self.heard[code]
        if kind == "own":
            known = self.running.get(id(frame))
            if known is None or known.code is not code:
                self._begins(frame)
            elif code.co_flags & GENERATES:
                active.set(known)
        elif kind == "sdk":
            self.requests.begins(frame)
        elif code.co_qualname in HANDS_OVER:
            self.handed[id(frame.f_locals.get("self"))] = self._caller(frame)[0]
        else:
            active.set(self.handed.pop(id(frame.f_locals.get("self")), None))

    def pauses(self, frame: FrameType) -> None:
        """Let what goes through a generator's values be around what it starts, and not the generator."""
        paused = self.running.get(id(frame))
        if paused is None:
            return
        if active.get() is paused:
            active.set(paused.around)
        if paused.around is None and not paused.written:  # a fixture of pytest's
            self._had_effect(paused)

    def forgets(self, frame: FrameType) -> None:
        # A request stays: that it was asked has been written when its coroutine was made.
        self.running.pop(id(frame), None)

    def ends(self, frame: FrameType, outcome: str, answer: Any = None) -> None:
        kind = self.heard.get(frame.f_code)
        if kind == "sdk":
            self.requests.ends(frame, outcome, answer)
        if kind != "own":
            return
        ended = self.running.pop(id(frame), None)
        if ended is None:
            return
        ended.over = True
        if active.get() is ended:
            active.set(ended.around)
        if not ended.written:
            self._returns(ended, answer)
            if outcome == "returned":
                self._had_effect(ended, answer)
        if ended.written:
            note = {"ended": ended.number, "outcome": outcome}
            self.write({**note, "returned": snapshot(answer)})
        elif ended.owner is not None:
            self._sets_up(ended, answer)

    # ------------------------------------------------------- the project's functions

    def _begins(self, frame: FrameType) -> None:
        code = frame.f_code
        if code.co_name == "<module>" and (folder := os.getcwd()) != self.folder:
            file = os.path.realpath(code.co_filename)
            self.write({"imported": file, "folder": folder})
        self.calls[code] += 1
        if self.calls[code] > MOST_CALLS and code not in self.asking:
            self.heard[code] = ""
            return
        around, site = self._caller(frame)
        given, owner = self._given(frame)
        direct = self._is_direct(frame)
        began = Active(next(self.numbers), around, code, site, direct, given, owner)
        self.running[id(frame)] = began
        active.set(began)
        if code.co_name == "__init__" and owner is not None and owner.init is None:
            owner.init = self._call(began)

    def _is_direct(self, frame: FrameType) -> bool:
        """True if code of the project called a function, or a wrapper that closes over it."""
        called = frame
        while (outer := called.f_back) is not None:
            if self._is_of_project(outer.f_code):
                break
            called = outer
        if outer is None or called is frame:
            return outer is not None
        kept = (called.f_locals.get(name) for name in called.f_code.co_freevars)
        # Nothing is asked of another object, its class neither: a proxy may raise what it wants.
        own = [e for e in kept if type(e) is FunctionType or type(e) is MethodType]
        return any(each.__code__ is frame.f_code for each in own)

    def _caller(self, frame: FrameType) -> tuple[Active | None, Site | None]:
        """Return what encloses a frame, and where it was called from there.

        It is on the stack; else a task or a thread began here, and nothing is called from there.
        Below an event loop stands what runs the loop: its context tells what started a task.
        """
        outer, on_loop = frame.f_back, False
        while outer is not None:
            found = self.running.get(id(outer))
            if found is not None and found.code is outer.f_code:
                started = active.get() if on_loop else None
                if started is not None and started is not found:
                    return started, None
                path = os.path.realpath(found.code.co_filename)
                return found, (path, outer.f_lineno or 0, found.code.co_qualname)
            on_loop = on_loop or is_of_a_loop(outer.f_code)
            outer = outer.f_back
        return active.get(), None

    def _given(self, frame: FrameType) -> tuple[dict[str, Any], Made | None]:
        """Return what a function is given, by name, and the object whose method it is."""
        code, values = frame.f_code, frame.f_locals
        has_rest = bool(code.co_flags & inspect.CO_VARARGS)
        has_options = bool(code.co_flags & inspect.CO_VARKEYWORDS)
        count = code.co_argcount + code.co_kwonlyargcount + has_rest + has_options
        names = code.co_varnames[:count]
        given = {name: values[name] for name in names if name in values}
        if has_options and type(options := given.pop(names[-1], None)) is dict:
            given |= options
        if has_rest:  # nothing that could be given by keyword
            rest = names[count - 1 - has_options]
            given[f"*{rest}"] = given.pop(rest, ())
        owner = None
        if names and names[0] in ("self", "cls"):
            owner = self._object(given.pop(names[0], None))
        return {str(name): self._value(each) for name, each in given.items()}, owner

    def _value(self, value: Any) -> dict[str, Any]:
        kept = snapshot(value)
        if type(value) is str and id(value) in self.opened:
            kept["returned_by"] = self.opened[id(value)][1]
        made = None if "value" in kept else self._object(value)
        if made is not None:
            kept |= {"object": made.number, "type": made.type}
        return kept | self._class_of(value)

    def _class_of(self, value: Any) -> dict[str, Any]:
        """Return the class of a value with its file: the project's, or a path's or a time's."""
        kind = type(value)
        if (standard := standard_class(value)) is not None:
            return {"class": standard}
        if issubclass(kind, type) or not self._is_own(kind):
            return {}
        file = sys.modules[kind.__module__].__file__ or ""
        return {"class": [os.path.realpath(file), kind.__qualname__]}

    def _object(self, value: Any) -> Made | None:
        """Return the notes on an object of a class of the project; None: it is of another."""
        kind = type(value)
        if issubclass(kind, type) or not self._is_own(kind):
            return None
        known = self.made.get(id(value))
        if known is not None and known[0]() is value:
            return known[1]
        made = Made(next(self.numbers), f"{kind.__module__}:{kind.__qualname__}")
        self.numbered[made.number] = made
        with contextlib.suppress(TypeError):
            self.made[id(value)] = (weakref.ref(value), made)
        return made

    def _is_own(self, kind: type[Any]) -> bool:
        if kind not in self.classes:
            module = sys.modules.get(kind.__module__)
            file = getattr(module, "__file__", None)
            self.classes[kind] = file is not None and self._is_inside(file)
        return self.classes[kind]

    def _returns(self, ended: Active, answer: Any) -> None:
        """Note a function that has made an object, or a text of nothing, and returned it."""
        code = ended.code
        is_made = type(answer) is str and answer not in code.co_consts
        if is_made and len(answer) in KEYS and not ended.given and ended.owner is None:
            if len(self.opened) == MOST_OPENED:
                self.opened.pop(next(iter(self.opened)))
            place = [os.path.realpath(code.co_filename), code.co_qualname]
            self.opened[id(answer)] = answer, place
        made = self._object(answer)
        is_own = ended.owner is not None and ended.owner is made
        if made is not None and not is_own and len(made.returned) < MOST_SETUP:
            made.returned.append(self._call(ended))

    def _had_effect(self, ended: Active, answer: Any = None) -> None:
        """Note a function that was called for what it does, or that a library called by itself."""
        code, around = ended.code, ended.around
        if code.co_name in ("<module>", "__init__"):
            return
        if around is not None and answer is not None:  # the value is why it was called
            return
        effects = self.alone if around is None else around.effects
        if len(effects) < MOST_SETUP:
            line = ended.site[1] if ended.site else code.co_firstlineno
            effects.setdefault(code, line)

    def _sets_up(self, ended: Active, answer: Any) -> None:
        """Note a method that has ended and asked nothing, unless its object called it."""
        owner, around = ended.owner, ended.around
        if owner is None or ended.code.co_name.startswith("_"):
            return
        if around is not None and around.owner is owner:
            return
        if not owner.written and len(owner.calls) < MOST_SETUP:
            owner.calls.append({**self._call(ended), "returned": snapshot(answer)})
        elif owner.written and owner.between < MOST_BETWEEN:
            owner.between += 1
            note = {"between": owner.number, **self._call(ended)}
            self.write({**note, "returned": snapshot(answer)})

    # ----------------------------------------------------------------- the model's part

    def _asks(self, frame: FrameType, url: str, body: Any) -> int | dict[str, Any]:
        """Note a request; return its number, or the body of one that asks to embed texts."""
        if self.scripted is not None:  # wherever this client would have asked
            send_to(frame.f_locals["self"], self.scripted)
            self._bound(url)
        if url.endswith(EMBEDDINGS):
            return dict(body or {})
        number = next(self.numbers)
        around, site = self._caller(frame)
        self.asking.update(each.code for each in outward(around))
        self._write_around(around)
        inner = around.number if around else None
        self.write({"asked": number, "in": inner, "site": site, "body": body})
        return number

    def _bound(self, url: str) -> None:
        """End a command like Ctrl-C if it asks without end: no scripted reply may be its last."""
        self.asked += not url.endswith(EMBEDDINGS)
        if self.asked == MOST_SCRIPTED:
            sys.stderr.write(TOO_MANY)
        if self.asked >= MOST_SCRIPTED:  # once the agent's own code runs again
            threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()

    def _says(self, asked: int | dict[str, Any], said: dict[str, Any]) -> None:
        if isinstance(asked, int):
            message = message_of(said)
            self.write({"said": asked, "id": said.get("id"), "message": message})
        elif self.embedded < MOST_EMBEDDED:
            of = embedded(asked.get("input"), said)
            self.embedded += len(of)
            self.write({"embedding": asked.get("model"), "of": of})

    # ------------------------------------------------------------------ what is written

    def _write_around(self, around: Active | None) -> None:
        for each in reversed(list(outward(around))):
            if each.written:
                continue
            each.written = True
            if each.owner is not None:
                self._write_object(each.owner)
            for value in each.given.values():
                self._write_objects_of(value)
            # It may have started a task, or a thread, that asks later.
            began = {"call": each.number, "over": each.over, **self._call(each)}
            effects = each.effects | (self.alone if each.around is None else {})
            places = [
                (os.path.realpath(code.co_filename), line, code.co_qualname)
                for code, line in effects.items()
            ]
            self.write({**began, "effects": places})

    def _write_objects_of(self, value: dict[str, Any]) -> None:
        if (made := self.numbered.get(value.get("object", 0))) is not None:
            self._write_object(made)

    def _write_object(self, made: Made) -> None:
        if made.written:
            return
        made.written = True
        for value in ((made.init or {}).get("given") or {}).values():
            self._write_objects_of(value)
        self.write(
            {
                "object": made.number,
                "type": made.type,
                "init": made.init,
                "calls": made.calls,
                "returned": made.returned,
            }
        )

    def _call(self, each: Active) -> dict[str, Any]:
        return {
            "in": each.around.number if each.around else None,
            "file": os.path.realpath(each.code.co_filename),
            "function": each.code.co_qualname,
            "line": each.code.co_firstlineno,
            "site": each.site,
            "direct": each.direct,
            "given": each.given,
            "owner": each.owner.number if each.owner else None,
            "generates": bool(each.code.co_flags & GENERATES),
        }

    def write(self, note: dict[str, Any]) -> None:
        note = {"process": os.getpid(), "at": time.time(), **note}
        line = json.dumps(self.without_secrets(note))
        self.size += len(line)
        if self.size > MOST_WRITTEN:
            return
        # One write to the end of the file: other processes may write as well.
        flags = os.O_APPEND | os.O_CREAT | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)
        handle = os.open(self.file, flags, 0o600)
        try:
            os.write(handle, line.encode() + b"\n")
        finally:
            os.close(handle)


def loaded(file: str) -> Any:
    """Load a module of art-adapt from its file: art-adapt may not be installed here."""
    name = f"art_adapt_listening.{Path(file).stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where its dataclasses look for it
    spec.loader.exec_module(module)
    return module
