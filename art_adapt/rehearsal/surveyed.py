"""Survey the agent of a train module, once for all that asks."""

from __future__ import annotations

import functools
from pathlib import Path

from art_adapt.errors import Refusal
from art_adapt.source import Source, read_source
from art_adapt.survey.model import Survey
from art_adapt.survey.survey import survey


def surveyed(train_module: Path) -> Survey | None:
    """Return the survey of a train module's agent; None where the module runs something else."""
    agent = train_module.with_name(f"{train_module.stem.removesuffix('_train')}.py")
    try:
        return _survey(read_source(agent))
    except Refusal:
        return None


@functools.lru_cache(maxsize=1)
def _survey(agent: Source) -> Survey:
    return survey([agent])
