"""Whether the backend can start: its imports, or its key."""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.doctor.finding import Finding, Setup, failed, ok
from art_adapt.training.models import REMEDY, missing_for_local


def check(setup: Setup) -> Iterator[Finding]:
    if not setup.is_local:
        yield ok("backend", "serverless: nothing but its key is needed here")
    elif (missing := missing_for_local()) is not None:
        yield failed("backend", f"the local one cannot start: {missing}", REMEDY)
    else:
        yield ok("backend", "what the local one imports can be imported")
