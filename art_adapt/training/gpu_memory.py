"""Says what to do when a GPU's memory is too small, or when something else holds it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

# What torch and vLLM write, and what helps: the first that is found counts. vLLM's are of
# 0.25 (v1/worker/utils.py, v1/core/kv_cache_utils.py).
ADVICE = {
    r"Free memory on device.*less than desired": (
        "Another process holds the memory: end it, or give the engine a smaller share, as "
        'MODEL = {"engine_args": {"gpu_memory_utilization": 0.7}}'
    ),
    r"KV cache is needed.*larger than the available|No available memory for the cache": (
        "The context is too long for the memory that the weights leave: set a smaller one, as "
        'MODEL = {"engine_args": {"max_model_len": 16384}}, or a larger GPU'
    ),
    r"CUDA out of memory|OutOfMemoryError": (
        "Try shorter sequences first: a smaller MAX_COMPLETION_TOKENS, and "
        'MODEL = {"engine_args": {"max_model_len": 16384}}. Then try a smaller base model, or '
        "a separate GPU for the trainer: "
        'MODEL = {"trainer_gpu_ids": [0], "inference_gpu_ids": [1]}'
    ),
}
LOG = re.compile(r"Check logs at (\S+)")  # ART's words (0.5.23, vllm_runtime.py)
TAIL = 20_000  # characters of the engine's log
MIB = 2**20 / 1e9  # nvidia-smi's unit, in gigabytes


@dataclass(frozen=True)
class Holder:
    """A process that holds a GPU's memory; ``gigabytes`` of it."""

    pid: int
    name: str
    gigabytes: float

    def __str__(self) -> str:
        return f"process {self.pid} ({self.name}) uses {self.gigabytes:.1f} GB"


@contextmanager
def gpu_advice() -> Iterator[None]:
    """Replace an error about a GPU's memory with what to do about it.

    The engine is a process of its own: its error stands in its log, which ART names.

    Raises:
        SystemExit: the memory of a GPU was not enough.
    """
    try:
        yield
    except Exception as error:
        said = _with_log(error)
        for sign, advice in ADVICE.items():
            if (found := re.search(rf".*(?:{sign}).*", said)) is not None:
                lines = [f"The GPU ran out of memory: {found[0].strip()}", advice]
                lines += map(str, holders())
                raise SystemExit("\n".join(lines)) from error
        raise


def _with_log(error: BaseException) -> str:
    """Return an error's text and those of its causes, with the end of the engine's log."""
    texts = [f"{type(each).__name__}: {each}" for each in _with_causes(error)]
    for path in LOG.findall("\n".join(texts)):
        with suppress(OSError):
            log = Path(path).read_text(encoding="utf-8", errors="replace")
            texts.insert(0, log[-TAIL:])
    return "\n".join(texts)


def _with_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, those that a group holds, and the causes of all."""
    yield error
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _with_causes(each)
    if (cause := error.__cause__ or error.__context__) is not None:
        yield from _with_causes(cause)


def nvidia_smi(query: str) -> list[list[str]]:
    """Return the rows that the driver's tool answers; none where there is no driver."""
    if shutil.which("nvidia-smi") is None:
        return []
    command = ["nvidia-smi", f"--query-{query}", "--format=csv,noheader,nounits"]
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=30, check=True
        )
        return [line.split(", ") for line in done.stdout.splitlines()]
    return []


def holders() -> list[Holder]:
    """Return the other processes that hold memory of a GPU, as the driver shows them."""
    rows = nvidia_smi("compute-apps=pid,process_name,used_memory")
    return [
        Holder(int(pid), name, float(used) * MIB)
        for pid, name, used in (row for row in rows if len(row) == 3)
        if pid.isdigit() and used.replace(".", "").isdigit() and int(pid) != os.getpid()
    ]
