"""Begins a run, or goes on with it: its warm start, its settings, the step it has reached."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import art

from art_adapt.training.checkpoints import (
    COMPARABLE,
    HELD_OUT,
    IMITATED,
    SETTINGS,
    VALIDATED_FROM,
    folder_of,
    history_in,
    imitated_in,
    settings_in,
)
from art_adapt.training.options import lora_settings
from art_adapt.training.plan import RECORDED, Plan
from art_adapt.training.progress import Progress
from art_adapt.training.runs import Run
from art_adapt.training.warm_start import warm_start


async def begin(model: art.TrainableModel[Any, Any], run: Run[Any]) -> Progress:
    """Give a new run its warm start, note its settings, and return how far it is.

    Raises:
        SystemExit: the checkpoints are another base model's.
    """
    imitated = imitated_in(folder_of(model))
    if await warm_start(model, run):
        imitated = await model.get_step()
    step = await model.get_step()
    note_settings(model, run.plan, step, imitated)
    return Progress(run.plan, step, imitated, folder_of(model))


def note_settings(
    model: art.TrainableModel[Any, Any], plan: Plan, step: int, imitated: int = 0
) -> None:
    """Keep the run's settings beside its checkpoints; say what has changed since.

    Raises:
        SystemExit: the checkpoints are another base model's, or have another LoRA: ART
            goes on with theirs (unsloth/train.py, which loads the adapter as it is).
    """
    folder = folder_of(model)
    file = folder / SETTINGS
    before = settings_in(folder)
    chosen = {name: plan.settings.get(name) for name in RECORDED}
    chosen |= {"BASE_MODEL": model.base_model, IMITATED: imitated}
    text = json.dumps(chosen, indent=1, default=str)
    now = json.loads(text)
    if step and not before:
        print(
            f"{model.name} is at step {step}, and this folder knows no run of that name: its "
            "weights are another run's. To begin anew, use another --run-name."
        )
    if step:
        for name in sorted(before.keys() & now.keys()):
            if before[name] == now[name]:
                continue
            change = f"{model.name} started with {name} = {before[name]!r}"
            if name == "BASE_MODEL" or (
                name == "MODEL"
                and lora_settings(before[name] or {}) != lora_settings(now[name] or {})
            ):
                raise SystemExit(
                    f"{change}: its checkpoints do not fit {now[name]!r}. "
                    "Start another run with --run-name"
                )
            print(f"{change}, and continues with {now[name]!r}.")
    noted = now | _validation(before, plan, folder)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(noted, indent=1), encoding="utf-8")


def _validation(before: Mapping[str, Any], plan: Plan, folder: Path) -> dict[str, Any]:
    """Return which scenarios validate, and since when; say if they have changed."""
    now = {HELD_OUT: plan.held_out, COMPARABLE: plan.comparable}
    since = before.get(VALIDATED_FROM, 0)
    if before and any(before.get(name) != value for name, value in now.items()):
        print(
            "The validation scenarios have changed: earlier validations do not count."
        )
        since = len(history_in(folder))
    return {**now, VALIDATED_FROM: since}
