"""Let the tiny model imitate conversations: ART's supervised fine-tuning, on a laptop."""

from __future__ import annotations

import importlib.util
import sys
import types
from collections.abc import Sequence
from typing import Any

import torch
from art.utils import model_config

from art_adapt.rehearsal.tiny_model import TinyModel

IGNORED = -100  # the label of a token that is not trained on


def let_imitate() -> None:
    """Let ART tokenize conversations for the tiny model, whatever model it stands for.

    ART finds what the model says by the markers of its chat template, which it knows for
    some base models (0.5.18 and 0.5.23, utils/model_config.py) and else looks up.
    """
    model_config.MODEL_CONFIGS.clear()
    _replace_unsloth()


def _replace_unsloth() -> None:
    """Let ART 0.5.18 tokenize conversations where unsloth is not installed.

    It takes one function of unsloth_zoo (0.5.18, preprocessing/tokenize.py); ART 0.5.23
    has its own.
    """
    if importlib.util.find_spec("unsloth") is not None:
        return
    datasets: Any = types.ModuleType("unsloth_zoo.dataset_utils")
    datasets.train_on_responses_only = _train_on_responses_only
    sys.modules["unsloth"] = types.ModuleType("unsloth")
    sys.modules["unsloth_zoo"] = types.ModuleType("unsloth_zoo")
    sys.modules["unsloth_zoo.dataset_utils"] = datasets


def _train_on_responses_only(
    *, tokenizer: Any, instruction_part: str, response_part: str, **_: Any
) -> Any:
    asked, said = (
        tokenizer.encode(part, add_special_tokens=False)
        for part in (instruction_part, response_part)
    )

    def labelled(batch: dict[str, list[list[int]]]) -> dict[str, list[list[int]]]:
        return {"labels": [_labels(ids, asked, said) for ids in batch["input_ids"]]}

    return labelled


def _labels(ids: list[int], asked: list[int], said: list[int]) -> list[int]:
    """Return the tokens from each response's marker to the next instruction's."""
    labels, at, responds = [IGNORED] * len(ids), 0, False
    while at < len(ids):
        if ids[at : at + len(said)] == said:
            responds, at = True, at + len(said)
        elif ids[at : at + len(asked)] == asked:
            responds, at = False, at + len(asked)
        else:
            labels[at] = ids[at] if responds else IGNORED
            at += 1
    return labels


def imitation_loss(
    tiny: TinyModel, conversations: Sequence[dict[str, Any]]
) -> torch.Tensor:
    """Return the mean loss of what is said in tokenized conversations.

    The tiny model says whole turns; the template's own tokens are no turns of it.
    """
    losses = []
    for tensors in conversations:
        tokens = tensors["input_ids"].to(tiny.device)
        labels = tensors["labels"].to(tiny.device)[:, 1:]
        length = tokens.shape[1]
        sees = torch.ones(1, 1, length, length, dtype=torch.bool).tril()
        positions = torch.arange(length, device=tiny.device).unsqueeze(0)
        given = tiny.logprobs(tokens, positions, sees.to(tiny.device))[:, :-1]
        picked = given.gather(-1, labels.clamp(min=0).unsqueeze(-1)).squeeze(-1)
        trained = (labels != IGNORED) & picked.isfinite()
        losses.append(-torch.where(trained, picked, torch.zeros_like(picked)).sum())
    return torch.stack(losses).mean()
