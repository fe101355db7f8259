"""Says at the end of a run where its best checkpoint is, and how to serve and call it."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import art

from art_adapt.training.checkpoints import (
    checkpoints_in,
    folder_of,
    imitated_in,
    validated_in,
)
from art_adapt.training.models import DEFAULT_PARSER, server_settings
from art_adapt.training.options import Options
from art_adapt.training.progress import best_step

# What ART tells the engine for its own purposes, and `vllm serve` is told in other words.
OF_ART = frozenset(
    [
        *("allowed_local_media_path", "api_key", "enable_auto_tool_choice"),
        *("enable_lora", "enable_sleep_mode", "gpu_memory_utilization", "host"),
        *("lora_modules", "lora_target_modules", "max_loras", "model", "port"),
        *("return_tokens_as_token_ids", "served_model_name"),
    ]
)


def print_usage(
    model: art.TrainableModel[Any, Any], options: Options | None = None
) -> None:
    """Print how to call the checkpoint that did best in validation, else the latest.

    A local run's engine ends with it: of a checkpoint on disk it says how to serve it, with
    the parsers and limits that the run had. ``options``: the train module's ``MODEL``.
    """
    best = best_step(model)
    folder = folder_of(model)
    step = max(checkpoints_in(folder), default=0) if best is None else best
    # As ART's LocalBackend names them: of one that updates weights in place it tells no step.
    local = bool(checkpoints_in(folder))
    name = f"{model.name}@{step}" if local else model.get_inference_name(best)
    which = "best in validation"
    if best == imitated_in(folder):
        which = "best in validation, as it was before training"
    if best is None:
        which = "the latest, because nothing was validated"
        if validated_in(folder):  # by a judge that compares episodes with each other
            which = "the latest; `evaluate` compares checkpoints"
    print(f"\nTrained: {name} ({which})")
    checkpoint = (folder / "checkpoints" / f"{step:04d}").absolute()
    if checkpoint.is_dir():
        url = "http://localhost:8000/v1"
        print(f"  checkpoint: {checkpoint}")
        print(_serve(model, options or {}, f"{name}={checkpoint}"))
    elif "0.0.0.0" in (url := str(model.inference_base_url)):  # art's tinker backend
        print("  Tinker stores and serves its weights: `tinker checkpoint list`.")
        return
    body = json.dumps({"model": name, "messages": [{"role": "user", "content": "Hi"}]})
    print(f"  OpenAI(base_url={url!r}, api_key=...).chat.completions.create(")
    print(f"      model={name!r}, messages=[...])")
    print(f'  curl {url}/chat/completions -H "Authorization: Bearer $KEY" \\')
    print(f"      -H 'Content-Type: application/json' -d '{body}'")
    print(f"  Is it better than before? {_command()} evaluate --endpoint URL")


def _command() -> str:
    """Return the command that started this process: a module of a package, or a file."""
    spec = sys.modules["__main__"].__spec__
    if spec is None:
        return f"python {shlex.quote(sys.argv[0])}"
    return f"python -m {spec.name.removesuffix('.__main__')}"


def _serve(model: art.TrainableModel[Any, Any], options: Options, lora: str) -> str:
    """Return the `vllm serve` command of a checkpoint, as lines for a shell."""
    config: Any = model._internal_config or {}
    settings = server_settings(model.base_model, options) or {}
    server = {"tool_call_parser": DEFAULT_PARSER, **settings.get("server_args", {})}
    if arguments := config.get("chat_template_kwargs"):
        server["default_chat_template_kwargs"] = arguments
    given = {**config.get("engine_args", {}), **server}
    flags = [flag for name, value in given.items() for flag in _flag(name, value)]
    lines = [
        f"  vllm serve {model.base_model} --enable-lora --generation-config vllm",
        f"--lora-modules {shlex.quote(lora)}",
        " ".join(["--enable-auto-tool-choice", *flags]),
    ]
    return " \\\n      ".join(lines)


def _flag(name: str, value: Any) -> Iterator[str]:
    flag = f"--{name.replace('_', '-')}"
    if name in OF_ART or value is None:
        return
    if value is True:
        yield flag
    elif value is False:
        yield f"--no-{flag[2:]}"
    else:
        text = json.dumps(value) if isinstance(value, Mapping | list) else str(value)
        yield f"{flag} {shlex.quote(text)}"
