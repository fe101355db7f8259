"""Makes the model to train and its backend, as the installed ART wants them."""

from __future__ import annotations

import importlib.util
import os
from typing import Any

import art

from art_adapt.backends import INSTALL, Backend
from art_adapt.training.base_models import context_of, parser_of
from art_adapt.training.checkpoints import FILES
from art_adapt.training.options import Options, lora_rank, model_options

# What LocalBackend imports only when it starts (0.5.18 and 0.5.23, local/backend.py).
IMPORTED_AT_START = ("torch", "art.dev.get_model_config")
# What only the trainer's process may import (art/__init__.py): here it would patch
# transformers, take 20 seconds and hold memory of the GPU.
IMPORTED_BY_TRAINER = "unsloth"
REMEDY = (
    f"It needs Python 3.12 and `{' && '.join(INSTALL[Backend.LOCAL])}`. Python 3.11 "
    "gets ART 0.5.18, whose local backend needs megatron-bridge 0.4, which was never released: "
    "train with --backend serverless there."
)
TINKER_REMEDY = (
    f"It needs Python 3.12, `{INSTALL[Backend.TINKER][0]}` and TINKER_API_KEY."
)
# vLLM 0.25.1 runs dense models on its second model runner, and what ART 0.5.23 patches there
# raises KeyError in the first profile run: the engine of a dense model ends before it starts
# (art_vllm_runtime/policy_spans.py, _policy_context_from_runner; seen on an H200, docs/gpu.md).
FIRST_RUNNER = ("VLLM_USE_V2_MODEL_RUNNER", "0")
# What ART 0.5.18 trains (dev/get_model_config.py, max_seq_length): vLLM would sample
# more, which its training drops. The KV cache of a longer context may not fit, either.
LONGEST = 32_768
# vLLM serves LoRA up to this rank unless it is told, and takes these (0.25, config/lora.py).
# ART does not tell it (0.5.18 and 0.5.23, unsloth/service.py).
RANK_SERVED = 16
RANKS = (32, 64, 128, 256, 320, 512)
DEFAULT_PARSER = "hermes"  # ART's (dev/openai_server.py); it reads no call of a Llama


def make_model(
    name: str, project: str, base_model: str, options: Options | None = None
) -> art.TrainableModel[Any, Any]:
    """Return the model to train, as the installed ART wants it.

    Args:
        name: the run's name.
        project: the project's name in ART.
        base_model: the model to start from.
        options: a train module's ``MODEL``: keywords of ``art.TrainableModel``, such as
            ``{"lora_config": {"rank": 16}}``, and keys of its ``_internal_config``, such
            as ``{"engine_args": {"gpu_memory_utilization": 0.8}}``. Contexts are
            ``LONGEST`` tokens, or as many as the model reads if that is known and less,
            unless ``engine_args`` has a ``max_model_len``.

    Raises:
        SystemExit: the installed ART does not take an option.
    """
    given = model_options(options or {})
    settings: dict[str, Any] = dict(given.internal)
    constructor = dict(given.constructor)
    if "run_name" in art.TrainableModel.model_fields:  # art 0.5.23 asks for it
        constructor["run_name"] = name
    else:  # art 0.5.18 renders tools anew: with their keys in vLLM's order
        settings.setdefault("chat_template_tool_schema_format", "vllm_openai")
    known = context_of(base_model)  # vLLM refuses a longer one, after the download
    longest = LONGEST if known is None else min(LONGEST, known.value)
    engine: dict[str, Any] = {"max_model_len": longest}
    if (rank := lora_rank(options or {})) is not None and rank > RANK_SERVED:
        engine["max_lora_rank"] = next((r for r in RANKS if r >= rank), rank)
    settings["engine_args"] = {**engine, **settings.get("engine_args", {})}
    config: Any = settings
    return art.TrainableModel(
        name=name,
        project=project,
        base_model=base_model,
        _internal_config=config,
        **constructor,
    )


def make_backend(kind: str, gpu_price: float | None = None) -> Any:
    """Return ART's backend of that kind: ``local``, ``serverless`` or ``tinker``.

    ``gpu_price``: dollars an hour, with which the local backend counts what steps cost
    (``costs/gpu``); it knows few GPUs' prices itself.

    Raises:
        SystemExit: what the backend imports is not installed.
    """
    if kind == "serverless":
        from art.serverless.backend import ServerlessBackend

        return ServerlessBackend()
    refuse_absent(kind)
    if kind == "tinker":
        return _tinker_backend()
    from art.local import LocalBackend

    os.environ.setdefault(*FIRST_RUNNER)
    return LocalBackend(path=FILES, gpu_cost_per_hour_usd=gpu_price)


def refuse_absent(kind: str) -> None:
    """Refuse a backend that imports what is not installed.

    Raises:
        SystemExit: it says what is missing, and how to install it.
    """
    if kind == "tinker" and (missing := missing_for_tinker()) is not None:
        raise SystemExit(f"the tinker backend cannot start: {missing}. {TINKER_REMEDY}")
    if kind == "local" and (missing := missing_for_local()) is not None:
        raise SystemExit(f"the local backend cannot start: {missing}. {REMEDY}")


def missing_for_tinker() -> str | None:
    """Say what ART's tinker backend imports and is not installed."""
    try:
        importlib.import_module("art.tinker_native")
    except ImportError as error:
        return str(error)
    return None


def _tinker_backend() -> Any:
    from art.tinker_native import TinkerNativeBackend

    class Backend(TinkerNativeBackend):
        async def train(self, *arguments: Any, **options: Any) -> Any:
            # Its default keeps weights to sample from, and nothing to go on from: a
            # second run would begin anew (art 0.5.23, tinker_native/backend.py, train).
            return await super().train(
                *arguments, **{"save_checkpoint": True} | options
            )

    return Backend(path=FILES)


def missing_for_local() -> str | None:
    """Say what ART's local backend imports when it starts and is not installed."""
    try:
        from art.local import LocalBackend

        if LocalBackend.__module__.startswith("art."):  # else it is a rehearsal's
            for module in IMPORTED_AT_START:
                importlib.import_module(module)
            if importlib.util.find_spec(IMPORTED_BY_TRAINER) is None:
                return f"No module named '{IMPORTED_BY_TRAINER}'"
    except ImportError as error:
        return str(error)
    return None


def tool_parser(base_model: str) -> str | None:
    """Return vLLM's parser of a model's tool calls; None: ART's own default, or not known."""
    known = parser_of(base_model)
    return None if known is None or known.value == DEFAULT_PARSER else known.value


def server_settings(base_model: str, options: Options | None = None) -> Any:
    """Return how vLLM is to serve a model: with the parser of its kind of tool calls.

    ``options``: a train module's ``MODEL``, whose ``server_args`` are further arguments of
    vLLM's server, such as ``{"reasoning_parser": "qwen3"}``, or another
    ``tool_call_parser``.
    """
    parser = tool_parser(base_model)
    known = {} if parser is None else {"tool_call_parser": parser}
    arguments = {**known, **model_options(options or {}).server}
    return {"server_args": arguments} if arguments else None
