"""Stand in for ART's backends: serve the scripted model, and take groups untrained."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from art_adapt.rehearsal.observed import Observed, Rehearsed, groups_of
from art_adapt.rehearsal.protocol import Settings
from art_adapt.rehearsal.repeats import begin, repeat, tell
from art_adapt.rehearsal.scripted_model import POLICY_KEY


class StandIn:
    """ART's ``Backend`` protocol (art 0.5.18 and 0.5.23, backend.py) without a GPU."""

    def __init__(self, settings: Settings, storage: str, seen: Observed) -> None:
        self._settings = settings
        self._storage = storage
        self._seen = seen
        self.step = 0
        self._imitated = 0

    async def register(self, model: Any) -> None:
        notes = self._seen.notes
        self._seen.notes = replace(notes, base_model=str(model.base_model))
        model.inference_base_url = self._settings.url
        model.inference_api_key = POLICY_KEY
        model.base_path = self._storage
        self._serve(model)
        self._seen.begin = partial(begin, model, self._seen, self._settings.url)

    def _serve(self, model: Any) -> None:
        name = self._model_inference_name(model)
        names = (*self._seen.notes.names, name)
        self._seen.notes = replace(self._seen.notes, names=names)
        # On GPUs of its own the engine goes on serving earlier steps.
        dedicated = self._supports_concurrent_training_and_inference(model)
        served = {"names": names if dedicated else [name]}
        tell(self._settings.url, "served", served)

    def _model_inference_name(self, model: Any, step: int | None = None) -> str:
        return f"{model.name}@{self.step if step is None else step}"

    async def _get_step(self, _: Any) -> int:
        return self.step

    async def _prepare_backend_for_training(self, *_: Any) -> tuple[str, str]:
        return self._settings.url, POLICY_KEY

    async def _delete_checkpoint_files(self, model: Any, *_: Any) -> None:
        await self._stop_if_done(model)

    async def _stop_if_done(self, model: Any) -> None:
        done = self.step - self._imitated
        if done >= self._settings.steps and not self._seen.notes.pipeline:
            await repeat(model, self._seen, self._settings.url)
            raise Rehearsed

    async def train(
        self, model: Any, trajectory_groups: Iterable[Any], **_: Any
    ) -> Any:
        from art.types import TrainResult

        await self._stop_if_done(model)
        notes = self._seen.notes
        steps = (*notes.steps, groups_of(trajectory_groups))
        self._seen.notes = replace(notes, steps=steps)
        self.step += 1
        self._serve(model)
        if self._seen.notes.pipeline and self.step == self._settings.steps:
            await self._end_of_rollouts()
        return TrainResult(step=self.step, metrics={"loss": 0.0})

    async def _train_sft(
        self, model: Any, trajectories: Iterable[Any], *_: Any
    ) -> AsyncIterator[dict[str, float]]:
        """Count the step of a warm start; here it changes nothing."""
        self._imitated = self.step = self.step + 1
        self._serve(model)
        yield {"loss": 0.0}

    async def _end_of_rollouts(self) -> None:
        """Wait for the episodes that are still running.

        PipelineTrainer would cancel them, and calls of threads that outlive their rollout
        look like lost recordings.
        """
        while any(watched.seconds is None for watched in self._seen.rollouts):
            await asyncio.sleep(0.02)

    async def close(self) -> None:
        notes = self._seen.notes
        self._seen.notes = replace(notes, closed=notes.closed + 1)

    # PipelineTrainer also calls these (art, pipeline_trainer/trainer.py).

    def _supports_concurrent_training_and_inference(self, model: Any) -> bool:
        from art.dev.validate import is_dedicated_mode

        config: Any = model._internal_config or {}
        return is_dedicated_mode(config)

    @contextlib.asynccontextmanager
    async def exact_adapter_lease(self, *_: Any) -> AsyncIterator[None]:
        yield


def make_stand_in(settings: Settings, storage: str, seen: Observed) -> type[StandIn]:
    """Make the class that train modules get instead of ART's backends."""

    class Backend(StandIn):
        def __init__(self, *_: Any, **__: Any) -> None:
            super().__init__(settings, storage, seen)

    return Backend
