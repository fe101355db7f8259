"""Makes the model to train and its backend, as the installed ART wants them."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import art

from art_adapt.json_lines import json_lines
from art_adapt.training.base_models import context_of, parser_of

# What LocalBackend imports only when it starts (0.5.18 and 0.5.23, local/backend.py).
IMPORTED_AT_START = ("torch", "art.dev.get_model_config", "unsloth")
REMEDY = (
    "It needs Python 3.12 and `pip install 'openpipe-art[backend]>=0.5.23'` with "
    "PyTorch's index for CUDA 12.8 as --extra-index-url. On Python 3.11 that is "
    "ART 0.5.18, which also wants megatron-bridge 0.4, never released: train with "
    "--backend serverless there."
)
# Where ART keeps what belongs to a model. LocalBackend's own default depends on where ART
# is installed (0.5.18 and 0.5.23, utils/get_repo_root_path.py).
FILES = ".art"
# What ART 0.5.18 trains (dev/get_model_config.py, max_seq_length): vLLM would sample
# more, which its training drops. The KV cache of a longer context may not fit, either.
LONGEST = 32_768
DEFAULT_PARSER = "hermes"  # ART's (dev/openai_server.py); it reads no call of a Llama
# What ART 0.5.23 calls the keys of peft_args (dev/model.py).
LORA = {
    "r": "rank",
    "lora_alpha": "alpha",
    "lora_dropout": "dropout",
    "init_lora_weights": "init_weights",
}


def make_model(
    name: str,
    project: str,
    base_model: str,
    engine: dict[str, Any] | None = None,
    **settings: Any,
) -> art.TrainableModel[Any, Any]:
    """Return the model to train, as the installed ART wants it.

    Args:
        name: the run's name.
        project: the project's name in ART.
        base_model: the model to start from.
        engine: vLLM's settings, such as ``{"gpu_memory_utilization": 0.8}``. Contexts
            are ``LONGEST`` tokens, or as many as the model reads if that is known and
            less, unless it says otherwise.
        settings: further keys of ART's ``_internal_config``, such as
            ``trainer_gpu_ids``, ``peft_args`` (LoRA, whatever ART calls it) and ``init_args``.
    """
    options: dict[str, Any] = {}
    if "run_name" in art.TrainableModel.model_fields:  # art 0.5.23 asks for it
        options["run_name"] = name
    else:  # art 0.5.18 renders tools anew: with their keys in vLLM's order
        settings["chat_template_tool_schema_format"] = "vllm_openai"
    known = context_of(base_model)  # vLLM refuses a longer one, after the download
    longest = LONGEST if known is None else min(LONGEST, known.value)
    if "lora_config" in art.TrainableModel.model_fields:  # art 0.5.23 refuses peft_args
        lora = settings.pop("peft_args", {})
        options["lora_config"] = {LORA.get(k, k): v for k, v in lora.items()} or None
    settings["engine_args"] = {"max_model_len": longest, **(engine or {})}
    config: Any = settings
    return art.TrainableModel(
        name=name,
        project=project,
        base_model=base_model,
        _internal_config=config,
        **options,
    )


def make_backend(kind: str) -> Any:
    """Return ART's backend of that kind, ``local`` or ``serverless``.

    Raises:
        SystemExit: what the local backend imports when it starts is not installed.
    """
    if kind == "serverless":
        from art.serverless.backend import ServerlessBackend

        return ServerlessBackend()
    if (missing := missing_for_local()) is not None:
        raise SystemExit(f"the local backend cannot start: {missing}. {REMEDY}")
    from art.local import LocalBackend

    return LocalBackend(path=FILES)


def missing_for_local() -> str | None:
    """Say what ART's local backend imports when it starts and is not installed."""
    try:
        from art.local import LocalBackend

        if LocalBackend.__module__.startswith("art."):  # else it is a rehearsal's
            for module in IMPORTED_AT_START:
                importlib.import_module(module)
    except ImportError as error:
        return str(error)
    return None


def tool_parser(base_model: str) -> str | None:
    """Return vLLM's parser of a model's tool calls; None: ART's own default, or not known."""
    known = parser_of(base_model)
    return None if known is None or known.value == DEFAULT_PARSER else known.value


def server_settings(base_model: str, **server: Any) -> Any:
    """Return how vLLM is to serve a model: with the parser of its kind of tool calls.

    ``server``: further arguments of vLLM's server, such as ``reasoning_parser="qwen3"``, or
    another ``tool_call_parser``.
    """
    parser = tool_parser(base_model)
    known = {} if parser is None else {"tool_call_parser": parser}
    arguments = {**known, **server}
    return {"server_args": arguments} if arguments else None


def folder_of(model: art.Model[Any]) -> Path:
    """Return where ART keeps a registered model's files (model.py, _get_output_dir)."""
    return Path(model.base_path, model.project, "models", model.name)


def checkpoints_in(folder: Path) -> set[int]:
    """Return the steps whose checkpoints are in a model's folder, if there are any."""
    found = folder / "checkpoints"
    names = (path.name for path in found.iterdir()) if found.is_dir() else ()
    return {int(name) for name in names if name.isdigit()}


def history_of(model: art.Model[Any]) -> list[dict[str, Any]]:
    """Return the rows that ``model.log`` has written, in their order."""
    file = folder_of(model) / "history.jsonl"
    return [row for _, row in json_lines(file)] if file.exists() else []
