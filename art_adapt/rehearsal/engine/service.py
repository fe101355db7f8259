"""Serves and trains a model for ART's ``LocalBackend``: vLLM beside it, a LoRA of peft here.

It takes the place of ART's Unsloth service (art 0.5.18 and 0.5.23, unsloth/service.py). As
that one does, it saves each step's LoRA as a checkpoint and lets the engine load it under the
name of the step.
"""

from __future__ import annotations

import urllib.parse
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import peft
import torch
import transformers
from art.local import backend as local
from art.utils.get_model_step import get_step_from_dir

from art_adapt.rehearsal.engine.server import MOST_RANK, Engine, EngineError
from art_adapt.rehearsal.observed import Observed
from art_adapt.rehearsal.protocol import EngineSettings
from art_adapt.rehearsal.service import Backend, Service
from art_adapt.training.options import lora_settings

TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
RANK = 8  # ART's own (unsloth/service.py)


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


class EngineService(Service):
    """The service of a model that an engine serves."""

    learner: LoraModel

    def __init__(
        self, settings: EngineSettings, model: Any, folder: Path, seen: Observed
    ) -> None:
        super().__init__(model.name, folder, seen)
        self._engine = Engine(settings.url, 0.0)
        self._base = settings.base
        self._rank = min(_rank(model), MOST_RANK)
        self._served: list[str] = []

    async def start_openai_server(self, config: object) -> tuple[str, int]:
        self._step = get_step_from_dir(str(self._folder))
        kept = self.checkpoint(self._step)
        saved = kept.exists()
        self.learner = LoraModel(self._base, self._rank, kept if saved else None)
        self.begin(saved=saved)
        url = urllib.parse.urlsplit(self._engine.url)
        return str(url.hostname), int(url.port or 80)

    def serve(self) -> None:
        """Let the engine load this step's LoRA, and forget the one before."""
        name = f"{self._name}@{self._step}"
        path = str(self.checkpoint(self._step).absolute())
        self._engine.ask(
            "/v1/load_lora_adapter", {"lora_name": name, "lora_path": path}
        )
        for old in self._served:
            self._engine.ask("/v1/unload_lora_adapter", {"lora_name": old})
        self._served = [name]
        names = (*self._seen.notes.names, name)
        self._seen.notes = replace(self._seen.notes, names=names)

    def imitate(self, batches: Sequence[Any]) -> Iterator[float]:
        """Learn nothing: what a warm start teaches is shown by ``--train``."""
        yield 0.0

    def close(self) -> None:
        for old in self._served:
            with suppress(EngineError):  # what went wrong before is what to report
                self._engine.ask("/v1/unload_lora_adapter", {"lora_name": old})
        self._served = []


def _rank(model: Any) -> int:
    """Return the rank of LoRA that a model was made with."""
    config: Any = model._internal_config or {}
    of_model = {"lora_config": getattr(model, "lora_config", None) or {}}
    rank: int = lora_settings({**config, **of_model}).get("rank", RANK)
    return rank


def make_backend(
    files: str, settings: EngineSettings, notes: Observed
) -> type[local.LocalBackend]:
    """Make the class that replaces ``LocalBackend``: its service alone is another."""

    class OnEngine(Backend):
        storage, seen = files, notes

        def make_service(self, model: Any, folder: Path) -> Service:
            return EngineService(settings, model, folder, notes)

    return OnEngine
