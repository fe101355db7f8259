"""Whether the installed ART takes what the module gives it in MODEL and TRAIN."""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.doctor.finding import Finding, Setup, failed, ok
from art_adapt.training.options import wrong_form, wrong_options


def check(setup: Setup) -> Iterator[Finding]:
    backend = str(setup.settings.get("BACKEND", "local"))
    settings = setup.settings
    wrong = [*wrong_form(settings), *wrong_options(settings, backend)]
    for said in wrong:
        yield failed("options", said, "see docs/art-options.md for each option")
    if not wrong:
        yield ok("options", "ART accepts all options in MODEL and TRAIN")
