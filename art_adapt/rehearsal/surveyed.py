"""Survey the agent of a train module, once for all that asks."""

from __future__ import annotations

import functools
from contextlib import suppress
from pathlib import Path

from art_adapt.code.nodes import last_name
from art_adapt.code.syntax import Syntax
from art_adapt.errors import Refusal
from art_adapt.source import Source, read_source
from art_adapt.survey.model import Survey
from art_adapt.survey.survey import survey

RECORDED = "RecordedRequest"  # of training


def agent_of(train_module: Path) -> Source | None:
    """Return the agent that a train module runs; None if it runs none, or something else.

    The model alone answers recorded requests: ``class Scenario(training.RecordedRequest)``.
    """
    agent = train_module.with_name(f"{train_module.stem.removesuffix('_train')}.py")
    with suppress(Refusal):  # whoever runs it will see what is wrong with it
        scenario = Syntax.of(read_source(train_module)).classes.get("Scenario")
        if scenario is not None and RECORDED in map(last_name, scenario.bases):
            return None
    with suppress(Refusal):
        return read_source(agent)
    return None


def surveyed(train_module: Path) -> Survey | None:
    """Return the survey of a train module's agent; None where the module runs something else."""
    agent = agent_of(train_module)
    return None if agent is None else _survey(agent)


@functools.lru_cache(maxsize=1)
def _survey(agent: Source) -> Survey:
    return survey([agent])
