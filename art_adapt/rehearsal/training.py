"""Train the tiny model with ART's ``LocalBackend``, and serve it on loopback."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from art.dev.validate import is_dedicated_mode
from art.local import backend as local
from art.utils.get_model_step import get_step_from_dir

from art_adapt.recording.responses.conversations import Conversations
from art_adapt.rehearsal.completions import answer
from art_adapt.rehearsal.endpoint import Answer, Endpoint, Request
from art_adapt.rehearsal.imitation import imitation_loss, let_imitate
from art_adapt.rehearsal.observed import Observed, Rehearsed
from art_adapt.rehearsal.protocol import TinyModelSettings
from art_adapt.rehearsal.service import Backend, Service
from art_adapt.rehearsal.tiny_model import FILE, TinyModel

Json = dict[str, Any]


class TinyService(Service):
    """The service of the tiny model."""

    learner: TinyModel

    def __init__(
        self, tiny: TinyModel, model: Any, folder: Path, seen: Observed
    ) -> None:
        super().__init__(model.name, folder, seen)
        self.learner = tiny
        config: Any = model._internal_config or {}
        self._dedicated = is_dedicated_mode(config)
        self._serial = 0
        self._conversations = Conversations()
        self._endpoint: Endpoint | None = None

    async def start_openai_server(self, config: object) -> tuple[str, int]:
        self._step = get_step_from_dir(str(self._folder))
        file = self.checkpoint(self._step) / FILE
        if file.exists():
            self.learner.load(file)
        self.begin(saved=file.exists())
        self._endpoint = Endpoint(self._answer)
        self._endpoint.__enter__()
        return "127.0.0.1", self._endpoint.port

    def serve(self) -> None:
        """Do nothing: each request is answered by the weights as they are."""

    def _answer(self, request: Request) -> Answer:
        return answer(request, self._complete, self._conversations)

    def _complete(self, _: str, request: Json) -> tuple[int, Json]:
        if request.get("model") not in self._served():
            what = f"The model `{request.get('model')}` does not exist."
            return 404, {"error": {"message": what, "type": "rehearsal"}}
        self._serial += 1
        return 200, self.learner.complete(request, self._serial)

    def _served(self) -> list[str]:
        """Return the model's names, with those of earlier steps on dedicated GPUs.

        All names share one set of weights, as if a running engine were given new ones.
        """
        steps = range(self._step + 1) if self._dedicated else [self._step]
        return [f"{self._name}@{step}" for step in steps]

    def imitate(self, batches: Sequence[Any]) -> Iterator[float]:
        """Take a step of Adam for each batch of conversations."""
        for batch in batches:
            self.rate(batch.learning_rate)
            self.learner.optimizer.zero_grad()
            said = imitation_loss(self.learner, batch.trajectory_tensors)
            torch.autograd.backward(said)
            self.learner.optimizer.step()
            yield said.item()

    def close(self) -> None:
        if self._endpoint is not None:
            self._endpoint.__exit__()
            self._endpoint = None


def make_backend(
    files: str, settings: TinyModelSettings, steps: int, notes: Observed
) -> type[local.LocalBackend]:
    """Make the class that replaces ``LocalBackend`` for ``steps`` steps."""
    random.seed(settings.seed)
    let_imitate()
    shuffled = random.Random(settings.seed) if settings.shuffle else None
    tiny = TinyModel(settings)

    class OfTinyModel(Backend):
        storage, seen = files, notes

        def make_service(self, model: Any, folder: Path) -> Service:
            return TinyService(tiny, model, folder, notes)

        async def register(self, model: Any) -> None:
            config: Any = model._internal_config or {}
            key = local._tokenizer_cache_key(model.base_model, config)
            self._tokenizers[key] = tiny.tokenizer
            self._image_processors[model.base_model] = None
            await super().register(model)

        def _model_max_sequence_length(self, _: Any) -> int:
            return 32_768  # art 0.5.23 would read it from the base model's files

        async def train(
            self, model: Any, trajectory_groups: Iterable[Any], **options: Any
        ) -> Any:
            _stop_after(steps, notes)
            return await super().train(model, trajectory_groups, **options)

        def arrange(self, groups: Sequence[Any]) -> None:
            if shuffled is not None:
                _shuffle(groups, shuffled)

        async def _delete_checkpoint_files(self, model: Any, keep: list[int]) -> None:
            await super()._delete_checkpoint_files(model, keep)
            _stop_after(steps, notes)

    return OfTinyModel


def _stop_after(steps: int, seen: Observed) -> None:
    if seen.steps >= steps:
        raise Rehearsed


def _shuffle(groups: Sequence[Any], random_: random.Random) -> None:
    """Shuffle the rewards within each group, as a control."""
    for group in groups:
        rewards = [trajectory.reward for trajectory in group.trajectories]
        random_.shuffle(rewards)
        for trajectory, reward in zip(group.trajectories, rewards, strict=True):
            trajectory.reward = reward
