"""Runs a generated train module on ART's LocalBackend and a tiny model, and may kill itself.

The process dies by SIGKILL in the middle of what it was told: nothing is cleaned up.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import torch

import art_adapt.training
from art_adapt.rehearsal import training as rehearsed
from art_adapt.rehearsal.observed import Observed
from art_adapt.rehearsal.protocol import TinyModelSettings, from_json
from art_adapt.rehearsal.tiny_model import FILE, TinyModel
from art_adapt.training import models

AT = 2  # the step


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_in_step(seen: Observed) -> None:
    step = torch.optim.Adam.step

    def dying(self: Any, *arguments: Any) -> Any:
        done = step(self, *arguments)
        if len(seen.training.seconds) == AT - 1:  # the weights are new, and not saved
            die()
        return done

    torch.optim.Adam.step = dying  # type: ignore[method-assign, assignment]


def kill_in_save(_: Observed) -> None:
    save = TinyModel.save

    def dying(self: Any, checkpoint: Path) -> None:
        save(self, checkpoint)
        if checkpoint.name == f"{AT:04d}":
            file = checkpoint / FILE
            file.write_bytes(file.read_bytes()[:-1000])
            die()

    TinyModel.save = dying  # type: ignore[method-assign]


def kill_in_validation(_: Observed) -> None:
    art_adapt.training.report_validation = lambda groups, step: die()


KILLS: dict[str, Any] = {
    "step": kill_in_step,
    "save": kill_in_save,
    "validation": kill_in_validation,
    "never": lambda seen: None,
}


def main() -> None:
    settings_file, module_name, stage, *arguments = sys.argv[1:]
    settings = from_json(TinyModelSettings, Path(settings_file).read_text())
    seen = Observed()
    backend = rehearsed.make_backend(".art", settings, 1_000, seen)
    KILLS[stage](seen)
    training: Any = art_adapt.training
    models.missing_for_local = lambda: None  # the backend below needs nothing
    training.make_backend = lambda kind, price=None: backend()
    sys.path.insert(0, "")
    module: Any = importlib.import_module(module_name)
    sys.argv = [module_name, *arguments]
    module.main()
    ends = seen.training.began, seen.training.ended
    print(json.dumps([[each.step, each.weights] for each in ends if each]))


if __name__ == "__main__":
    main()
