"""Tells the models that nobody but their maker can train."""

from __future__ import annotations

import re
from pathlib import Path

# However a client or LiteLLM names them; OpenAI's gpt-oss has weights that anyone can load.
CLOSED = re.compile(
    r"^((openai|azure|anthropic|google|gemini|xai)/)?(gpt-[345]|o[134](-|$)|chatgpt|claude|gemini-|grok-[2-9])",
    re.IGNORECASE,
)
CLOSED_REMEDY = (
    "name an open model of Hugging Face, such as OpenPipe/Qwen3-14B-Instruct: what is trained "
    "is its weights"
)


def is_closed(model: str) -> bool:
    """True if a base model is one that only its maker serves: ``gpt-4o``."""
    return CLOSED.match(model) is not None and not Path(model).exists()
