"""Runs a generated train module's ``main()`` with ART itself; only the GPU is missing.

The backend implements ART's ``Backend`` protocol: it serves the model at the scripted engine, and where a gradient step
would be it counts the step and remembers what it was given.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterable
from typing import Any

import art
from art.types import TrainResult

engine_url, folder, module_name, start = (
    sys.argv[1],
    sys.argv[2],
    sys.argv[3],
    int(sys.argv[4]),
)
sys.path.insert(0, folder)
seen: dict[str, Any] = {
    "steps": [],
    "kept": [],
    "closed": 0,
    "arguments": [],
    "registered": [],
}


class CountingBackend:
    def __init__(self) -> None:
        self.step = start

    async def register(self, model: Any) -> None:
        model.inference_base_url, model.inference_api_key = engine_url, "sk-rollout"
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
        return engine_url, "sk-rollout"

    async def _delete_checkpoint_files(
        self, model: Any, steps_to_keep: list[int]
    ) -> None:
        seen["kept"].append(sorted(steps_to_keep))

    async def train(
        self, model: Any, trajectory_groups: Iterable[Any], **arguments: Any
    ) -> TrainResult:
        self.step += 1
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


module = importlib.import_module(module_name)
module.make_backend = lambda kind: CountingBackend()
sys.argv = [module_name, *sys.argv[5:]]
try:
    module.main()
except SystemExit as stop:
    seen["stopped"] = str(stop)
except BaseException as error:
    seen["raised"] = f"{type(error).__name__}: {error}"
seen["art"] = art.__name__
print("\n" + json.dumps(seen))
