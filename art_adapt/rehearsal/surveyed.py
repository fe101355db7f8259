"""Survey the agent of a train module, once for all that asks."""

from __future__ import annotations

import functools
from contextlib import suppress
from pathlib import Path

from art_adapt.answers import decided_before
from art_adapt.decisions import said_in
from art_adapt.errors import Refusal
from art_adapt.recorded_requests import trains_on_requests
from art_adapt.source import Source, read_source
from art_adapt.survey.model import Survey
from art_adapt.survey.survey import survey


def agent_of(train_module: Path) -> Source | None:
    """Return the agent that a train module runs; None if it runs none, or something else."""
    agent = train_module.with_name(f"{train_module.stem.removesuffix('_train')}.py")
    if trains_on_requests(train_module):
        return None
    with suppress(Refusal):
        return read_source(agent)
    return None


def surveyed(train_module: Path) -> Survey | None:
    """Return the survey of a train module's agent, as the module was decided.

    None where the module runs something else.
    """
    agent = agent_of(train_module)
    return None if agent is None else _survey(agent)


@functools.lru_cache(maxsize=1)
def _survey(agent: Source) -> Survey:
    options = decided_before(agent.path)
    return survey([agent], entry=options.entry, said=said_in(options))
