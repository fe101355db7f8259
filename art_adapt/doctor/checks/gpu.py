"""Whether the base model fits on this machine's GPUs, with the context that it is given."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from art_adapt.doctor.finding import Finding, Setup, failed, note, ok
from art_adapt.doctor.weights import gigabytes_of
from art_adapt.training.base_models import kv_bytes_of
from art_adapt.training.gpu_memory import MIB, holders, nvidia_smi
from art_adapt.training.models import LONGEST
from art_adapt.training.plan import gpus_of

# Bytes of KV cache for a token: layers x KV heads x head size x 2 (keys, values) x 2
# (bfloat16), from the models' own config.json.
KV_BYTES = {
    r"qwen3-14b": 40 * 8 * 128 * 4,
    r"qwen3-30b-a3b": 48 * 4 * 128 * 4,
    r"llama-3\.1-8b": 32 * 8 * 128 * 4,
}
SHARE = 0.9  # of the memory that vLLM takes, unless engine_args say otherwise
GIGA = 1e9


def check(setup: Setup) -> Iterator[Finding]:
    if not setup.is_local:
        return
    found = _memories()
    wanted = gpus_of(setup.settings)
    if len(found) < wanted:
        hidden = "CUDA_VISIBLE_DEVICES" in os.environ
        yield failed(
            "GPU",
            f"{len(found)} found, {wanted} needed"
            + (" (CUDA_VISIBLE_DEVICES limits which are visible)" if hidden else ""),
            "train on a machine with an NVIDIA GPU, or with --backend serverless",
        )
    yield from _fits(setup, min(found, default=None))
    for holder in holders():
        yield note(
            "memory",
            f"{holder} of GPU memory, so the engine may not fit",
            f"kill {holder.pid} if it is left over from an earlier run",
        )


def _fits(setup: Setup, memory: float | None) -> Iterator[Finding]:
    model = str(setup.settings["BASE_MODEL"])
    engine = setup.engine
    weights = gigabytes_of(model)
    if weights is None:
        yield note(
            "memory",
            f"unknown size of {model}: neither its name nor a local file tells",
        )
        return
    length = engine.get("max_model_len", LONGEST)
    kv = _kv_bytes(model)
    cache = 0.0 if kv is None else kv * length / GIGA
    needed = weights + cache
    said = f"{model}: {weights:.0f} GB of weights"
    if kv is not None:
        said += f" and {cache:.1f} GB of KV cache for one context of {length:,} tokens"
    if memory is None:
        yield note("memory", f"{said}, at least")
        return
    share = engine.get("gpu_memory_utilization", SHARE)
    if needed > share * memory:
        remedy = "use a smaller max_model_len in engine_args of MODEL, a smaller model, or a larger GPU"
        there = f"vLLM takes {share:.0%} of {memory:.0f} GB"
        yield failed("memory", f"{said}, but {there}", remedy)
    else:
        yield ok("memory", f"{said}; the GPU has {memory:.0f} GB")


def _kv_bytes(model: str) -> int | None:
    """Return the bytes of KV cache for a token, by the model's config, or else by its name."""
    if (known := kv_bytes_of(model)) is not None:
        return known.value
    return next((b for p, b in KV_BYTES.items() if re.search(p, model, re.I)), None)


def _memories() -> list[float]:
    """Return the gigabytes of each GPU that the driver shows."""
    rows = nvidia_smi("gpu=memory.total")
    sizes = [float(row[0]) * MIB for row in rows if row[0].isdigit()]
    return [size for at, size in enumerate(sizes) if _is_visible(at)]


def _is_visible(number: int) -> bool:
    """True if a process may use a GPU, as far as CUDA_VISIBLE_DEVICES tells by numbers."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None or not re.fullmatch(r"[\d, -]*", visible):
        return True  # it names them by their ids, which nvidia-smi was not asked for
    return str(number) in re.split(r"[, ]+", visible)
