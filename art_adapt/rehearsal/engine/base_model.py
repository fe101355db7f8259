"""Makes a base model of two layers that a real engine serves, and that plays the agent's part.

Its weights are random but for a grammar: what comes next is a whole turn, which is one token,
and after a turn its end. Two directions of the residual stream carry that. Which turn it is
depends on the prompt and can be learned; so an agent's tools are called, their results are
read, and episodes end, as they do with a large model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers

from art_adapt.rehearsal.engine.families import Family
from art_adapt.rehearsal.protocol import TinyModelSettings
from art_adapt.rehearsal.tiny_model import UNUSED, make_tokenizer
from art_adapt.training.base_models import chat_template

CONTEXT = 32_768  # tokens, as many as a run's contexts have at most
TINY = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "initializer_range": 0.02,
}
SURE = 6.0  # how far the grammar's logits are from zero, on either side
ALWAYS, AFTER_TURN = 0, 1  # the directions of the grammar


@dataclass(frozen=True)
class Made:
    """A base model in a folder. ``own``: its tokenizer is the real base model's."""

    folder: Path
    family: Family
    own: bool


def make_base_model(
    settings: TinyModelSettings,
    family: Family,
    base_model: str,
    folder: Path,
    sizes: Mapping[str, float] = TINY,
) -> Made:
    """Write a base model into a folder, as ``from_pretrained`` and vLLM read it.

    Where the tokenizer and the chat template of ``base_model`` are on this disk, they are
    taken; the turns are added to it. ``sizes`` are keywords of the transformers config.
    """
    turns = list(dict.fromkeys(map(family.spelled, settings.turns)))
    tokenizer = _own_tokenizer(base_model, turns)
    own = tokenizer is not None
    if tokenizer is None:
        special = [*family.special, UNUSED]
        tokenizer = make_tokenizer(
            settings.prompts, settings.scenarios, turns, special, family.template
        )
        tokenizer.pad_token = UNUSED  # else Unsloth adds one, and trains embeddings
    torch.manual_seed(settings.seed)
    model = _network(family, tokenizer, sizes)
    _teach_grammar(
        model,
        tokenizer.convert_tokens_to_ids(turns),
        tokenizer.convert_tokens_to_ids(tokenizer.eos_token),
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return Made(folder, family, own)


def _own_tokenizer(base_model: str, turns: Sequence[str]) -> Any:
    """Return the base model's tokenizer with the turns as tokens; None: it is not here."""
    if chat_template(base_model) is None:
        return None
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            base_model, local_files_only=True
        )
    except (OSError, ValueError):
        return None
    tokenizer.add_tokens(
        [transformers.AddedToken(turn, normalized=False) for turn in turns]
    )
    return tokenizer


def _network(family: Family, tokenizer: Any, sizes: Mapping[str, float]) -> Any:
    config_class = getattr(transformers, f"{family.architecture}Config")
    model_class = getattr(transformers, f"{family.architecture}ForCausalLM")
    return model_class(
        config_class(
            **{"vocab_size": len(tokenizer), **sizes},
            max_position_embeddings=CONTEXT,
            tie_word_embeddings=False,
            eos_token_id=tokenizer.eos_token_id,
            bos_token_id=None,
        )
    )


@torch.no_grad()
def _teach_grammar(model: Any, turns: Sequence[int], end: int) -> None:
    """Let a turn follow anything but a turn, and the end follow a turn."""
    read, written = model.get_input_embeddings().weight, model.lm_head.weight
    turns = list(turns)
    read[:, :2] = 0
    read[:, ALWAYS] = 1.0
    read[turns, ALWAYS], read[turns, AFTER_TURN] = 0.0, 1.0
    written[:, :2] = -SURE
    written[turns, ALWAYS] = SURE
    written[end, AFTER_TURN] = SURE
