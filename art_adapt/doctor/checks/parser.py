"""Which parser vLLM reads the model's tool calls with."""

from __future__ import annotations

import re
from collections.abc import Iterator

from art_adapt.doctor.finding import Finding, Setup, note, ok
from art_adapt.training.models import server_settings


def check(setup: Setup) -> Iterator[Finding]:
    if not setup.is_local:
        return
    model = str(setup.settings["BASE_MODEL"])
    settings = server_settings(model) or {"server_args": {}}
    parser = settings["server_args"].get("tool_call_parser")
    if parser is None and not re.search("qwen|hermes", model, re.IGNORECASE):
        what = f"hermes, ART's default: {model} may write its tool calls otherwise"
        yield note("parser", what, "look at vLLM's list of tool parsers")
    else:
        yield ok("parser", f"{parser or 'hermes'} reads the tool calls of {model}")
