"""Read the notes of runs: calls of the project's functions, and what the model was asked in them."""

from __future__ import annotations

import contextlib
import functools
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from art_adapt.code.project_folder import project_root
from art_adapt.secret_texts import HIDDEN
from art_adapt.words import KEY_TYPED

Json = dict[str, Any]
FunctionKey = tuple[Path, str]

FOLDER = ".art-adapt"
FILE = "seen.jsonl"
NOTED = ("value", "not_json", "parts")  # how a value is noted
CLOCK = 0.001  # seconds to which notes say when a call ended
NOT_OURS = (LookupError, TypeError, ValueError, AttributeError)  # notes of another form


@dataclass(frozen=True)
class Site:
    """A line of the project."""

    path: Path
    line: int
    function: str


@dataclass(frozen=True)
class Call:
    """A call of a function of the project.

    ``given`` and ``returned`` hold each value as ``{"value": ...}``, or as ``{"not_json":
    type, "parts": {...}}``, with the number of an ``"object"`` of the project and its
    ``"type"``. ``owner``: the object whose method it is. ``around``: the call that
    encloses it; ``direct``: by the project's own code, or a decorator's, and by no library
    that was handed it. ``over``: it had returned before the model was asked at all.
    ``began`` and ``seconds`` are of the clock; without an end, ``seconds`` is None. ``effects``:
    functions that it called before the model was asked in it, for what they do; and those that a
    library called, in the outermost call.
    """

    number: int
    around: int | None
    path: Path
    function: str
    site: Site | None
    given: dict[str, Json]
    owner: int | None
    generates: bool
    direct: bool
    began: float
    seconds: float | None = None
    outcome: str = ""
    returned: Json = field(default_factory=dict)
    over: bool = False
    effects: tuple[Site, ...] = ()

    @property
    def key(self) -> FunctionKey:
        return self.path, self.function.replace("<locals>.", "")

    @property
    def name(self) -> str:
        return self.function.rpartition(".")[2]

    def opener_of(self, name: str) -> tuple[str, str] | None:
        """Return the function, given nothing, that returned what this call is given by a parameter."""
        noted = self.given.get(name, {}).get("returned_by")
        return None if noted is None else (noted[0], noted[1])

    @property
    def is_nested(self) -> bool:
        """True if the function is made anew by another one: nothing can import it."""
        return "<locals>" in self.function


@dataclass(frozen=True)
class Made:
    """An object of a class of the project: its construction, and what filled and returned it.

    ``calls`` of its methods asked nothing; those between the model's answers come last.
    ``returned``: the functions that returned it before the model was asked, innermost first.
    """

    number: int
    type: str  # as module:qualname
    init: Call | None
    calls: tuple[Call, ...]
    returned: tuple[Call, ...]


@dataclass(frozen=True)
class Request:
    """What the model was asked, in which call, and the message that it said in a response."""

    number: int
    around: int | None
    site: Site | None
    body: Json
    message: Json = field(default_factory=dict)
    id: str | None = None  # of the response
    began: float = 0.0  # seconds on the clock

    @cached_property
    def messages(self) -> list[Json]:
        """Return the conversation so far; a Responses request's input counts as one."""
        given = self.body.get("messages")
        if given is None:
            given = self.body.get("input")
            if isinstance(given, str):
                given = [{"role": "user", "content": given}]
        return [each for each in given or () if isinstance(each, dict)]

    @property
    def offered(self) -> list[str]:
        """Return the names of the tools that the model was offered."""
        tools = self.body.get("tools") or self.body.get("functions") or ()
        named = [e.get("function") or e for e in tools if isinstance(e, dict)]
        return [str(each.get("name") or each.get("type")) for each in named]

    @property
    def called(self) -> list[str]:
        """Return the names of the tools that the model called."""
        calls = self.message.get("tool_calls") or ()
        return [str((each.get("function") or {}).get("name")) for each in calls]


@dataclass(frozen=True)
class Run:
    """One process that was listened to; ``lines`` are what ``input()`` returned, each with when.

    ``folder``: the one that it began in; None in older notes. ``imported_in``: where it had gone
    when it imported a file. ``failed``: its command ended with an exit code that says so.
    ``embedded``: texts with their vectors, as base64 of floats, by the model that embedded them.
    ``program``: what followed ``python`` to start it; () of a forked process, and in older notes.
    """

    began: float  # seconds on the clock
    command: tuple[str, ...]
    folder: Path | None
    calls: dict[int, Call]
    objects: dict[int, Made]
    requests: tuple[Request, ...]
    lines: tuple[tuple[float, str], ...]
    failed: bool = False
    imported_in: Mapping[Path, Path] = field(default_factory=dict)
    embedded: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    program: tuple[str, ...] = ()

    def folder_of(self, file: Path) -> Path | None:
        """Return the folder that a file was imported in."""
        return self.imported_in.get(file, self.folder)

    @property
    def typed(self) -> tuple[str, ...]:
        """Return what a person typed."""
        return tuple(line for _, line in self.lines)

    def typed_in(self, call: Call) -> Iterator[str]:
        """Yield what a person typed for a call, since the function's call before had ended.

        A call is noted no earlier than it asks the model.
        """
        ended = [
            each.began + each.seconds
            for each in self.calls.values()
            if each.key == call.key and each.seconds is not None
        ]
        since = max((end for end in ended if end <= call.began), default=0.0)
        until = min((end for end in ended if end >= call.began), default=math.inf)
        for at, line in self.lines:
            if since + CLOCK < at <= until + CLOCK:
                yield line

    def owner(self, call: Call) -> Made | None:
        """Return the object whose method a call is, if it is one of the project's."""
        return None if call.owner is None else self.objects.get(call.owner)

    def enclosing(self, request: Request) -> Iterator[Call]:
        """Yield the calls that a request was made in, from the innermost.

        A call that had returned by then started what asked: a task, or a thread.
        """
        for call in self.outward(request.around):
            ended = None if call.seconds is None else call.began + call.seconds
            is_over = call.over or (ended is not None and request.began > ended + CLOCK)
            if call.generates or not is_over:
                yield call

    def outward(self, number: int | None) -> Iterator[Call]:
        """Yield the calls around something, from the innermost."""
        while number is not None and number in self.calls:
            yield self.calls[number]
            number = self.calls[number].around

    def is_of_itself(self, call: Call) -> bool:
        """True if a function called itself, as after a tool: the call is a part of its own call."""
        return any(each.key == call.key for each in self.outward(call.around))


def tools_called(requests: Iterable[Request]) -> str:
    """Say which tools the model called, and how often: ``look (2), buy (1)``."""
    called = Counter(name for request in requests for name in request.called)
    return ", ".join(f"{name} ({count})" for name, count in called.items())


def seen_file(path: Path) -> Path:
    """Return where the notes of a project are kept, of which ``path`` is a file or folder."""
    return project_root(path.resolve()) / FOLDER / FILE


def was_seen(agent: Path) -> bool:
    """True if a run that asked a model called functions of this file."""
    path = agent.resolve()
    return any(
        call.path == path
        for run in read_runs(seen_file(path))
        for call in run.calls.values()
    )


def read_runs(file: Path, start: int = 0) -> tuple[Run, ...]:
    """Read the runs that asked a model, in the order in which they began.

    ``start``: the byte at which to begin. What a crash cut off, another version wrote or
    somebody edited is left out.
    """
    if not file.is_file():
        return ()
    state = file.stat()
    return _read(file, start, state.st_mtime_ns, state.st_size)


def note_of_taken(key: FunctionKey) -> bytes:
    """Return the note that rows were written for the calls of a function."""
    return json.dumps({"taken": [str(key[0]), key[1]]}).encode() + b"\n"


def taken_in(file: Path) -> FunctionKey | None:
    """Return the function for whose calls rows were written; None if a run came after that."""
    taken: FunctionKey | None = None
    for line in file.read_bytes().splitlines() if file.is_file() else ():
        if b'"run":' in line or b'"taken":' in line:
            with contextlib.suppress(*NOT_OURS):
                note = json.loads(line)
                of_rows = note.get("taken")
                if of_rows or "run" in note:
                    taken = (Path(of_rows[0]), of_rows[1]) if of_rows else None
    return taken


@functools.lru_cache(maxsize=4)  # a command asks several times
def _read(file: Path, start: int, *_: int) -> tuple[Run, ...]:
    with file.open("rb") as opened:
        opened.seek(start)
        lines = opened.read().split(b"\n")
    by_process: dict[Any, list[list[Json]]] = {}
    for line in lines:
        with contextlib.suppress(ValueError):
            note = json.loads(line)
            if not isinstance(note, dict):
                continue
            runs = by_process.setdefault(note.get("process"), [])
            if "run" in note:  # the number of a process comes again
                runs.append([])
            if runs:
                runs[-1].append(note)
    found = []
    for notes in (notes for runs in by_process.values() for notes in runs):
        with contextlib.suppress(*NOT_OURS):
            found.append(_run(notes))
    return tuple(sorted((r for r in found if r.requests), key=lambda run: run.began))


def _run(notes: Sequence[Json]) -> Run:
    said = {n["said"]: n for n in notes if "said" in n}
    between = [n for n in notes if "between" in n]
    ended = {n["ended"]: n for n in notes if "ended" in n}
    folder = notes[0].get("folder")
    return Run(
        notes[0].get("at", 0.0),
        tuple(notes[0]["run"]),
        None if folder is None else Path(folder),
        {
            n["call"]: _call(n["call"], n, ended.get(n["call"]))
            for n in notes
            if "call" in n
        },
        {n["object"]: _made(n, between) for n in notes if "object" in n},
        tuple(_request(n, said.get(n["asked"], {})) for n in notes if "asked" in n),
        tuple((n.get("at", 0.0), n["typed"]) for n in notes if "typed" in n),
        any(n.get("status") for n in notes),
        {Path(n["imported"]): Path(n["folder"]) for n in notes if "imported" in n},
        _embedded(notes),
        tuple(notes[0].get("program") or ()),
    )


def _embedded(notes: Sequence[Json]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for note in notes:
        if "embedding" in note:
            found.setdefault(str(note["embedding"]), {}).update(note["of"])
    return found


def _request(asked: Json, said: Json) -> Request:
    number, body = asked["asked"], asked.get("body") or {}
    message = said.get("message") or {}
    return Request(
        number,
        asked["in"],
        _site(asked),
        body,
        message,
        said.get("id"),
        asked.get("at", 0.0),
    )


def _call(number: int, note: Json, ended: Json | None) -> Call:
    ended = ended or {}
    until = ended.get("at")
    began = note.get("at", 0.0)
    return Call(
        number,
        note["in"],
        Path(note["file"]),
        note["function"],
        _site(note),
        note["given"],
        note["owner"],
        note["generates"],
        note.get("direct", False),
        began,
        None if until is None else round(until - began, 3),
        ended.get("outcome", ""),
        ended.get("returned") or {},
        note.get("over", False),
        tuple(Site(Path(path), *at) for path, *at in note.get("effects") or ()),
    )


def _made(note: Json, between: Sequence[Json]) -> Made:
    init = note["init"]
    later = [each for each in between if each["between"] == note["object"]]
    calls = tuple(_call(0, each, each) for each in (*note["calls"], *later))
    returned = tuple(_call(0, each, None) for each in note["returned"])
    init = init and _call(0, init, None)
    return Made(note["object"], note["type"], init, calls, returned)


def _site(note: Json) -> Site | None:
    site = note.get("site")
    return site and Site(Path(site[0]), site[1], site[2].replace("<locals>.", ""))


def hides_a_key(name: str, noted: Any) -> bool:
    """True if a key or a password was taken out of what a name, or a name in it, was given."""
    if isinstance(noted, list):
        return any(hides_a_key(name, each) for each in noted)
    if isinstance(noted, dict):
        return any(
            hides_a_key(name if inner in NOTED else inner, each)
            for inner, each in noted.items()
        )
    return bool(noted == HIDDEN and KEY_TYPED.search(name))
