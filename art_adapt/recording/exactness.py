"""What keeps ART from training on exactly what the engine saw and sampled (G6)."""

from __future__ import annotations

from typing import Any

NO_IDS = (
    "the endpoint returned no token ids, and ART trains only on token ids: serve the "
    "model with ART's LocalBackend, or with a vLLM that supports return_token_ids (0.10.2)"
)
NO_TOKENS = (
    "the endpoint's logprobs do not name tokens as token_id:N, so ART 0.5.18 would "
    "train on the end-of-text token instead: serve the model with ART's LocalBackend, "
    "or start vLLM with --return-tokens-as-token-ids"
)
THINKING = (
    "the model thinks before it answers, but ART 0.5.18 trains with "
    "enable_thinking=False: send extra_body={'chat_template_kwargs': "
    "{'enable_thinking': False}}, or train a model that does not think"
)
RENDERED_ANEW = (
    "the engine rendered earlier turns of a conversation differently from the sampled "
    "tokens: the chat template drops earlier thoughts, or the agent edits or "
    "re-serialises assistant messages. Each such turn is trained separately, which "
    "costs time. Append the message as the SDK returned it."
)


def reads_token_ids(trajectory: Any) -> bool:
    """Tell whether this ART builds training sequences from token ids.

    ART 0.5.23 does, and also captures exchanges; 0.5.18 renders messages anew.
    """
    return "exchanges" in getattr(type(trajectory), "model_fields", {})


def logprobs_name_ids(logprobs: Any) -> bool:
    tokens: Any = getattr(logprobs, "content", None) or getattr(
        logprobs, "refusal", None
    )
    return bool(tokens) and str(tokens[0].token).startswith("token_id:")


def extras_of(model: Any) -> dict[str, Any]:
    return {k: v for k, v in (model.model_extra or {}).items() if v}
