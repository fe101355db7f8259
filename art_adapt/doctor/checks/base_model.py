"""Whether anybody but its maker can train the model."""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.closed_models import CLOSED_REMEDY, is_closed
from art_adapt.doctor.finding import Finding, Setup, failed


def check(setup: Setup) -> Iterator[Finding]:
    model = str(setup.settings["BASE_MODEL"])
    if is_closed(model):
        what = f"{model} cannot be trained: only its maker has its weights"
        yield failed("base model", what, CLOSED_REMEDY)
