"""Tells a train module that trains on recorded requests: the model alone answers them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from art_adapt.code.nodes import last_name
from art_adapt.code.syntax import Syntax
from art_adapt.errors import Refusal
from art_adapt.source import read_source

RECORDED = "RecordedRequest"  # of training


def trains_on_requests(train_module: Path) -> bool:
    """True if a module says ``class Scenario(training.RecordedRequest)``, and can be read."""
    with suppress(Refusal):  # whoever runs it will see what is wrong with it
        scenario = Syntax.of(read_source(train_module)).classes.get("Scenario")
        return scenario is not None and RECORDED in map(last_name, scenario.bases)
    return False
