"""Whether the engine's requests reach it, and whether what it needs can be loaded."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.version import Version

from art_adapt.doctor.checks.machine import free_at
from art_adapt.doctor.finding import Finding, Setup, failed, note, ok

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
LOOPBACK = ("127.0.0.1", "localhost", "*")
# From here on ART makes vLLM an environment of its own, with uv, at the first register
# (art 0.5.23, vllm_runtime; ART_VLLM_RUNTIME_BIN names another).
WITH_RUNTIME = Version("0.5.23")
RUNTIME_BIN = "ART_VLLM_RUNTIME_BIN"
RUNTIME_SIZE = 15  # gigabytes, about: vLLM, torch and CUDA's libraries
# Base models that their makers give only to accounts that asked (Hugging Face's "gated").
GATED = ("meta-llama/", "google/gemma", "mistralai/")
TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")


def check(setup: Setup) -> Iterator[Finding]:
    yield from _proxies()
    if setup.is_local:
        yield from _runtime()
        yield from _gated(str(setup.settings["BASE_MODEL"]))


def _proxies() -> Iterator[Finding]:
    """Say whether requests to the engine, on loopback, would go to a proxy."""
    set_ = [n for name in PROXIES for n in (name, name.lower()) if os.environ.get(n)]
    spared = os.environ.get("NO_PROXY") or os.environ.get("no_proxy") or ""
    if set_ and not any(each in spared.split(",") for each in LOOPBACK):
        yield failed(
            "proxy",
            f"{set_[0]} is set, but NO_PROXY does not exclude loopback: requests to the engine "
            "would go to the proxy",
            "run export NO_PROXY=127.0.0.1,localhost",
        )


def _runtime() -> Iterator[Finding]:
    try:
        installed = Version(metadata.version("openpipe-art"))
    except metadata.PackageNotFoundError:
        return  # which is said beside
    if installed < WITH_RUNTIME or os.environ.get(RUNTIME_BIN):
        return
    if shutil.which("uv") is None:
        here = Path(sys.executable).parent  # where ART's [backend] brings it
        remedy = "run pip install uv"
        if (here / "uv").exists():
            remedy = f"activate the environment: uv is in {here}"
        yield failed(
            "runtime",
            f"uv is not on PATH, and ART {installed} uses it to install vLLM at the first register",
            f"{remedy}; or set {RUNTIME_BIN} to a vLLM of your own",
        )
        return
    said = f"uv is on PATH; ART {installed} uses it to install vLLM"
    cache = _runtime_cache()
    if cache is None or any(cache.glob("*/.venv")):
        yield ok("runtime", said)
        return
    folder, free = free_at(cache)
    if free < RUNTIME_SIZE:
        yield failed(
            "runtime",
            f"ART {installed} installs vLLM in {cache}, but {folder} has only {free:.0f} GB free",
            f"free {RUNTIME_SIZE} GB there, or set ART_VLLM_RUNTIME_CACHE_DIR to another folder",
        )
    else:
        yield ok("runtime", f"{said} in {folder}, which has {free:.0f} GB free")


def _runtime_cache() -> Path | None:
    """Return where ART keeps the environments of its vLLM; None if it cannot be asked."""
    try:
        runtime = importlib.import_module("art.vllm_runtime")
        return Path(runtime.get_vllm_runtime_cache_root())
    except (ImportError, AttributeError):
        return None


def _gated(model: str) -> Iterator[Finding]:
    token = any(os.environ.get(name) for name in TOKENS)
    home = os.environ.get("HF_HOME") or os.path.expanduser("~/.cache/huggingface")
    kept = os.path.exists(os.path.join(home, "token"))
    if model.startswith(GATED) and not token and not kept:
        yield note(
            "gated",
            f"{model} may be gated, and no Hugging Face token was found (HF_TOKEN)",
            "run hf auth login with an account that has access",
        )
