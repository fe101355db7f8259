"""Says what is known of a base model, and from where: its parser, its context, its thinking.

Nothing is asked of the network: what was loaded before is read from Hugging Face's cache, or
from the model's own folder.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

T = TypeVar("T")

TEMPLATE = "chat_template.jinja"
CONFIG = "config.json"
INDEX = "model.safetensors.index.json"
# vLLM's parsers of tool calls, by families of models.
PARSERS = {
    r"hermes": "hermes",
    r"llama-?3": "llama3_json",
    r"llama-?4": "llama4_pythonic",
    r"qwen3-coder": "qwen3_coder",
    r"qwen3\.[5-9]": "qwen3_xml",
    r"qwen(2\.5|3)\b": "hermes",
    r"gpt-oss": "openai",
    r"mistral|ministral": "mistral",
    r"deepseek-v3": "deepseek_v3",
}
# What a chat template has a model write, and the parser that reads it.
WRITTEN = {
    "<function=": "qwen3_xml",
    "<tool_call>": "hermes",
    "[TOOL_CALLS]": "mistral",
    "<|python_tag|>": "llama3_json",
    "<|channel|>": "openai",
}
# Keys of config.json (art 0.5.23, dev/sequence_lengths.py), and where a text model's are.
LENGTHS = (
    "max_position_embeddings",
    "n_positions",
    "seq_length",
    "max_sequence_length",
    "model_max_length",
)
SECTIONS = ("text_config", "llm_config", "language_config")


@dataclass(frozen=True)
class Known(Generic[T]):
    """Something that is known of a model, and where it was read."""

    value: T
    source: str


def parser_of(model: str) -> Known[str] | None:
    """Return vLLM's parser of a model's tool calls: by ART, its template, or its family."""
    if (parser := _arts_parser(model)) is not None:
        return Known(parser, "ART's own table of models")
    template = chat_template(model)
    if template is not None:
        for written, parser in WRITTEN.items():
            if written in template.value:
                return Known(parser, template.source)
    for pattern, parser in PARSERS.items():
        if re.search(pattern, model, re.IGNORECASE):
            return Known(parser, "the name of its family")
    return None


def _arts_parser(model: str) -> str | None:
    """Return what ART says itself (0.5.23, megatron/model_support/handlers).

    Its table needs torch, which takes seconds to import: where the local backend runs, it is.
    """
    if "torch" not in sys.modules:
        return None
    try:
        from art.megatron.model_support import get_model_support_handler

        handler: Any = get_model_support_handler(model)
        arguments = handler.vllm_server_args()
    except Exception:  # another ART, a model that it does not know, or no torch
        return None
    parser = arguments.get("tool_call_parser")
    return str(parser) if parser else None


def context_of(model: str) -> Known[int] | None:
    """Return how many tokens a model reads at most, by its config."""
    for section, source in _sections(model):
        for key in LENGTHS:
            if isinstance(section.get(key), int):
                return Known(section[key], f"{key} in {source}")
    return None


def kv_bytes_of(model: str) -> Known[int] | None:
    """Return the bytes of KV cache for a token, by the model's config.

    That is layers x KV heads x head size x 2 (keys, values) x 2 (bfloat16), as vLLM keeps
    them; None where layers differ, or keys and values are compressed (MLA).
    """
    for section, source in _sections(model):
        if len({*(section.get("layer_types") or ())}) > 1 or "kv_lora_rank" in section:
            return None
        try:
            heads = section["num_attention_heads"]
            size = section.get("head_dim") or section["hidden_size"] // heads
            kv_heads = section.get("num_key_value_heads") or heads
            return Known(section["num_hidden_layers"] * kv_heads * size * 4, source)
        except (KeyError, TypeError):
            continue
    return None


def weight_bytes_of(model: str) -> Known[float] | None:
    """Return the bytes of a model's weights in bfloat16, by its files where they are here."""
    size = sum(file.stat().st_size for file in Path(model).glob("*.safetensors"))
    source = model
    if not size and (index := _file(model, INDEX)) is not None:
        size = json.loads(index.value).get("metadata", {}).get("total_size", 0)
        source = index.source
    stored = {s.get("dtype") or s.get("torch_dtype") for s, _ in _sections(model)}
    return Known(size / 2 if "float32" in stored else size, source) if size else None


def _sections(model: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the parts of a model's config that may describe its text model, and their file."""
    if (file := _file(model, CONFIG)) is not None:
        config = json.loads(file.value)
        for section in (*map(config.get, SECTIONS), config):
            if isinstance(section, dict):
                yield section, file.source


def thinks(model: str) -> Known[bool] | None:
    """True if a model's chat template knows of thinking."""
    template = chat_template(model)
    if template is None:
        return None
    return Known("<think>" in template.value, template.source)


def chat_template(model: str) -> Known[str] | None:
    """Return a model's chat template, from a file of its own or its tokenizer's config."""
    if (file := _file(model, TEMPLATE)) is not None:
        return file
    tokenizer = _file(model, "tokenizer_config.json")
    if tokenizer is None:
        return None
    template: Any = json.loads(tokenizer.value).get("chat_template")
    if isinstance(template, list):  # one for tools beside others
        template = "\n".join(str(each.get("template")) for each in template)
    return Known(str(template), tokenizer.source) if template else None


def _file(model: str, name: str) -> Known[str] | None:
    """Read a file of a model from its folder, or from Hugging Face's cache."""
    path: Any = Path(model, name)
    if not path.is_file():
        try:
            from huggingface_hub import try_to_load_from_cache

            path = try_to_load_from_cache(model, name)
        except (ImportError, ValueError):  # a folder's path is no model's name
            return None
        if not isinstance(path, str):
            return None
    return Known(Path(path).read_text(encoding="utf-8"), f"its {name}")
