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
            f"not known: whether {model} reads {given or LONGEST:,} tokens, as it is given",
            f"hf download {model} config.json, then ask again",
        )
    elif given is not None and given > known.value:
        yield failed(
            "context",
            f"{model} reads {known.value:,} tokens ({known.source}), and MODEL gives it {given:,}: "
            "vLLM refuses that after the download",
            f"max_model_len of at most {known.value} in engine_args of MODEL",
        )
    else:
        length = given or min(LONGEST, known.value)
        yield ok(
            "context", f"{length:,} of the {known.value:,} tokens of {known.source}"
        )
