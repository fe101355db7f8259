"""Runs a generated train module's ``main()`` with ART itself; only the GPU is missing.

The backend implements ART's ``Backend`` protocol: it serves the model at the scripted engine, and where a gradient step
would be it counts the step and remembers what it was given.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import signal
import sys
from collections.abc import Iterable
from typing import Any

import art
from art.types import TrainResult

import art_adapt.training
from art_adapt.training import models

seen: dict[str, Any] = {
    "steps": [],
    "kept": [],
    "closed": 0,
    "arguments": [],
    "registered": [],
}


class CountingBackend:
    def __init__(self, engine_url: str, start: int) -> None:
        self.engine_url = engine_url
        self.step = start

    async def register(self, model: Any) -> None:
        model.inference_base_url = self.engine_url
        model.inference_api_key = "sk-rollout"
        seen["registered"].append(
            [model.name, model.project, getattr(model, "run_name", None)]
        )

    def _model_inference_name(self, model: Any, step: int | None = None) -> str:
        return f"{model.name}:step{self.step if step is None else step}"

    async def _get_step(self, model: Any) -> int:
        return self.step

    async def _prepare_backend_for_training(
        self, model: Any, config: Any
    ) -> tuple[str, str]:
        return self.engine_url, "sk-rollout"

    async def _delete_checkpoint_files(
        self, model: Any, steps_to_keep: list[int]
    ) -> None:
        seen["kept"].append(sorted(steps_to_keep))

    async def train(
        self, model: Any, trajectory_groups: Iterable[Any], **arguments: Any
    ) -> TrainResult:
        self.step += 1
        if os.environ.get("CTRL_C_AT_STEP") == str(self.step):
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(0.1)  # a real step takes long enough to hear of it
        seen["arguments"].append(sorted(arguments))
        seen["steps"].append(
            [
                [
                    {
                        "reward": t.reward,
                        "final_answer": t.final_answer,
                        "metrics": t.metrics,
                        "choices": sum(
                            not isinstance(m, dict) for m in t.messages_and_choices
                        ),
                        "histories": len(t.additional_histories),
                        "logs": t.logs,
                        "tools": t.tools is not None,
                    }
                    for t in group.trajectories
                ]
                for group in trajectory_groups
            ]
        )
        return TrainResult(step=self.step, metrics={"loss": 0.1})

    async def close(self) -> None:
        seen["closed"] += 1


def main() -> None:
    engine_url, folder, module_name, start, *arguments = sys.argv[1:]
    sys.path.insert(0, folder)
    module: Any = importlib.import_module(module_name)
    training: Any = art_adapt.training
    models.missing_for_local = lambda: None  # the backend below needs nothing
    training.make_backend = lambda kind, price=None: CountingBackend(
        engine_url, int(start)
    )
    sys.argv = [module_name, *arguments]
    try:
        module.main()
    except SystemExit as stop:
        seen["stopped"] = str(stop)
    except BaseException as error:
        seen["raised"] = f"{type(error).__name__}: {error}"
    seen["art"] = art.__name__
    print("\n" + json.dumps(seen))


if __name__ == "__main__":
    main()
