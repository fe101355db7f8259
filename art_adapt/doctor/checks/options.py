"""Whether the installed ART takes what the module gives it in MODEL and TRAIN."""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.doctor.finding import Finding, Setup, failed, ok
from art_adapt.training.options import wrong_options


def check(setup: Setup) -> Iterator[Finding]:
    backend = str(setup.settings.get("BACKEND", "local"))
    wrong = list(wrong_options(setup.settings, backend))
    for said in wrong:
        yield failed("options", said, "docs: ART's options, each with what it does")
    if not wrong:
        yield ok("options", "ART takes all of MODEL and TRAIN")
