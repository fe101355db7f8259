"""Run the agent's command while a listener notes its episodes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from art_adapt import litellm_calls, secret_texts
from art_adapt.code.syntax import MODULE_LEVEL
from art_adapt.errors import Refusal
from art_adapt.recipe.fields import field_name, scenario_fields, terminal_fields
from art_adapt.survey.model import EntryPoint, Parameter

LISTENING = Path(__file__).with_name("listening")
SETTINGS = "ART_ADAPT_CAPTURE"
INTERRUPTED = 130  # a shell's exit code after Ctrl-C


@dataclass(frozen=True)
class FieldSource:
    """Where a field of a scenario comes from when an episode begins.

    Attributes:
        name: of the field.
        of: "function", "constructor" or "setup", whose ``parameter`` it is; "arguments" of
            the command line, or "inputs" that are typed.
        path: the attributes that lead to it, of a parameter that is made of several fields.
        method: of the agent that is called to set it up.
        opens: the function's parameter that this call has returned.
    """

    name: str
    of: str
    parameter: str = ""
    path: tuple[str, ...] = ()
    method: str = ""
    opens: str = ""


def field_sources(entry: EntryPoint) -> list[FieldSource]:
    """Return where each field of an entry point's scenario comes from."""
    wanted = {field.name for field in scenario_fields(entry)}
    typed = [] if entry.terminal is None else terminal_fields(entry.terminal)
    own = [each.name for each in entry.parameters]
    found = [
        *(FieldSource(field.name, field.name) for field in typed),
        # What a factory is given is not seen where the agent is made.
        *_sources(() if entry.instance else entry.constructor, "constructor"),
        *(
            replace(source, method=call.name)
            for call in entry.setup
            for source in _sources(call.parameters, "setup")
        ),
        *(
            replace(source, method=each.opened.name, opens=each.name)
            for each in entry.parameters
            if each.opened is not None
            # What an argument is computed from is given to the function as well.
            for source in _sources(
                [p for p in each.opened.parameters if p.name not in own], "setup"
            )
        ),
        *_sources(entry.parameters, "function"),
    ]
    return [source for source in found if source.name in wanted]


def _sources(parameters: Sequence[Parameter], of: str) -> Iterator[FieldSource]:
    for parameter in parameters:
        for path, part in _leaves(parameter):
            yield FieldSource(field_name(part.name), of, parameter.name, path)


def _leaves(parameter: Parameter) -> Iterator[tuple[tuple[str, ...], Parameter]]:
    """Yield what a parameter is made of, each with the attributes that lead to it."""
    if not parameter.is_record:
        yield (), parameter
        return
    for part in parameter.fields or ():
        # An enumeration is made of its value, by position.
        held = "value" if part.positional_only else part.name
        yield from (((held, *path), leaf) for path, leaf in _leaves(part))


class CannotStart(Refusal):
    """A command could not be started."""


def episodes_of(
    entry: EntryPoint, log: Path, *, conversations: bool = False
) -> dict[str, Any]:
    """Return the settings with which a listener notes an entry point's episodes in ``log``.

    ``conversations``: note also what the SDK's clients asked in them, and the answers.
    """
    noted = {
        "log": str(log.resolve()),
        "file": os.path.realpath(entry.place.path),
        "function": "<module>" if entry.name == MODULE_LEVEL else entry.name,
        "class_name": entry.class_name,
        "fields": [vars(source) for source in field_sources(entry)],
        "conversations": conversations,
    }
    return {"episodes": noted}


def activity_in(
    root: Path, file: Path, scripted: str | None = None, copy_of: Path | None = None
) -> dict[str, Any]:
    """Return the settings with which a listener notes in ``file`` what asks a model below ``root``.

    ``scripted``: the base URL of a model that answers in the place of any other. ``copy_of``: the
    project, where ``root`` is a copy of it.
    """
    places = {
        "root": os.path.realpath(root),
        "file": str(file.resolve()),
        "secrets": secret_texts.__file__,
        "litellm": litellm_calls.__file__,
    }
    original = None if copy_of is None else str(copy_of)
    return {"seen": {**places, "scripted": scripted, "copy_of": original}}


def run_listening(
    command: Sequence[str],
    settings: dict[str, Any],
    variables: Mapping[str, str] = os.environ,
    folder: str | None = None,
) -> int:
    """Run ``command`` to its end while it is listened to; return its exit code.

    Input, output and signals are the command's own, as are the ``variables`` of its environment.
    It runs in a ``folder``, or else here.

    Raises:
        Refusal: it cannot be started.
    """
    command, variables = _without_env(command, variables)
    with tempfile.TemporaryDirectory() as own:
        told = Path(own, "settings.json")
        told.write_text(json.dumps(settings), encoding="utf-8")
        try:
            process = subprocess.Popen(
                command, env=_environment(told, variables), cwd=folder
            )
        except OSError as error:
            raise CannotStart(
                f"cannot start {command[0]}: {error.strerror or error}",
                next_step="after --, write the command that runs your agent",
            ) from error
        code = _wait(process)
        _note_status(settings, process.pid, code)
        return code


def append_notes(file: Path, noted: bytes) -> None:
    """Append to a file of notes, which only its owner reads."""
    append = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    with os.fdopen(os.open(file, append, 0o600), "ab") as kept:
        kept.write(noted)


def _note_status(settings: dict[str, Any], process: int, code: int) -> None:
    """Note that a command that was watched failed, beside what its process has noted."""
    seen = settings.get("seen")
    failed = code > 0 and code != INTERRUPTED
    if seen is not None and failed and Path(seen["file"]).exists():
        note = {"process": process, "status": code}
        append_notes(Path(seen["file"]), json.dumps(note).encode() + b"\n")


def _without_env(
    command: Sequence[str], variables: Mapping[str, str]
) -> tuple[Sequence[str], Mapping[str, str]]:
    """Return a command and its environment without ``env NAME=value`` before it.

    ``env`` would take the listener's PYTHONPATH away again.
    """
    if not command or command[0] != "env":
        return command, variables
    given = list(takewhile(lambda word: "=" in word and word[0] != "-", command[1:]))
    rest = command[1 + len(given) :]
    if not rest or rest[0].startswith("-"):
        return command, variables
    return rest, {**variables, **dict(word.split("=", 1) for word in given)}


def _environment(told: Path, variables: Mapping[str, str]) -> dict[str, str]:
    before = variables.get("PYTHONPATH")
    path = str(LISTENING) if not before else os.pathsep.join([str(LISTENING), before])
    return {**variables, "PYTHONPATH": path, SETTINGS: str(told.resolve())}


def _wait(process: subprocess.Popen[bytes]) -> int:
    """Wait for a process; what would end this one is left to it to answer."""

    def pass_on(number: int, _: Any) -> None:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)

    before = {signal.SIGTERM: signal.signal(signal.SIGTERM, pass_on)}
    # A terminal sends Ctrl-C to both.
    before[signal.SIGINT] = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        return process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def read_notes(log: Path) -> list[dict[str, Any]]:
    """Read what was noted; a line that a crash has cut off is left out."""
    notes = []
    if log.exists():
        for line in log.read_text(encoding="utf-8", errors="replace").split("\n"):
            with contextlib.suppress(ValueError):
                notes.append(json.loads(line))
    return [note for note in notes if isinstance(note, dict)]
