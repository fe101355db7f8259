"""Run one episode under set conditions, before and after the steps of a rehearsal.

Before and after them with a model whose replies depend on the request alone, which shows
whether an episode begins as if it were the first; once with a model that calls tools for as
long as they are offered, which shows where an episode ends that its model would not end; and
once with a model that refuses, which shows what the code answers by itself.
"""

from __future__ import annotations

import asyncio
import json
import urllib.request
from contextlib import suppress
from dataclasses import replace
from typing import Any

from art_adapt.rehearsal.observed import Observed, failure_of
from art_adapt.rehearsal.protocol import LONGEST as MOST_KEPT
from art_adapt.rehearsal.protocol import Refused
from art_adapt.rehearsal.replies import REFUSAL

SAME, SAME_AGAIN, UNENDING = "same", "same again", "unending"
REFUSING = "refusing"
# Of each of the last two; after these the model stops by itself, or the server answers 400.
MOST_REQUESTS = 60
LONGEST = 10.0  # seconds for each


async def begin(model: Any, seen: Observed, url: str) -> None:
    """Run the first scenario's episode before all others; see ``repeat``."""
    await _run([SAME], model, seen, url)


async def repeat(model: Any, seen: Observed, url: str) -> None:
    """Run it again, with a model that never stops and one that refuses; note what ended well in time.

    ``model`` is registered; ``url`` is the scripted model's. A train module without
    ``rollout(model, scenario)`` has nothing to run.
    """
    await _run([SAME_AGAIN, UNENDING, REFUSING], model, seen, url)


async def _run(phases: list[str], model: Any, seen: Observed, url: str) -> None:
    """Run the episode in these phases; a recorder refuses what one still asks after its time."""
    rollout = getattr(seen.module, "rollout", None)
    if rollout is None or not seen.scenarios or seen.notes.pipeline:
        return
    seen.repeating = True
    for phase in phases:
        tell(url, "phase", {"phase": phase})
        with suppress(Exception):  # a failure is what the steps show
            run = rollout(model, seen.scenarios[0])
            try:
                trajectory = await asyncio.wait_for(run, LONGEST)
            except TimeoutError:
                late = (*seen.notes.untried, phase)
                seen.notes = replace(seen.notes, untried=late)
                continue
            if trajectory.metrics.get("failed"):
                if phase == UNENDING:
                    seen.notes = replace(seen.notes, unended=failure_of(trajectory))
                continue
            seen.notes = replace(seen.notes, repeated=(*seen.notes.repeated, phase))
            if phase == REFUSING:
                seen.notes = replace(seen.notes, refused=_refused(trajectory))
    tell(url, "phase", {"phase": ""})
    seen.repeating = False


def _refused(trajectory: Any) -> Refused:
    answer = getattr(trajectory, "final_answer", None)
    text = answer if isinstance(answer, str) else repr(answer)
    is_own = bool(answer) and REFUSAL.casefold() not in text.casefold()
    return Refused(trajectory.reward, text[:MOST_KEPT], is_own=is_own)


def tell(url: str, path: str, content: Any) -> None:
    """Post ``content`` to the scripted model's server, whose base URL is ``url``."""
    asked = urllib.request.Request(
        f"{url.removesuffix('/v1')}/{path}", json.dumps(content).encode()
    )
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(asked)
