"""Which parser vLLM reads the model's tool calls with."""

from __future__ import annotations

import re
from collections.abc import Iterator

from art_adapt.doctor.finding import Finding, Setup, note, ok
from art_adapt.training.models import DEFAULT_PARSER, tool_parser


def check(setup: Setup) -> Iterator[Finding]:
    if not setup.is_local:
        return
    model = str(setup.settings["BASE_MODEL"])
    parser = tool_parser(model)
    if parser is None and not re.search("qwen|hermes", model, re.IGNORECASE):
        what = f"{DEFAULT_PARSER}, ART's default: {model} may write its tool calls otherwise"
        yield note("parser", what, "look at vLLM's list of tool parsers")
    else:
        yield ok(
            "parser", f"{parser or DEFAULT_PARSER} reads the tool calls of {model}"
        )
