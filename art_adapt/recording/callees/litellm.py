"""``litellm.completion`` and ``acompletion``, a Router's too.

litellm takes a client of the SDK and calls it (litellm 1.82, llms/openai/openai.py).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from art_adapt.calls import LITELLM
from art_adapt.recording.callees.callee import Callee, Finder

POLICY = "policy"  # the model's name in what litellm sends, whatever the agent calls it
# Where litellm sends a request, and what it does when it cannot.
ROUTING = {
    "api_base",
    "api_key",
    "api_version",
    "azure_ad_token_provider",
    "base_url",
    "client",
    "context_window_fallback_dict",
    "custom_llm_provider",
    "deployment_id",
    "extra_headers",
    "fallbacks",
    "headers",
    "model_list",
    "organization",
}


def find(function: Any, _: str, __: Finder) -> Callee | None:
    """Return the same call, on a client that litellm is handed."""
    name = getattr(function, "__name__", "")
    module = getattr(function, "__module__", None) or ""
    method = LITELLM.method(name, frozenset())
    if module.partition(".")[0] != LITELLM.module or method is None:
        return None

    def on(client: Any) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            given = dict(zip(LITELLM.positional, args, strict=False)) | kwargs
            given = {k: v for k, v in given.items() if k not in ROUTING}
            given |= {"model": f"openai/{POLICY}", "client": client}
            given |= {"api_key": client.api_key, "api_base": str(client.base_url)}
            # A cached answer is nobody's sample; what this model does not take is
            # dropped, not refused.
            given["cache"] = {"no-cache": True, "no-store": True}
            given["drop_params"] = True
            return getattr(sys.modules["litellm"], name)(**given)

        return call

    # litellm sets max_retries on the client: it gets one that no other call uses.
    return Callee(on, bool(method.is_async), False, {"max_retries": 2})
