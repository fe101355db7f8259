"""Take the place of Unsloth in ART's ``LocalBackend``: train a small model here, and keep it.

Only the service is replaced (art 0.5.18 and 0.5.23, local/service.py): tokenization,
packing, advantages, the loss, checkpoints and resuming are ART's.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

import torch
from art import loss
from art.local import backend as local
from art.preprocessing.pack import packed_tensors_from_dir
from art.utils.output_dirs import get_model_dir, get_step_checkpoint_dir

from art_adapt.rehearsal.observed import Observed
from art_adapt.rehearsal.protocol import Checkpoint

Json = dict[str, Any]
RATE = 1_000  # times the module's learning rate: this model is a millionth as large
AGREED = 0.01  # of a logprob: who samples and who trains both compute in float32
SERVERLESS = frozenset({"ppo"})  # options that only ServerlessBackend.train has


class Learner(Protocol):
    """A model that is trained here."""

    @property
    def device(self) -> torch.device: ...

    @property
    def optimizer(self) -> torch.optim.Optimizer: ...

    def logprobs(
        self, tokens: torch.Tensor, positions: torch.Tensor, sees: torch.Tensor
    ) -> torch.Tensor:
        """Compute the logprobs of the vocabulary after each of ``tokens`` (batch, length).

        ``sees`` (batch, 1, length, length) says what attends to what.
        """

    def save(self, checkpoint: Path) -> None:
        """Write the weights and the optimizer's state into a checkpoint's folder."""

    def fingerprint(self) -> str:
        """Return a checksum of the weights."""


class Service(ABC):
    """What ``LocalBackend`` asks to serve and to train a model.

    Attributes:
        learner: the model, from ``start_openai_server`` on.
    """

    learner: Learner

    def __init__(self, name: str, folder: Path, seen: Observed) -> None:
        self._name = name
        self._folder = folder
        self._seen = seen
        self._step = 0

    @abstractmethod
    async def start_openai_server(self, config: object) -> tuple[str, int]:
        """Serve the last checkpoint, or a new one; return the host and the port."""

    @abstractmethod
    def serve(self) -> None:
        """Serve the weights under the name of the step that they have reached."""

    @abstractmethod
    def imitate(self, batches: Sequence[Any]) -> Iterable[float]:
        """Learn from conversations, batch by batch; yield the loss of each."""

    @abstractmethod
    def close(self) -> None:
        """Serve nothing any more."""

    def checkpoint(self, step: int) -> Path:
        """Return the folder of a step's checkpoint."""
        return Path(get_step_checkpoint_dir(str(self._folder), step))

    def begin(self, *, saved: bool) -> None:
        """Note where this run begins, and serve it; ``saved``: there is its checkpoint."""
        if not saved:
            self.learner.save(self.checkpoint(self._step))
        began = Checkpoint(self._step, self.learner.fingerprint())
        self._seen.training = replace(self._seen.training, began=began, ended=began)
        self.serve()

    def _go_on_at(self, step: int, *, save: bool) -> None:
        self._step = step
        if save:
            self.learner.save(self.checkpoint(step))
        ended = Checkpoint(step, self.learner.fingerprint())
        self._seen.training = replace(self._seen.training, ended=ended)
        self.serve()

    async def vllm_engine_is_sleeping(self) -> bool:
        return False

    async def register_lora_for_step(self, step: int, checkpoint_dir: str) -> None:
        self._go_on_at(step, save=False)  # nothing was learned: ART has copied the last

    async def resolve_global_grad_accumulation_sequences(self, config: object) -> int:
        return 1

    async def train(
        self, disk_packed_tensors: Any, config: Any, _config: Any, _: bool = False
    ) -> AsyncIterator[dict[str, float]]:
        """Take one step of the optimizer on all sequences, with ART's loss."""
        packed: Any = packed_tensors_from_dir(**disk_packed_tensors)
        count = packed["tokens"].shape[0]
        optimizer = self.learner.optimizer
        self.rate(config.learning_rate)
        optimizer.zero_grad()
        total, begun = 0.0, time.perf_counter()
        for at in range(count):
            inputs = _trimmed(packed, at, self.learner.device)
            new = _new_logprobs(self.learner, inputs)
            self._compare(inputs, new)
            said = _loss(inputs, new, _config)
            (said / count).backward()
            total += said.item() / count
        optimizer.step()
        seconds = (*self._seen.training.seconds, time.perf_counter() - begun)
        self._seen.training = replace(self._seen.training, seconds=seconds)
        self._go_on_at(self._step + 1, save=True)
        yield {"loss/train": total}

    async def train_sft(
        self, batches: Sequence[Any], config: object, _: bool = False
    ) -> AsyncIterator[dict[str, float]]:
        """Imitate conversations, and keep what was learned as a step of its own."""
        for lost in self.imitate(batches):
            yield {"loss/train": lost}
        imitated = self._seen.training.imitated + 1
        self._seen.training = replace(self._seen.training, imitated=imitated)
        self._go_on_at(self._step + 1, save=True)

    def rate(self, learning_rate: float) -> None:
        """Set the optimizer's learning rate from the module's."""
        for group in self.learner.optimizer.param_groups:
            group["lr"] = learning_rate * RATE

    def _compare(self, inputs: Json, new: torch.Tensor) -> None:
        """Compare the trainer's logprobs with those at sampling."""
        old = inputs["logprobs"][:, 1:]
        trained = inputs["assistant_mask"][:, 1:] & ~old.isnan()
        apart = (new[:, :-1] - old)[trained].detach().abs()
        so_far = self._seen.training
        self._seen.training = replace(
            so_far,
            read=so_far.read + inputs["tokens"].numel(),
            tokens=so_far.tokens + apart.numel(),
            agreed=so_far.agreed + int((apart < AGREED).sum()),
            apart=max(so_far.apart, apart.max().item() if apart.numel() else 0.0),
        )

    async def aclose(self) -> None:
        self.close()


class Backend(local.LocalBackend):
    """ART's ``LocalBackend`` with a service of ours; a class for each run says which.

    Attributes:
        storage: where ART keeps its files.
        seen: what is noted.
    """

    storage: ClassVar[str]
    seen: ClassVar[Observed]

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__(path=self.storage)
        self._service: Service | None = None

    def make_service(self, model: Any, folder: Path) -> Service:
        """Return the service of a model, whose files are in ``folder``."""
        raise NotImplementedError

    def arrange(self, groups: Sequence[Any]) -> None:
        """Change groups before they are trained on, after their rewards were noted."""

    async def _get_service(self, model: Any) -> Any:
        if self._service is None:
            folder = Path(get_model_dir(model=model, art_path=self._path))
            self._service = self.make_service(model, folder)
        return self._service

    async def train(
        self, model: Any, trajectory_groups: Iterable[Any], **options: Any
    ) -> Any:
        groups = list(trajectory_groups)
        rewards = tuple(tuple(t.reward for t in group.trajectories) for group in groups)
        so_far = self.seen.training
        self.seen.training = replace(so_far, rewards=(*so_far.rewards, rewards))
        self.arrange(groups)
        known = {k: v for k, v in options.items() if k not in SERVERLESS}
        return await super().train(model, groups, **known)

    async def close(self) -> None:
        if self._service is not None:
            self._service.close()
        await super().close()


def _trimmed(packed: Json, at: int, device: torch.device) -> Json:
    """Return one packed sequence without the padding at its end."""
    used = int((packed["group_ids"][at] != -1).nonzero().max()) + 1
    return {
        name: value[at : at + 1, :used].to(device)
        for name, value in packed.items()
        if isinstance(value, torch.Tensor) and value.dim() == 2
    }


def _new_logprobs(learner: Learner, inputs: Json) -> torch.Tensor:
    """Compute the logprobs of the next tokens (1, length), as ART's loss expects them."""
    group, parent = inputs["group_ids"][0], inputs["parent_ids"][0]
    # art, unsloth/train.py, calculate_mask: a sequence sees itself and its prompt.
    own = group.unsqueeze(0) == group.unsqueeze(1)
    prompt = parent.unsqueeze(1) == group.unsqueeze(0)
    causal = torch.ones_like(own).tril()
    sees = causal & (own | prompt)
    given = learner.logprobs(inputs["tokens"], inputs["input_pos"], sees[None, None])
    following = loss.shift_tensor(inputs["tokens"], 0)
    picked = given.gather(-1, following.unsqueeze(-1)).squeeze(-1)
    # The template's own tokens are not allowed after each other; they are not trained.
    trained = loss.shift_tensor(inputs["assistant_mask"], False)
    return torch.where(trained, picked, torch.zeros_like(picked))


def _loss(inputs: Json, new: torch.Tensor, config: Any) -> torch.Tensor:
    wrapped: Any = inputs
    if hasattr(loss, "LossInputs"):  # art 0.5.23
        wrapped = loss.LossInputs(inputs=inputs)
    said: torch.Tensor = loss.loss_fn(wrapped, new, None, None, config).policy_loss
    return said
