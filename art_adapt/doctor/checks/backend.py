"""Whether the backend can start: its imports, or its key."""

from __future__ import annotations

import subprocess
import sys
import urllib.request
from collections.abc import Iterator

from art_adapt.backends import Backend
from art_adapt.doctor.finding import Finding, Setup, failed, ok
from art_adapt.training.gpu_memory import nvidia_smi
from art_adapt.training.models import (
    IMPORTED_BY_TRAINER,
    REMEDY,
    TINKER_REMEDY,
    missing_for_local,
    missing_for_tinker,
)
from art_adapt.training.options import wrong_in_model

IMPORTING = 300  # seconds; 36 on an H200's machine, when its files were read first


def check(setup: Setup) -> Iterator[Finding]:
    backend = setup.settings.get("BACKEND")
    if backend == Backend.SERVERLESS:
        yield ok("backend", "serverless: it only needs its key here")
    elif backend == Backend.TINKER:
        if (missing := missing_for_tinker()) is not None:
            yield failed(
                "backend", f"the tinker backend cannot start: {missing}", TINKER_REMEDY
            )
        else:
            yield ok("backend", "all imports of the tinker backend work")
    elif (missing := missing_for_local()) is not None:
        yield failed("backend", f"the local backend cannot start: {missing}", REMEDY)
    elif nvidia_smi("gpu=name") and (problem := _of_trainer()) is not None:
        yield failed(
            "backend",
            f"the trainer of the local backend cannot start: {problem}",
            REMEDY,
        )
    else:
        yield ok("backend", "all imports of the local backend work")
    if setup.is_local and (url := _own_engine(setup)) is not None:
        yield _engine(url)


def _of_trainer() -> str | None:
    """Import what the trainer's process does, in a process of its own; say what it raised.

    Only where there is a GPU: without one, Unsloth raises (2026.3.3, device_type.py).
    """
    command = [sys.executable, "-c", f"import {IMPORTED_BY_TRAINER}"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=IMPORTING, check=False
        )
    except subprocess.TimeoutExpired:
        return f"importing {IMPORTED_BY_TRAINER} takes more than {IMPORTING} s"
    if done.returncode == 0:
        return None
    return (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]


def _own_engine(setup: Setup) -> str | None:
    """Return the address of the vLLM that MODEL names; None: ART starts one."""
    model = setup.settings.get("MODEL", {})
    if next(wrong_in_model(model), None) is not None:
        return None
    runtime = model.get("vllm_runtime", {})
    return runtime.get("server_url") if runtime.get("mode") == "external" else None


def _engine(url: str) -> Finding:
    """Say whether the vLLM that MODEL names is ready."""
    try:
        with urllib.request.urlopen(f"{url.rstrip('/')}/health", timeout=10):
            return ok("engine", f"{url} is ready")
    except (OSError, ValueError) as error:
        return failed(
            "engine",
            f"no answer from {url}, which MODEL['vllm_runtime'] names: {error}",
            "start vLLM with --enable-lora and VLLM_ALLOW_RUNTIME_LORA_UPDATING=True",
        )
