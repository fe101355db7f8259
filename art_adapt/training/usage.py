"""Says at the end of a run where its best checkpoint is, and how to serve and call it."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

import art

from art_adapt.training.checkpoints import folder_of
from art_adapt.training.models import DEFAULT_PARSER, tool_parser
from art_adapt.training.progress import best_step


def print_usage(model: art.TrainableModel[Any, Any]) -> None:
    """Print how to call the checkpoint that did best in validation, else the latest.

    A local run's engine ends with it: of a checkpoint on disk it says how to serve it.
    """
    best = best_step(model)
    name = model.get_inference_name(best)
    which = (
        "nothing was validated: the latest" if best is None else "best in validation"
    )
    print(f"\nTrained: {name} ({which})")
    step = re.search(r"@(\d+)$", name)  # as ART's LocalBackend names them
    number = int(step[1]) if step else 0
    checkpoint = (folder_of(model) / "checkpoints" / f"{number:04d}").absolute()
    url = str(model.inference_base_url)
    if checkpoint.is_dir():
        url = "http://localhost:8000/v1"
        parser = tool_parser(model.base_model) or DEFAULT_PARSER
        config: Any = model._internal_config or {}
        engine = config.get("engine_args", {})
        limits = [
            f" --{name.replace('_', '-')} {engine[name]}"
            for name in ("max_model_len", "max_lora_rank")
            if name in engine
        ]
        print(f"  checkpoint: {checkpoint}")
        print(f"  vllm serve {model.base_model} --enable-lora{''.join(limits)} \\")
        print(f"      --lora-modules {shlex.quote(f'{name}={checkpoint}')} \\")
        print(f"      --enable-auto-tool-choice --tool-call-parser {parser}")
    body = json.dumps({"model": name, "messages": [{"role": "user", "content": "Hi"}]})
    print(f"  OpenAI(base_url={url!r}, api_key=...).chat.completions.create(")
    print(f"      model={name!r}, messages=[...])")
    print(f'  curl {url}/chat/completions -H "Authorization: Bearer $KEY" \\')
    print(f"      -H 'Content-Type: application/json' -d '{body}'")
