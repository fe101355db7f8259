"""An error that only a GPU shows says what to do about it, and who holds the memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from art_adapt.training import gpu_advice

ENGINE = """\
INFO 11-26 12:00:00 loading
ValueError: Free memory on device cuda:0 (12.1/79.2 GiB) on startup is less than desired GPU memory utilization (0.9, 71.3 GiB).
RuntimeError: Engine core initialization failed. See root cause above.
"""
# What vLLM 0.25.1 said on an H200, in two of three starts (docs/gpu.md).
STUB = """\
(APIServer pid=3648)     func = self._FuncPtr((name_or_ordinal, self))
(APIServer pid=3648) AttributeError: /venv/tilelang/lib/libcudart_stub.so: undefined symbol: cudaDeviceReset
"""
SMI = """\
#!/bin/sh
case "$1" in *compute-apps*) echo '4711, /usr/bin/python3, 65536';; esac
"""


def test_the_engines_own_words_are_found_in_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "vllm-runtime.log"
    log.write_text(ENGINE)
    driver = tmp_path / "nvidia-smi"
    driver.write_text(SMI)
    driver.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(SystemExit) as stopped, gpu_advice():
        raise RuntimeError(f"vLLM subprocess failed. Check logs at {log}")
    said = str(stopped.value)
    assert "Free memory on device cuda:0 (12.1/79.2 GiB)" in said
    assert '"gpu_memory_utilization": 0.7' in said
    assert "process 4711 (/usr/bin/python3) uses 68.7 GB" in said


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        ("CUDA out of memory. Tried to allocate 2.00 GiB.", "MAX_COMPLETION_TOKENS"),
        (
            "To serve at least one request with the models's max seq len (32768), 4.0 GiB KV "
            "cache is needed, which is larger than the available KV cache memory (1 GiB)",
            "max_model_len",
        ),
    ],
)
def test_each_kind_has_its_advice(error: str, advice: str) -> None:
    with pytest.raises(SystemExit, match=advice), gpu_advice():
        try:
            raise RuntimeError(error)
        except RuntimeError as cause:
            raise ValueError("a step failed") from cause


def test_errors_of_a_task_group_are_looked_into() -> None:
    with pytest.raises(SystemExit, match="MAX_COMPLETION_TOKENS"), gpu_advice():
        raise ExceptionGroup(
            "tasks", [ValueError("x"), RuntimeError("CUDA out of memory")]
        )


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(KeyError), gpu_advice():
        raise KeyError("out of memory is not what this is about")


def test_the_engine_that_took_the_wrong_library_is_started_again(
    tmp_path: Path,
) -> None:
    log = tmp_path / "vllm-runtime.log"
    log.write_text(STUB)
    with pytest.raises(SystemExit) as stopped, gpu_advice():
        raise RuntimeError(f"vLLM subprocess failed. Check logs at {log}")
    said = str(stopped.value)
    assert "/venv/tilelang/lib/libcudart_stub.so" in said
    assert "Start again" in said
    assert "memory" not in said
