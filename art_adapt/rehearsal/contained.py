"""Run a command so that nothing of it is left: no process, no temporary file."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

LONGEST = 10_000_000  # bytes of output that are kept
WATCHED_EVERY = 0.3  # seconds
SAID = "said"
SUPERVISOR = Path(__file__).with_name("supervisor.py")


@dataclass(frozen=True)
class Ended:
    """A command that has ended, with the end of its output.

    ``code``: its exit code, below zero for a signal; None if it took too long.
    """

    code: int | None
    output: str


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    temporary: Path,
    seconds: float,
    watch: Callable[[float], None],
) -> Ended:
    """Run a command for at most ``seconds``.

    All that it has started ends with it. Its temporary files go to ``temporary``, which is
    the caller's to remove. ``watch`` is called with the seconds that it has run, every now
    and then.
    """
    with started(command, environment, folder, temporary) as process:
        code = _wait(process, seconds, watch)
    said = temporary / SAID
    with said.open("rb") as file:
        file.seek(max(0, said.stat().st_size - LONGEST))
        text = file.read().decode(errors="replace")
    return Ended(code, text)


@contextmanager
def started(
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    temporary: Path,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command while the block runs; what it prints goes to ``temporary / SAID``."""
    temporary.mkdir(exist_ok=True)
    reading, writing = os.pipe()
    try:
        # A pipe would end with the last process that holds it.
        with (temporary / SAID).open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(SUPERVISOR), *command],
                env={**environment, "TMPDIR": str(temporary), "TEMP": str(temporary)},
                cwd=folder,
                stdin=reading,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # only the end of its input ends it
            )
        try:
            yield process
        finally:
            os.close(writing)  # now the command ends, if it has not
            process.wait()
    finally:
        os.close(reading)


def _wait(
    process: subprocess.Popen[bytes], seconds: float, watch: Callable[[float], None]
) -> int | None:
    """Return the exit code of a process; None if it takes longer."""
    began = time.monotonic()
    while (taken := time.monotonic() - began) < seconds:
        try:
            return process.wait(min(WATCHED_EVERY, seconds - taken))
        except subprocess.TimeoutExpired:
            watch(taken)
    return None
