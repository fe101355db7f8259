"""Hear from the interpreter which functions begin and end; nothing of them is changed.

Through ``sys.monitoring`` (3.12 and later) or a profile function (3.11).
"""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Sequence
from types import CodeType, FrameType
from typing import Any, Protocol

GENERATES = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
RETURNS = ("RETURN_VALUE", "RETURN_CONST")
# Built-in functions that end a run, and with which exception: a profile function is told which
# function raised, but not what.
ENDINGS = {sys.exit: "SystemExit", input: "EOFError"}
SUSPENDS = ("YIELD_VALUE", "RETURN_GENERATOR", "SEND", "YIELD_FROM", "ASYNC_GEN_WRAP")


class Ear(Protocol):
    """What hears that functions begin and end."""

    def hears(self, code: CodeType) -> bool: ...

    def begins(self, frame: FrameType) -> None:
        """Hear that a function begins, or that a generator goes on."""

    def pauses(self, frame: FrameType) -> None:
        """Hear that a generator has yielded: what asks for its values goes on."""

    def forgets(self, frame: FrameType) -> None:
        """Hear that a generator or coroutine has only been made."""

    def ends(self, frame: FrameType, outcome: str, answer: Any = None) -> None: ...


class Careful:
    """An ear that hears no more once it has failed: the agent runs, whatever happens here."""

    def __init__(self, ear: Ear) -> None:
        self.ear: Ear | None = ear

    def hears(self, code: CodeType) -> bool:
        return bool(self._try("hears", code))

    def begins(self, frame: FrameType) -> None:
        self._try("begins", frame)

    def pauses(self, frame: FrameType) -> None:
        self._try("pauses", frame)

    def forgets(self, frame: FrameType) -> None:
        self._try("forgets", frame)

    def ends(self, frame: FrameType, outcome: str, answer: Any = None) -> None:
        self._try("ends", frame, outcome, answer)

    def _try(self, heard: str, *what: Any) -> Any:
        if self.ear is None:
            return None
        try:
            return getattr(self.ear, heard)(*what)
        except Exception as error:
            self.ear = None
            sys.stderr.write(f"art-adapt capture: {error!r}: nothing more is kept\n")


def listen_to(heard: Sequence[Ear]) -> None:
    """Tell ears about every function that begins and ends, in all threads, from now on."""
    ears = [Careful(ear) for ear in heard]
    if sys.version_info >= (3, 12):
        _listen_by_monitoring(ears)
    else:
        _listen_by_profiling(ears)


if sys.version_info >= (3, 12):

    def _listen_by_monitoring(ears: Sequence[Ear]) -> None:
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

        def yields(code: CodeType, _: int, value: Any) -> Any:
            heard = [
                ear for ear in ears if code.co_flags & GENERATES and ear.hears(code)
            ]
            for ear in heard:
                ear.pauses(sys._getframe(1))
            return None if heard else monitoring.DISABLE

        def goes_on(code: CodeType, _: int) -> Any:
            heard = [
                ear for ear in ears if code.co_flags & GENERATES and ear.hears(code)
            ]
            for ear in heard:
                ear.begins(sys._getframe(1))
            return None if heard else monitoring.DISABLE

        def unwinds(code: CodeType, _: int, error: BaseException) -> None:
            for ear in ears:
                if ear.hears(code):
                    ear.ends(sys._getframe(1), f"raised {type(error).__name__}")

        monitoring.register_callback(tool, events.PY_START, starts)
        monitoring.register_callback(tool, events.PY_RETURN, returns)
        monitoring.register_callback(tool, events.PY_UNWIND, unwinds)
        monitoring.register_callback(tool, events.PY_YIELD, yields)
        monitoring.register_callback(tool, events.PY_RESUME, goes_on)
        every = events.PY_START | events.PY_RETURN | events.PY_UNWIND
        monitoring.set_events(tool, every | events.PY_YIELD | events.PY_RESUME)


def _listen_by_profiling(ears: Sequence[Ear]) -> None:
    import dis

    thrown: dict[
        int, int
    ] = {}  # where generators wait that an exception is thrown into

    # By the number of the code, because its hash takes longer than all the rest; each is kept,
    # so that no other code gets its number.
    deaf: dict[int, CodeType] = {}
    # Which exception left a built-in function, and where the frame around it stood.
    escaping: dict[int, tuple[int, str]] = {}

    def escapes(frame: FrameType, event: str, value: Any) -> str:
        if event == "c_exception" and value in ENDINGS:
            escaping[id(frame)] = frame.f_lasti, ENDINGS[value]
        if event != "return" or id(frame) not in escaping:
            return ""
        at, name = escaping.pop(id(frame))
        raised = dis.opname[frame.f_code.co_code[frame.f_lasti]] == "RERAISE"
        if frame.f_lasti != at and not raised:  # it was caught
            return ""
        if frame.f_back is not None:
            escaping[id(frame.f_back)] = frame.f_back.f_lasti, name
        return f" {name}"

    def heard(frame: FrameType, event: str, value: Any) -> None:
        code = frame.f_code
        may_escape = event == "c_exception" or (escaping and event == "return")
        which = escapes(frame, event, value) if may_escape else ""
        if id(code) in deaf or event not in ("call", "return"):
            return
        wanted = [ear for ear in ears if ear.hears(code)]
        if not wanted:
            deaf[id(code)] = code
            return
        for ear in wanted:
            name = dis.opname[code.co_code[frame.f_lasti]]
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
            elif name == "YIELD_VALUE" and code.co_flags & GENERATES and not gave_up:
                ear.pauses(frame)
            elif value is None and (gave_up or name not in SUSPENDS):
                ear.ends(frame, f"raised{which}")

    sys.setprofile(heard)
    threading.setprofile(heard)
