"""Which parser vLLM reads the model's tool calls with, and whether the model thinks."""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.closed_models import is_closed
from art_adapt.conversation_signs import REASONING_PARSER, TOOL_PARSER
from art_adapt.doctor.finding import Finding, Setup, note, ok
from art_adapt.training.base_models import parser_of, thinks
from art_adapt.training.models import DEFAULT_PARSER


def check(setup: Setup) -> Iterator[Finding]:
    model = str(setup.settings["BASE_MODEL"])
    if not setup.is_local or is_closed(model):
        return
    yield _parser(model)
    thinking = thinks(model)
    if thinking is not None and thinking.value:
        yield note(
            "thinking",
            f"{model} may think ({thinking.source}): without a reasoning parser, its answers "
            "contain <think>",
            f"set {REASONING_PARSER}, or train a model that does not think",
        )


def _parser(model: str) -> Finding:
    known = parser_of(model)
    if known is None:
        return note(
            "parser",
            f"unknown whether {DEFAULT_PARSER}, ART's default, reads the tool calls of {model}",
            f"run hf download {model} tokenizer_config.json chat_template.jinja, then run doctor again; or set "
            + TOOL_PARSER,
        )
    return ok(
        "parser", f"{known.value} reads the tool calls of {model} ({known.source})"
    )
