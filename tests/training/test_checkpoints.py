"""A checkpoint that a killed run left half written is no checkpoint."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from art_adapt.training.checkpoints import checkpoints_in, set_aside_partial

HEADER = json.dumps({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}})
WEIGHTS = len(HEADER).to_bytes(8, "little") + HEADER.encode() + bytes(8)


def write(folder: Path, step: int, **files: bytes) -> None:
    checkpoint = folder / "checkpoints" / f"{step:04d}"
    checkpoint.mkdir(parents=True)
    for name, data in files.items():
        (checkpoint / name.replace("__", ".")).write_bytes(data)


WHOLE = {"adapter_model__safetensors": WEIGHTS, "adapter_config__json": b"{}"}


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({}, "it is empty"),
        ({"adapter_model__safetensors": WEIGHTS}, "adapter_config.json is missing"),
        ({"adapter_config__json": b"{}"}, "it has no weights"),
        (
            WHOLE | {"adapter_model__safetensors": WEIGHTS[:-1]},
            "adapter_model.safetensors ends early",
        ),
        (WHOLE | {"adapter_model__safetensors": b"\x01"}, "ends early"),
        (WHOLE | {"adapter_model__safetensors": b"\xff" * 9}, "ends early"),
        (
            WHOLE | {"optimizer__pt": b"PK\x03\x04 and no end"},
            "optimizer.pt ends early",
        ),
        (WHOLE | {"tokenizer__json": b'{"a"'}, "tokenizer.json ends early"),
    ],
)
def test_a_partial_one_is_set_aside(
    files: dict[str, bytes],
    why: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(tmp_path, 1, **WHOLE)
    write(tmp_path, 2, **files)
    (tmp_path / "checkpoints" / "0002.partial" / "of an earlier kill").mkdir(
        parents=True
    )
    set_aside_partial(tmp_path)
    assert checkpoints_in(tmp_path) == {1}
    assert (tmp_path / "checkpoints" / "0002.partial").is_dir()
    assert why in capsys.readouterr().out


def test_whole_ones_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, 1, adapter_config__json=b"{}")  # not the last: not looked at
    write(tmp_path, 2, **WHOLE)
    sharded = {"adapter_model-00001-of-00001__safetensors": WEIGHTS}
    write(tmp_path, 3, adapter_config__json=b"{}", **sharded)
    set_aside_partial(tmp_path)
    set_aside_partial(tmp_path / "nowhere")
    assert checkpoints_in(tmp_path) == {1, 2, 3} and not capsys.readouterr().out
