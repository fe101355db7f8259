"""Whether the base model reads contexts as long as it is given."""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.doctor.finding import Finding, Setup, failed, note, ok
from art_adapt.training.base_models import context_of
from art_adapt.training.models import LONGEST


def check(setup: Setup) -> Iterator[Finding]:
    if not setup.is_local:
        return
    model = str(setup.settings["BASE_MODEL"])
    given = setup.engine.get("max_model_len")
    known = context_of(model)
    if known is None:
        yield note(
            "context",
            f"unknown whether {model} can read {given or LONGEST:,} tokens, the context length it gets",
            f"run hf download {model} config.json, then run doctor again",
        )
    elif given is not None and given > known.value:
        yield failed(
            "context",
            f"{model} reads {known.value:,} tokens ({known.source}), but MODEL sets {given:,}: "
            "vLLM would reject that after the download",
            f"set max_model_len to at most {known.value} in engine_args of MODEL",
        )
    else:
        length = given or min(LONGEST, known.value)
        yield ok(
            "context", f"{length:,} of the {known.value:,} tokens of {known.source}"
        )
