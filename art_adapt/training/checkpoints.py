"""What a run keeps on disk: its checkpoints, its settings, what it has logged."""

from __future__ import annotations

import json
import shutil
import statistics
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import art

from art_adapt.json_lines import json_lines

# Where ART keeps what belongs to a model. LocalBackend's own default depends on where ART
# is installed (0.5.18 and 0.5.23, utils/get_repo_root_path.py).
FILES = ".art"
SETTINGS = "settings.json"
IMITATED = "WARM_START_STEPS"  # keys of it
HELD_OUT = "VALIDATION"  # which scenarios validate
VALIDATED_FROM = "VALIDATED_FROM_ROW"  # of the history: since then it is these
COMPARABLE = "VALIDATION_COMPARES"
PARTIAL = ".partial"


def folder_of(model: art.Model[Any]) -> Path:
    """Return where ART keeps a registered model's files (model.py, _get_output_dir)."""
    return Path(model.base_path, model.project, "models", model.name)


def checkpoints_in(folder: Path) -> set[int]:
    """Return the steps whose checkpoints are in a model's folder, if there are any."""
    found = folder / "checkpoints"
    names = (path.name for path in found.iterdir()) if found.is_dir() else ()
    return {int(name) for name in names if name.isdigit()}


def history_in(folder: Path) -> list[dict[str, Any]]:
    """Return the rows that ``model.log`` has written to a model's folder, in their order."""
    file = folder / "history.jsonl"
    return [row for _, row in json_lines(file)] if file.exists() else []


def validated_in(folder: Path) -> dict[int, float]:
    """Return the mean rewards of the validated steps, with the scenarios that validate now."""
    rows = history_in(folder)[int(settings_in(folder).get(VALIDATED_FROM, 0)) :]
    return _means(rows, "val/reward")


def trained_in(folder: Path) -> dict[int, float]:
    """Return the mean rewards of the steps of training."""
    return _means(history_in(folder), "train/reward")


def _means(rows: Iterable[Mapping[str, Any]], metric: str) -> dict[int, float]:
    values: dict[int, list[float]] = {}
    for row in rows:
        if row.get(metric) is not None:
            values.setdefault(int(row["step"]), []).append(row[metric])
    return {step: statistics.fmean(of_step) for step, of_step in values.items()}


def compares(folder: Path) -> bool:
    """True if validation rewards of a run's steps can be compared with each other."""
    return bool(settings_in(folder).get(COMPARABLE, True))


def settings_in(folder: Path) -> dict[str, Any]:
    """Return the settings that a run has noted in a model's folder, if there are any."""
    with suppress(OSError, ValueError):
        noted = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
        if isinstance(noted, dict):
            return noted
    return {}


def imitated_in(folder: Path) -> int:
    """Return how many steps of a run were its warm start: they took no batch."""
    return int(settings_in(folder).get(IMITATED, 0))


def set_aside_partial(folder: Path) -> None:
    """Rename a last checkpoint that was being written when its run was killed; say so.

    ART makes the folder and then saves into it, and takes the folder with the highest
    number for the last checkpoint, whatever it holds (0.5.18 and 0.5.23,
    unsloth/service.py, save_checkpoint; utils/get_model_step.py).
    """
    for step in sorted(checkpoints_in(folder), reverse=True):
        checkpoint = folder / "checkpoints" / f"{step:04d}"
        if not checkpoint.is_dir() or (why := next(_flaws(checkpoint), None)) is None:
            return
        aside = checkpoint.with_name(checkpoint.name + PARTIAL)
        shutil.rmtree(aside, ignore_errors=True)  # of an earlier kill at this step
        checkpoint.rename(aside)
        print(
            f"The checkpoint of step {step} is incomplete ({why}). "
            f"It was renamed to {aside}."
        )


def _flaws(checkpoint: Path) -> Iterator[str]:
    """Yield what shows that a checkpoint was not written to its end."""
    files = [path for path in checkpoint.rglob("*") if path.is_file()]
    if not files:
        yield "it is empty"
    for path in files:
        if not _is_whole(path):
            yield f"{path.name} ends early"
    names = {path.name for path in files}
    weights = any(name.startswith("adapter_model") for name in names)
    if weights != ("adapter_config.json" in names):  # peft writes both
        yield "adapter_config.json is missing" if weights else "it has no weights"


def _is_whole(path: Path) -> bool:
    """True if a file's own form says that nothing is missing at its end."""
    if path.suffix == ".safetensors":
        return _safetensors_size(path) == path.stat().st_size
    if path.suffix in (".pt", ".bin", ".pth"):  # torch.save writes a zip archive
        return zipfile.is_zipfile(path)
    if path.suffix == ".json":
        with suppress(ValueError):
            json.loads(path.read_text(encoding="utf-8"))
            return True
        return False
    return True


def _safetensors_size(path: Path) -> int | None:
    """Return how long a safetensors file says it is: its header ends with the last offset."""
    with path.open("rb") as file, suppress(ValueError):
        length = int.from_bytes(file.read(8), "little")
        if length > path.stat().st_size:
            return None
        header = json.loads(file.read(length))
        ends = [
            tensor["data_offsets"][1]
            for name, tensor in header.items()
            if name != "__metadata__"
        ]
        return 8 + length + max(ends, default=0)
    return None
