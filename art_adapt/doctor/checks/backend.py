"""Whether the backend can start: its imports, or its key."""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.backends import Backend
from art_adapt.doctor.finding import Finding, Setup, failed, ok
from art_adapt.training.models import (
    REMEDY,
    TINKER_REMEDY,
    missing_for_local,
    missing_for_tinker,
)


def check(setup: Setup) -> Iterator[Finding]:
    backend = setup.settings.get("BACKEND")
    if backend == Backend.SERVERLESS:
        yield ok("backend", "serverless: nothing but its key is needed here")
    elif backend == Backend.TINKER:
        if (missing := missing_for_tinker()) is not None:
            yield failed("backend", f"tinker cannot start: {missing}", TINKER_REMEDY)
        else:
            yield ok("backend", "what tinker imports can be imported")
    elif (missing := missing_for_local()) is not None:
        yield failed("backend", f"the local one cannot start: {missing}", REMEDY)
    else:
        yield ok("backend", "what the local one imports can be imported")
