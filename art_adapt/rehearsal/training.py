"""Train the tiny model with ART's ``LocalBackend``, in the place of vLLM and Unsloth.

Only the service is replaced (art 0.5.18 and 0.5.23, local/service.py): tokenization,
packing, advantages, the loss, checkpoints and resuming are ART's.
"""

from __future__ import annotations

import random
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import torch
from art import loss
from art.dev.validate import is_dedicated_mode
from art.local import backend as local
from art.preprocessing.pack import packed_tensors_from_dir
from art.utils.get_model_step import get_step_from_dir
from art.utils.output_dirs import get_model_dir, get_step_checkpoint_dir

from art_adapt.recording.responses.conversations import Conversations
from art_adapt.rehearsal.completions import answer
from art_adapt.rehearsal.endpoint import Answer, Endpoint, Request
from art_adapt.rehearsal.imitation import imitation_loss, let_imitate
from art_adapt.rehearsal.observed import Observed, Rehearsed
from art_adapt.rehearsal.protocol import Checkpoint, TinyModelSettings
from art_adapt.rehearsal.tiny_model import TinyModel

Json = dict[str, Any]
RATE = 1_000  # times the module's learning rate: this model is a millionth as large


class Service:
    """The service that ``LocalBackend`` uses to serve and train a model."""

    def __init__(
        self, tiny: TinyModel, model: Any, folder: Path, seen: Observed
    ) -> None:
        self._tiny = tiny
        self._name = model.name
        config: Any = model._internal_config or {}
        self._dedicated = is_dedicated_mode(config)
        self._folder = folder
        self._seen = seen
        self._step = 0
        self._serial = 0
        self._conversations = Conversations()
        self._endpoint: Endpoint | None = None
        # The head alone: as with a LoRA, most of the model stays as it is.
        self._optimizer = torch.optim.Adam(tiny.network.lm_head.parameters())

    async def start_openai_server(self, config: object) -> tuple[str, int]:
        self._step = get_step_from_dir(str(self._folder))
        if self._checkpoint(self._step).exists():
            self._tiny.load(self._checkpoint(self._step), self._optimizer)
        else:
            self._save()
        began = Checkpoint(self._step, self._tiny.fingerprint())
        self._seen.training = replace(self._seen.training, began=began)
        self._endpoint = Endpoint(self._answer)
        self._endpoint.__enter__()
        return "127.0.0.1", self._endpoint.port

    def _answer(self, request: Request) -> Answer:
        return answer(request, self._complete, self._conversations)

    def _complete(self, _: str, request: Json) -> tuple[int, Json]:
        if request.get("model") not in self._served():
            what = f"The model `{request.get('model')}` does not exist."
            return 404, {"error": {"message": what, "type": "rehearsal"}}
        self._serial += 1
        return 200, self._tiny.complete(request, self._serial)

    def _served(self) -> list[str]:
        """Return the model's names, with those of earlier steps on dedicated GPUs.

        All names share one set of weights, as if a running engine were given new ones.
        """
        steps = range(self._step + 1) if self._dedicated else [self._step]
        return [f"{self._name}@{step}" for step in steps]

    def _checkpoint(self, step: int) -> Path:
        return Path(get_step_checkpoint_dir(str(self._folder), step), "tiny.pt")

    def _save(self) -> None:
        file = self._checkpoint(self._step)
        file.parent.mkdir(parents=True, exist_ok=True)
        self._tiny.save(file, self._optimizer)
        self._ended()

    def _ended(self) -> None:
        ended = Checkpoint(self._step, self._tiny.fingerprint())
        self._seen.training = replace(self._seen.training, ended=ended)

    async def vllm_engine_is_sleeping(self) -> bool:
        return False

    async def register_lora_for_step(self, step: int, checkpoint_dir: str) -> None:
        self._step = step  # nothing was learned: ART has copied the last checkpoint
        self._ended()

    async def resolve_global_grad_accumulation_sequences(self, config: object) -> int:
        return 1

    async def train(
        self, disk_packed_tensors: Any, config: Any, _config: Any, _: bool = False
    ) -> AsyncIterator[dict[str, float]]:
        """Take one step of Adam on all sequences, with ART's loss."""
        packed: Any = packed_tensors_from_dir(**disk_packed_tensors)
        count = packed["tokens"].shape[0]
        for group in self._optimizer.param_groups:
            group["lr"] = config.learning_rate * RATE
        self._optimizer.zero_grad()
        total, read, begun = 0.0, 0, time.perf_counter()
        for at in range(count):
            inputs = trimmed(packed, at, self._tiny.device)
            read += inputs["tokens"].numel()
            said, apart = loss_of(self._tiny, inputs, _config)
            self._compare(apart)
            (said / count).backward()
            total += said.item() / count
        self._optimizer.step()
        so_far = self._seen.training
        seconds = (*so_far.seconds, time.perf_counter() - begun)
        self._seen.training = replace(so_far, read=so_far.read + read, seconds=seconds)
        self._step += 1
        self._save()
        yield {"loss/train": total}

    async def train_sft(
        self, batches: Sequence[Any], config: Any, _: bool = False
    ) -> AsyncIterator[dict[str, float]]:
        """Take a step of Adam for each batch of conversations, and keep the last."""
        for batch in batches:
            for group in self._optimizer.param_groups:
                group["lr"] = batch.learning_rate * RATE
            self._optimizer.zero_grad()
            said = imitation_loss(self._tiny, batch.trajectory_tensors)
            torch.autograd.backward(said)
            self._optimizer.step()
            yield {"loss/train": said.item()}
        self._step += 1
        so_far = self._seen.training
        self._seen.training = replace(so_far, imitated=so_far.imitated + 1)
        self._save()

    def _compare(self, apart: torch.Tensor) -> None:
        """Note how far the trainer's logprobs are from those at sampling."""
        if apart.numel():
            so_far = self._seen.training
            tokens = so_far.tokens + apart.numel()
            worst = max(so_far.apart, apart.max().item())
            self._seen.training = replace(so_far, tokens=tokens, apart=worst)

    def close(self) -> None:
        if self._endpoint is not None:
            self._endpoint.__exit__()
            self._endpoint = None

    async def aclose(self) -> None:
        self.close()


class Trained(Protocol):
    """A model that gives a trainer its logprobs."""

    def logprobs(
        self, tokens: torch.Tensor, positions: torch.Tensor, sees: torch.Tensor
    ) -> torch.Tensor: ...


def loss_of(
    model: Trained, inputs: Json, config: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ART's loss of one packed sequence, and how far logprobs are from sampling's.

    The distances (one for each trained token) are between the trainer's logprobs and those
    that the engine has returned.
    """
    new = _new_logprobs(model, inputs)
    old = inputs["logprobs"][:, 1:]
    trained = inputs["assistant_mask"][:, 1:] & ~old.isnan()
    apart = (new[:, :-1] - old)[trained].detach().abs()
    return _loss(inputs, new, config), apart


def trimmed(packed: Json, at: int, device: torch.device | str) -> Json:
    """Return one packed sequence without the padding at its end."""
    used = int((packed["group_ids"][at] != -1).nonzero().max()) + 1
    return {
        name: value[at : at + 1, :used].to(device)
        for name, value in packed.items()
        if isinstance(value, torch.Tensor) and value.dim() == 2
    }


def _new_logprobs(model: Trained, inputs: Json) -> torch.Tensor:
    """Compute the logprobs of the next tokens (1, length), as ART's loss expects them."""
    group, parent = inputs["group_ids"][0], inputs["parent_ids"][0]
    # art, unsloth/train.py, calculate_mask: a sequence sees itself and its prompt.
    own = group.unsqueeze(0) == group.unsqueeze(1)
    prompt = parent.unsqueeze(1) == group.unsqueeze(0)
    causal = torch.ones_like(own).tril()
    sees = causal & (own | prompt)
    given = model.logprobs(inputs["tokens"], inputs["input_pos"], sees[None, None])
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


def make_backend(
    storage: str, settings: TinyModelSettings, steps: int, seen: Observed
) -> type[local.LocalBackend]:
    """Make the class that replaces ``LocalBackend`` for ``steps`` steps."""
    random.seed(settings.seed)
    let_imitate()
    shuffled = random.Random(settings.seed) if settings.shuffle else None
    tiny = TinyModel(settings)

    class Backend(local.LocalBackend):
        def __init__(self, *_: Any, **__: Any) -> None:
            super().__init__(path=storage)
            self._service: Service | None = None

        async def register(self, model: Any) -> None:
            config: Any = model._internal_config or {}
            key = local._tokenizer_cache_key(model.base_model, config)
            self._tokenizers[key] = tiny.tokenizer
            self._image_processors[model.base_model] = None
            await super().register(model)

        def _model_max_sequence_length(self, _: Any) -> int:
            return 32_768  # art 0.5.23 would read it from the base model's files

        async def _get_service(self, model: Any) -> Any:
            if self._service is None:
                folder = Path(get_model_dir(model=model, art_path=self._path))
                self._service = Service(tiny, model, folder, seen)
            return self._service

        async def train(
            self, model: Any, trajectory_groups: Iterable[Any], **options: Any
        ) -> Any:
            _stop_after(steps, seen)
            groups = list(trajectory_groups)
            note_rewards(groups, seen)
            if shuffled is not None:
                _shuffle(groups, shuffled)
            known = {
                name: value for name, value in options.items() if name not in SERVERLESS
            }
            return await super().train(model, groups, **known)

        async def _delete_checkpoint_files(self, model: Any, keep: list[int]) -> None:
            await super()._delete_checkpoint_files(model, keep)
            _stop_after(steps, seen)

        async def close(self) -> None:
            if self._service is not None:
                self._service.close()
            await super().close()

    return Backend


SERVERLESS = frozenset({"ppo"})  # options that only ServerlessBackend.train has


def _stop_after(steps: int, seen: Observed) -> None:
    if seen.steps >= steps:
        raise Rehearsed


def note_rewards(groups: Sequence[Any], seen: Observed) -> None:
    """Note the rewards of a step's episodes."""
    rewards = tuple(tuple(t.reward for t in group.trajectories) for group in groups)
    so_far = seen.training
    seen.training = replace(so_far, rewards=(*so_far.rewards, rewards))


def _shuffle(groups: Sequence[Any], random_: random.Random) -> None:
    """Shuffle the rewards within each group, as a control."""
    for group in groups:
        rewards = [trajectory.reward for trajectory in group.trajectories]
        random_.shuffle(rewards)
        for trajectory, reward in zip(group.trajectories, rewards, strict=True):
            trajectory.reward = reward
