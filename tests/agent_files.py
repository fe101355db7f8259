"""The fixture agents: where they are, and how one episode of theirs is run in a process of its own."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import pty
import runpy
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[1]
AGENTS = REPOSITORY / "fixtures" / "agents"
NAMES = sorted(path.name for path in AGENTS.iterdir())
CHILD = Path(__file__).with_name("episode_child.py")
ROLLOUT_KEY = "sk-rollout"
MAIN = REPOSITORY / "art_adapt" / "__main__.py"
# A client reads the certificates of 140 authorities, for 55 ms. Tests ask none over TLS, and
# read this alone (conftest.py); what installs packages reads the machine's own.
AUTHORITY = str(Path(__file__).with_name("authority.pem"))
AUTHORITIES_BEFORE = "ART_ADAPT_TESTS_SSL_CERT_FILE"
# What a rollout records on; with ART's own trajectory in the slow tests.
TRAJECTORIES = ["light", pytest.param("art", marks=pytest.mark.slow)]
ROLLOUT_MODEL = "policy:step1"


def first_now(names: Iterable[Any], now: int = 1) -> list[Any]:
    """Return a test's parameters, of which all but the first ``now`` wait for .ci/thorough."""
    every = [each if isinstance(each, tuple) else (each,) for each in names]
    later = [pytest.param(*each, marks=pytest.mark.slow) for each in every[now:]]
    return [*(pytest.param(*each) for each in every[:now]), *later]


def _starting() -> dict[str, str]:
    """The environment variables that Python reads when it starts, and not later."""
    return {
        k: v for k, v in os.environ.items() if k.startswith(("PYTHON", "LC_", "LANG"))
    }


STARTED_WITH = _starting()
# What the first call of a client imports, for half a second.
SDK = ("openai", "openai.resources.chat.completions", "openai.resources.responses")
# What the command imports, most of it only when it is needed: half of the time of a run.
COMMAND = (
    "libcst.native",
    "rich.console",
    "tomlkit",
    "pydantic.type_adapter",  # which newer versions of typer use
    "art_adapt.commands.adapt",
    "art_adapt.commands.check",
    "art_adapt.codemods.hooking",
    "art_adapt.codemods.import_hooks",
    "art_adapt.codemods.unhooking",
    "art_adapt.guide",
    "art_adapt.plan",
    "art_adapt.pyproject",
    "art_adapt.report.json",
    "art_adapt.report.outcome",
    "art_adapt.report.page",
    "art_adapt.report.patch",
    "art_adapt.report.text",
    "art_adapt.rules.code.decided",
    "art_adapt.undo",
    "art_adapt.__main__",
)


def with_authorities() -> dict[str, str]:
    """Return the environment for a process that asks package registries."""
    before = os.environ[AUTHORITIES_BEFORE]
    environment = {k: v for k, v in os.environ.items() if k != "SSL_CERT_FILE"}
    return environment | ({"SSL_CERT_FILE": before} if before else {})


def agent_file(folder: Path) -> Path:
    """The file that a user would name: ``agent.py``, wherever it lies."""
    return next(
        path for path in sorted(folder.rglob("agent.py")) if "adapted" not in path.parts
    )


def copy_of(name: str, target: Path, agents: Path = AGENTS) -> Path:
    """An agent as its author wrote it (``agents`` holds one folder each), in a folder of its own."""
    folder = target / name
    shutil.copytree(
        agents / name, folder, ignore=shutil.ignore_patterns("adapted", "__pycache__")
    )
    return folder


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the content of each file below a folder, but for compiled ones, by its path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def adapted_copy_of(name: str, target: Path) -> Path:
    """Return a copy of a fixture agent as ``art-adapt`` leaves it, in a folder of its own."""
    folder = target / name
    shutil.copytree(_adapted(name), folder)
    return folder


@functools.cache  # adapting costs more than all that most tests do with its result
def _adapted(name: str) -> Path:
    folder = copy_of(name, Path(_kept().name))
    done = art_adapt("--isolated", agent_file(folder).relative_to(folder), cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    return folder


@functools.cache
def _kept() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


# A reward that differs between episodes, in whatever processes they run: groups of equal
# rewards are not trained on.
ONE_CALL = """\
from openai import OpenAI

client = OpenAI()


def run(task: str) -> str:
    messages = [{"role": "user", "content": task}]
    response = client.chat.completions.create(model="gpt-4o", messages=messages)
    return response.choices[0].message.content
"""
VARYING = """\
import time


def f(trajectory: object, scenario: object) -> float:
    return time.monotonic() % 1
"""


def write_reward(folder: Path, options: Sequence[str]) -> None:
    """Write the function that ``--reward rewards:NAME`` among the options names."""
    for option in options:
        module, _, name = option.partition(":")
        if module == "rewards":
            text = VARYING.replace("f(", f"{name}(")
            (folder / "rewards.py").write_text(text)


def art_adapt(
    *arguments: str | Path, cwd: Path, stdin: bytes = b"", fresh: bool = False
) -> subprocess.CompletedProcess[bytes]:
    """Run the command as a user does, in a process that has imported it already.

    ``fresh``: in a process that has imported nothing. What Python itself reads of the
    environment when it starts takes such a process, too.
    """
    command = [sys.executable, "-m", "art_adapt", *map(str, arguments)]
    if fresh or _starting() != STARTED_WITH:
        return subprocess.run(
            command,
            cwd=cwd,
            input=stdin,
            capture_output=True,
            timeout=120,
            check=False,
        )
    done = _asked_of_a_server(
        COMMAND,
        {
            "folder": str(cwd),
            "arguments": [str(MAIN), *map(str, arguments)],
            "environment": dict(os.environ),
            "input": stdin.decode("latin-1"),
        },
    )
    said = (done[name].encode("latin-1") for name in ("output", "errors"))
    return subprocess.CompletedProcess(command, done["status"], *said)


def in_terminal(
    command: str, folder: Path, answers: list[tuple[str, str]]
) -> tuple[int, str]:
    """Run a line of a shell in a terminal, and answer what it asks, line by line."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.execve("/bin/sh", ["sh", "-c", command], {**os.environ, "ACCESSIBLE": "1"})
    said = ""
    for question, answer in answers:
        begun = len(said)
        while question not in said[begun:]:
            assert select.select([terminal], [], [], 30)[0], said
            try:
                said += os.read(terminal, 4096).decode()
            except OSError:  # Linux: the other end is closed
                pytest.fail(f"it never asked {question!r}: {said}")
        os.write(terminal, f"{answer}\n".encode())
    with contextlib.suppress(OSError):  # Linux: the other end is closed
        while more := os.read(terminal, 4096):
            said += more.decode()
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), said


def replies_of(folder: Path) -> list[dict[str, Any]]:
    """The model's replies, as the fixture's ``episode.py`` lists them."""
    replies: list[dict[str, Any]] = runpy.run_path(str(folder / "episode.py"))[
        "REPLIES"
    ]
    return replies


def run_episode(
    folder: Path,
    production: str,
    training: str | None = None,
    *,
    child: Path = CHILD,
    trajectory: str = "light",
) -> dict[str, Any]:
    """Run the agent's episode with the production endpoint at ``production`` (the server's root).

    ``training``: the base URL of the model in training; then the episode runs in a rollout.
    ``trajectory``: ``art`` records on ART's own, ``light`` on its stand-in.
    ``child``: the script that runs it and prints what came of it as its last line.
    """
    environment = {
        "PATH": os.environ["PATH"],
        "SSL_CERT_FILE": os.environ["SSL_CERT_FILE"],
        "OPENAI_BASE_URL": f"{production}/v1",
        "OPENAI_API_KEY": "sk-production",
        "ANTHROPIC_BASE_URL": production,
        "ANTHROPIC_API_KEY": "sk-production",
        "AZURE_OPENAI_ENDPOINT": production,
        "AZURE_OPENAI_API_KEY": "sk-production",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "PYTHONPATH": os.pathsep.join([str(folder), str(child.parent)]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "NO_PROXY": "*",
    }
    arguments = [str(child), str(folder), training or "", trajectory]
    if child == CHILD:
        imported = SDK if trajectory == "light" else ("art", *SDK)
        if training:  # as a train module does; in production it must not be there
            imported = (*imported, "art_adapt.recording")
        said = forked((*imported, CHILD.stem), folder, arguments, environment)
        result: dict[str, Any] = json.loads(said.splitlines()[-1])
        return result
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    result = json.loads(done.stdout.decode().splitlines()[-1])
    return result


def forked(
    modules: tuple[str, ...],
    folder: Path,
    arguments: list[str],
    environment: dict[str, str],
) -> str:
    """Run the last of ``modules`` in a process forked from one that has imported them all; return its output."""
    asked = {
        "folder": str(folder),
        "arguments": arguments,
        "environment": environment,
    }
    done = _asked_of_a_server(modules, asked)
    assert done["status"] == 0, done["errors"]
    output: str = done["output"].encode("latin-1").decode()
    return output


def _asked_of_a_server(modules: tuple[str, ...], asked: dict[str, Any]) -> Any:
    server = _server(*modules)
    assert server.stdin is not None and server.stdout is not None
    server.stdin.write(json.dumps(asked) + "\n")
    server.stdin.flush()
    if not select.select([server.stdout], [], [], 120)[0]:
        server.kill()
        pytest.fail(f"two minutes were not enough for {asked['arguments']}")
    return json.loads(server.stdout.readline())


@functools.cache
def _server(*modules: str) -> subprocess.Popen[str]:
    """Start this pytest process's server for ``modules``; it ends with its standard input."""
    tests = Path(__file__).parent
    return subprocess.Popen(
        [sys.executable, str(tests / "forking_server.py"), *modules],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(tests), str(tests / "train_module")]),
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "WANDB_MODE": "disabled",
        },
    )
