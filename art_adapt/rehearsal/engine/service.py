"""Serves and trains a model for ART's ``LocalBackend``: vLLM beside it, a LoRA of peft here.

It takes the place of ART's Unsloth service (art 0.5.18 and 0.5.23, unsloth/service.py). As
that one does, it saves each step's LoRA as a checkpoint and lets the engine load it under the
name of the step.
"""

from __future__ import annotations

import time
import urllib.parse
import zlib
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import peft
import torch
import transformers
from art.local import backend as local
from art.preprocessing.pack import packed_tensors_from_dir
from art.utils.get_model_step import get_step_from_dir
from art.utils.output_dirs import get_model_dir, get_step_checkpoint_dir

from art_adapt.rehearsal.engine.server import Engine, EngineError
from art_adapt.rehearsal.observed import Observed
from art_adapt.rehearsal.protocol import Checkpoint, EngineSettings
from art_adapt.rehearsal.training import (
    RATE,
    SERVERLESS,
    loss_of,
    note_rewards,
    trimmed,
)

TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
RANK = 8  # ART's own (unsloth/service.py)
AGREED = 0.01  # of a logprob: the engine and the trainer both compute in float32


class LoraModel:
    """The base model with a LoRA that is trained, on the CPU."""

    device = torch.device("cpu")

    def __init__(self, base: str, rank: int, checkpoint: Path | None) -> None:
        network = transformers.AutoModelForCausalLM.from_pretrained(
            base, dtype=torch.float32, attn_implementation="sdpa"
        )
        if checkpoint is None:
            torch.manual_seed(0)
            config = peft.LoraConfig(
                r=rank, lora_alpha=2 * rank, target_modules=list(TARGETS)
            )
            self.network: Any = peft.get_peft_model(network, config)
        else:
            self.network = peft.PeftModel.from_pretrained(
                network, str(checkpoint), is_trainable=True
            )
        learned = [p for p in self.network.parameters() if p.requires_grad]
        self.optimizer = torch.optim.Adam(learned)
        if checkpoint is not None and (checkpoint / "optimizer.pt").exists():
            state = torch.load(checkpoint / "optimizer.pt", weights_only=True)
            self.optimizer.load_state_dict(state)

    def logprobs(
        self, tokens: torch.Tensor, positions: torch.Tensor, sees: torch.Tensor
    ) -> torch.Tensor:
        """Compute the logprobs of the vocabulary after each of ``tokens`` (batch, length)."""
        logits = self.network(
            input_ids=tokens,
            position_ids=positions,
            attention_mask=sees,
            use_cache=False,  # see TinyModel
        ).logits
        return torch.log_softmax(logits, dim=-1)

    def save(self, checkpoint: Path) -> None:
        self.network.save_pretrained(checkpoint)
        torch.save(self.optimizer.state_dict(), checkpoint / "optimizer.pt")

    def fingerprint(self) -> str:
        """Return a checksum of the LoRA's weights."""
        state = peft.get_peft_model_state_dict(self.network)
        parts = [state[name].detach().numpy().tobytes() for name in sorted(state)]
        return f"{zlib.crc32(b''.join(parts)):08x}"


class Service:
    """The service that ``LocalBackend`` uses to serve and train a model."""

    def __init__(
        self, settings: EngineSettings, model: Any, folder: Path, seen: Observed
    ) -> None:
        self._engine = Engine(settings.url, 0.0)
        self._base = settings.base
        self._name = model.name
        config: Any = model._internal_config or {}
        lora = getattr(model, "lora_config", None) or config.get("peft_args") or {}
        self._rank = lora.get("rank") or lora.get("r") or RANK
        self._folder = folder
        self._seen = seen
        self._step = 0
        self._served: list[str] = []
        self._lora: LoraModel | None = None

    async def start_openai_server(self, config: object) -> tuple[str, int]:
        self._step = get_step_from_dir(str(self._folder))
        kept = self._checkpoint(self._step)
        self._lora = LoraModel(self._base, self._rank, kept if kept.exists() else None)
        if not kept.exists():
            self._lora.save(kept)
        self._serve()
        began = Checkpoint(self._step, self._lora.fingerprint())
        self._seen.training = replace(self._seen.training, began=began, ended=began)
        url = urllib.parse.urlsplit(self._engine.url)
        return str(url.hostname), int(url.port or 80)

    def _checkpoint(self, step: int) -> Path:
        return Path(get_step_checkpoint_dir(str(self._folder), step))

    def _serve(self) -> None:
        """Let the engine load this step's LoRA, and forget the one before."""
        name = f"{self._name}@{self._step}"
        path = str(self._checkpoint(self._step).absolute())
        self._engine.ask(
            "/v1/load_lora_adapter", {"lora_name": name, "lora_path": path}
        )
        for old in self._served:
            self._engine.ask("/v1/unload_lora_adapter", {"lora_name": old})
        self._served = [name]
        names = (*self._seen.notes.names, name)
        self._seen.notes = replace(self._seen.notes, names=names)

    async def vllm_engine_is_sleeping(self) -> bool:
        return False

    async def register_lora_for_step(self, step: int, checkpoint_dir: str) -> None:
        self._step = step  # nothing was learned: ART has copied the last checkpoint
        self._serve()
        self._end()

    async def resolve_global_grad_accumulation_sequences(self, config: object) -> int:
        return 1

    async def train(
        self, disk_packed_tensors: Any, config: Any, _config: Any, _: bool = False
    ) -> AsyncIterator[dict[str, float]]:
        """Take one step of Adam on all sequences, with ART's loss; save, and swap."""
        assert self._lora is not None
        packed: Any = packed_tensors_from_dir(**disk_packed_tensors)
        count = packed["tokens"].shape[0]
        for group in self._lora.optimizer.param_groups:
            group["lr"] = config.learning_rate * RATE
        self._lora.optimizer.zero_grad()
        total, begun = 0.0, time.perf_counter()
        for at in range(count):
            said, apart = loss_of(self._lora, trimmed(packed, at, "cpu"), _config)
            (said / count).backward()
            total += said.item() / count
            so_far = self._seen.training
            self._seen.training = replace(
                so_far,
                tokens=so_far.tokens + apart.numel(),
                agreed=so_far.agreed + int((apart < AGREED).sum()),
                apart=max(so_far.apart, apart.max().item() if apart.numel() else 0.0),
            )
        self._lora.optimizer.step()
        seconds = (*self._seen.training.seconds, time.perf_counter() - begun)
        self._seen.training = replace(self._seen.training, seconds=seconds)
        self._step += 1
        self._lora.save(self._checkpoint(self._step))
        self._serve()
        self._end()
        yield {"loss/train": total}

    def _end(self) -> None:
        assert self._lora is not None
        ended = Checkpoint(self._step, self._lora.fingerprint())
        self._seen.training = replace(self._seen.training, ended=ended)

    async def train_sft(
        self, batches: Sequence[Any], config: object, _: bool = False
    ) -> AsyncIterator[dict[str, float]]:
        """Count the step of a warm start; what it teaches is shown by ``--train``."""
        assert self._lora is not None
        self._step += 1
        self._lora.save(self._checkpoint(self._step))
        self._serve()
        self._end()
        yield {"loss/train": 0.0}

    def close(self) -> None:
        for old in self._served:
            with suppress(EngineError):  # what went wrong before is what to report
                self._engine.ask("/v1/unload_lora_adapter", {"lora_name": old})
        self._served = []

    async def aclose(self) -> None:
        self.close()


def make_backend(
    storage: str, settings: EngineSettings, seen: Observed
) -> type[local.LocalBackend]:
    """Make the class that replaces ``LocalBackend``: its service alone is another."""

    class Backend(local.LocalBackend):
        def __init__(self, *_: Any, **__: Any) -> None:
            super().__init__(path=storage)
            self._service: Service | None = None

        async def _get_service(self, model: Any) -> Any:
            if self._service is None:
                folder = Path(get_model_dir(model=model, art_path=self._path))
                self._service = Service(settings, model, folder, seen)
            return self._service

        async def train(
            self, model: Any, trajectory_groups: Iterable[Any], **options: Any
        ) -> Any:
            groups = list(trajectory_groups)
            note_rewards(groups, seen)
            known = {k: v for k, v in options.items() if k not in SERVERLESS}
            return await super().train(model, groups, **known)

        async def close(self) -> None:
            if self._service is not None:
                self._service.close()
            await super().close()

    return Backend
