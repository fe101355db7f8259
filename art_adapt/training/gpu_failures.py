"""Says what to do about errors that only a GPU shows: of its memory, of the engine's start."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from art_adapt.training.gpu_memory import holders

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
# vLLM 0.25.1 binds the first library of this name in its memory map, whose order is chance.
# TileLang 0.1.9, which ART 0.5.23's engine imports, brings one without that function
# (vllm/utils/system_utils.py, find_loaded_library; mended later, in vLLM's pull request 47586).
STUB = r"libcudart_stub\.so: undefined symbol"
START_AGAIN = (
    "Start again: this happens by chance, and a run continues from its last checkpoint. To end "
    "it, make that file a link to nvidia/cu13/lib/libcudart.so.13 of the same site-packages"
)


@contextmanager
def gpu_advice() -> Iterator[None]:
    """Replace an error that only a GPU shows with what to do about it.

    The engine is a process of its own: its error stands in its log, which ART names.

    Raises:
        SystemExit: the memory of a GPU was not enough, or the engine took the wrong library.
    """
    try:
        yield
    except Exception as error:
        said = _with_log(error)
        if (found := re.search(f".*{STUB}.*", said)) is not None:
            raise SystemExit(
                f"The engine did not start: {found[0].strip()}\n{START_AGAIN}"
            ) from error
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
