"""Train modules that misbehave: a rehearsal ends in time, says what happened, leaves nothing.

Processes are counted from /proc by a mark in their command line; temporary files in the
folder that the rehearsal was given for them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from agent_files import art_adapt, in_terminal

HIDDEN = "sk-hidden"
SECRETS = {
    "DATABASE_URL": f"postgres://user:{HIDDEN}@db/prod",
    "AWS_SECRET_ACCESS_KEY": HIDDEN,
    "GITHUB_TOKEN": HIDDEN,
    "SESSION_COOKIE": HIDDEN,
    "NOBODY_THOUGHT_OF_THIS": HIDDEN,
    "TEAM": HIDDEN,
}
FOREVER = "[sys.executable, '-c', 'import time; time.sleep(1000)', MARK]"


@dataclass(frozen=True)
class Case:
    """What ``main`` does, and what is said of it with which exit code."""

    body: str
    code: int
    said: str
    options: tuple[str, ...] = ()
    head: str = ""  # at module level


CASES = {
    "a process": Case(
        f"subprocess.Popen({FOREVER})", 1, "without a single training step"
    ),
    "a process in a session of its own": Case(
        f"subprocess.Popen({FOREVER}, start_new_session=True)", 1, "no step"
    ),
    "a process without our variables": Case(
        f"subprocess.Popen({FOREVER}, start_new_session=True, env={{}})", 1, "no step"
    ),
    "a daemon": Case(
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        f"        os.execv(sys.executable, {FOREVER})\n"
        "    os._exit(0)",
        1,
        "no step",
    ),
    "a daemon, and the module kills itself": Case(
        f"subprocess.Popen({FOREVER}, start_new_session=True, env={{}})\n"
        "os.kill(os.getpid(), signal.SIGKILL)",
        2,
        "killed by SIGKILL",
    ),
    "a process of multiprocessing": Case(
        "multiprocessing.get_context('fork').Process(target=time.sleep, args=(1000,)).start()",
        1,
        "no step",
    ),
    "a process that ignores signals": Case(
        f"subprocess.Popen({FOREVER}, preexec_fn=lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN))",
        1,
        "no step",
    ),
    "a thread": Case(
        "threading.Thread(target=time.sleep, args=(1000,)).start()", 1, "no step"
    ),
    "an exit handler": Case("atexit.register(time.sleep, 1000)", 1, "no step"),
    "an endless loop": Case(
        f"subprocess.Popen({FOREVER}, start_new_session=True)\nwhile True: pass",
        2,
        "did not finish within 15 seconds",
        ("--timeout", "15"),
    ),
    "sys.exit(0)": Case("sys.exit(0)", 1, "without a single training step"),
    "sys.exit()": Case("sys.exit()", 1, "without a single training step"),
    "sys.exit(3)": Case("sys.exit(3)", 1, "the train module stopped: 3"),
    "os._exit(0)": Case(
        "print('bye'); sys.stdout.flush(); os._exit(0)",
        2,
        "exited early, with exit code 0\n  why: the last line that it printed: bye",
    ),
    "os._exit(3)": Case("os._exit(3)", 2, "with exit code 3"),
    "os._exit(139)": Case("os._exit(139)", 2, "with exit code 139"),
    "no memory": Case(
        "os.kill(os.getpid(), signal.SIGKILL)", 2, "whether memory ran out"
    ),
    "a crash": Case("import ctypes; ctypes.string_at(0)", 2, "_train.py:6"),
    "an abort": Case("os.abort()", 2, "killed by SIGABRT\n  why: it crashed in "),
    "escape sequences": Case(
        "print('\\x1b]0;evil\\x07'); sys.exit('\\x1b[2J gone')",
        1,
        r"\x1b[2J gone",
        ("--output",),
    ),
    "escape sequences at the end": Case(
        "print('\\x1b[2J gone'); sys.stdout.flush(); os._exit(1)", 2, r"\x1b[2J gone"
    ),
    "an error without a text": Case(
        "class Odd(Exception):\n    def __str__(self): raise KeyError\nraise Odd()",
        1,
        "Odd, whose text raised KeyError",
    ),
    "an error with half a character": Case(
        "raise ValueError('\\udcff')", 1, r"ValueError: \udcff"
    ),
    "a missing package": Case(
        "import no_such_package", 1, "pip install no_such_package"
    ),
    "a question": Case("input('who are you?')", 1, "EOFError"),
    "temporary files": Case(
        "open(tempfile.mkdtemp() + '/x', 'w').write('x'); tempfile.mkstemp()",
        1,
        "no step",
    ),
    "no output": Case("sys.stdout.close(); sys.stderr.close()", 1, "no step"),
    "much output": Case("print('x' * 10_000_000)", 1, "no step"),
    "an encoding": Case(
        "pass", 1, "no step", (), "# -*- coding: latin-1 -*-\nNAME = '\xe9'\n"
    ),
    "all variables": Case(
        "os.getenv('DATABASE_URL'); os.getenv('TEAM'); print(dict(os.environ))",
        1,
        "withheld    DATABASE_URL",
        ("--output",),
    ),
}
QUICK = ("a daemon", "an endless loop", "sys.exit(0)", "all variables")
IMPORTS = "import atexit, multiprocessing, os, signal, subprocess, sys, tempfile, threading, time\n"


def running(mark: str) -> list[str]:
    """Return the processes with a mark in their command line, or that serve such a module."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            command = (folder / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if mark in command and int(folder.name) != os.getpid():
            found.append(f"{folder.name}: {command}")
    return found


@pytest.mark.parametrize(
    "name",
    [
        name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
        for name in CASES
    ],
)
def test_it_ends_says_why_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    mark = f"mark-{os.getpid()}-{list(CASES).index(name)}"
    body = "".join(f"    {line}\n" for line in case.body.splitlines())
    text = f"{case.head}{IMPORTS}MARK = {mark!r}\n\n\ndef main():\n{body}"
    module = tmp_path / f"{mark}_train.py"
    module.write_bytes(text.encode("latin-1" if case.head else "utf-8"))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "art_adapt", "rehearse", module.name, *case.options],
        cwd=tmp_path,
        env={**os.environ, **SECRETS, "TMPDIR": str(temporary)},
        capture_output=True,
        timeout=120,
    )
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == case.code, said
    assert case.said in said, said
    assert "internal error" not in said and "Traceback" not in done.stderr.decode()
    assert "\x1b" not in said
    assert HIDDEN not in said.replace(f"'TEAM': '{HIDDEN}'", "")
    assert list(temporary.iterdir()) == []
    assert [each for each in running(mark) if "pytest" not in each] == []
    assert time.monotonic() - began < 100


@pytest.mark.parametrize("ended_by", [signal.SIGKILL, signal.SIGHUP, signal.SIGTERM])
def test_an_interrupted_rehearsal_leaves_nothing(
    tmp_path: Path, ended_by: signal.Signals
) -> None:
    """Also one that is killed, or whose terminal is closed, with all of its group."""
    mark = f"mark-{os.getpid()}-{ended_by.name}"
    module = tmp_path / f"{mark}_train.py"
    module.write_text(
        f"{IMPORTS}MARK = {mark!r}\n\n\ndef main():\n"
        f"    subprocess.Popen({FOREVER}, start_new_session=True)\n    time.sleep(1000)\n"
    )
    rehearsal = subprocess.Popen(
        [sys.executable, "-m", "art_adapt", "rehearse", module.name],
        cwd=tmp_path,
        start_new_session=True,
        # nohup, below which CI may run, has it survive a hang-up: rightly.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )
    until = time.monotonic() + 60
    while not any("time.sleep(1000)" in each for each in running(mark)):
        assert time.monotonic() < until
        time.sleep(0.1)
    os.killpg(rehearsal.pid, ended_by)
    rehearsal.wait(60)
    until = time.monotonic() + 10
    while left := running(mark):
        assert time.monotonic() < until, left
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "agent.py",
            "def run(task): ...\n",
            "it has no main()\n  next: art-adapt rehearse agent_train.py",
        ),
        (
            "agent.py",
            "def main(): ...\n",
            "it trains nothing\n  next: art-adapt rehearse agent_train.py",
        ),
        (
            "other.py",
            "def run(task): ...\n",
            "it has no main()\n  next: art-adapt rehearse agent_train.py",
        ),
        ("broken.py", "def main(:\n", "broken.py:1:10: syntax error"),
    ],
)
def test_something_else_than_a_train_module(
    name: str, text: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "agent_train.py").write_text("def main(): ...\n")
    (tmp_path / name).write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "art_adapt", "rehearse", name],
        cwd=tmp_path,
        capture_output=True,
    )
    assert done.returncode == 2 and said in done.stderr.decode(), done.stderr.decode()


def test_a_folder_without_a_train_module_is_not_sent_to_itself(tmp_path: Path) -> None:
    (tmp_path / "util.py").write_text("def run(task): ...\n")
    done = art_adapt("rehearse", "util.py", cwd=tmp_path)
    said = done.stderr.decode()
    assert done.returncode == 2
    assert "next: name the train module that art-adapt wrote beside your agent" in said


def test_a_terminal_shows_how_far_it_is(tmp_path: Path) -> None:
    (tmp_path / "slow_train.py").write_text(
        "import time\n\n\ndef main():\n    time.sleep(2)\n"
    )
    command = f"{sys.executable} -m art_adapt rehearse slow_train.py"
    code, said = in_terminal(command, tmp_path, [])
    assert code == 1
    assert "step 0 of 2 done, " in said and said.count("starting") < said.count(
        "step 0"
    )
    assert "\r\x1b[K\x1b[1mRehearsed" in said
