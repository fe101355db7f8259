"""Run one episode under set conditions, before and after the steps of a rehearsal.

Before and after them with a model whose replies are those of the run that the scenario comes
from, or depend on the request alone, which shows whether an episode asks what the run asked, and
begins as if it were the first; once with a model that calls tools for as long as they are
offered, which shows where an episode ends that its model would not end; and once with a model
that refuses, which shows what the code answers by itself.
"""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from art_adapt.capture.rows import CAPTURED
from art_adapt.rehearsal.observed import OPENING, Observed, failure_of, plain_scenario
from art_adapt.rehearsal.protocol import LONGEST as MOST_KEPT
from art_adapt.rehearsal.protocol import Refused, Repeat
from art_adapt.rehearsal.replies import REFUSAL

SAME, SAME_AGAIN, UNENDING = "same", "same again", "unending"
# As the first two, with the last row that comes from a run.
LATER, LATER_AGAIN = "later", "later again"
REFUSING = "refusing"
JUDGED = "judged"  # what the reward function asks of an episode of these
# Of each of the last two; after these the model stops by itself, or the server answers 400.
MOST_REQUESTS = 60
LONGEST = 10.0  # seconds for each
LONGEST_REPLAY = 60.0  # seconds, of a run that took long
MOST_ROWS = 20  # that are looked at for a run to replay


async def begin(model: Any, seen: Observed, url: str) -> None:
    """Run episodes of the first and of a later row before all others; see ``repeat``."""
    await _run([SAME, LATER], model, seen, url)


async def repeat(model: Any, seen: Observed, url: str) -> None:
    """Run them again, with a model that never stops and one that refuses; note how each ended.

    ``model`` is registered; ``url`` is the scripted model's. A train module without
    ``rollout(model, scenario)`` has nothing to run.
    """
    await _run([SAME_AGAIN, LATER_AGAIN, UNENDING, REFUSING], model, seen, url)


async def _run(phases: list[str], model: Any, seen: Observed, url: str) -> None:
    """Run the episode in these phases; a recorder refuses what one still asks after its time."""
    rollout = getattr(seen.module, "rollout", None)
    if rollout is None or not seen.scenarios or seen.notes.pipeline:
        return
    seen.collect()
    seen.repeating = True
    for phase in phases:
        begun = _begun(phase, seen.scenarios, url)
        if begun is None:
            continue
        scenario, is_replayed = begun
        replayed = plain_scenario(scenario) if is_replayed else None
        ended = Repeat(phase, is_late=True, replayed=replayed)
        with suppress(Exception):  # a failure is what the steps show
            run = rollout(model, scenario)
            with suppress(TimeoutError):
                trajectory = await asyncio.wait_for(run, _longest(replayed))
                failure = failure_of(trajectory)
                ended = replace(
                    ended,
                    is_late=False,
                    failure=failure,
                    answer=_answer(trajectory),
                    reward=trajectory.reward,
                )
                if phase == REFUSING and failure is None:
                    seen.notes = replace(seen.notes, refused=_refused(trajectory))
            seen.notes = replace(seen.notes, repeated=(*seen.notes.repeated, ended))
    tell(url, "phase", {"phase": ""})
    seen.collect()
    seen.repeating = False


def _begun(phase: str, scenarios: Sequence[Any], url: str) -> tuple[Any, bool] | None:
    """Tell the server of a phase; return its scenario, and whether its run is replayed there.

    None: no other row than the first comes from a run.
    """
    rows = scenarios[:MOST_ROWS]
    of_phase = {
        SAME: rows,
        SAME_AGAIN: rows,
        LATER: rows[:0:-1],
        LATER_AGAIN: rows[:0:-1],
    }
    for scenario in of_phase.get(phase, ()):
        told = {"phase": phase, "scenario": plain_scenario(scenario)}
        if tell(url, "phase", told)["replays"]:
            return scenario, True
    if phase in (LATER, LATER_AGAIN):
        return None
    tell(url, "phase", {"phase": phase})
    return scenarios[0], False


def _longest(replayed: Any) -> float:
    """Return the seconds for an episode: for a replayed one, twice those of its run."""
    took = (replayed or {}).get(CAPTURED, {}).get("seconds") or 0.0
    return min(max(LONGEST, 2 * took), LONGEST_REPLAY)


def _answer(trajectory: Any) -> str | None:
    answer = getattr(trajectory, "final_answer", None)
    return answer[:OPENING] if isinstance(answer, str) else None


def _refused(trajectory: Any) -> Refused:
    answer = getattr(trajectory, "final_answer", None)
    text = answer if isinstance(answer, str) else repr(answer)
    is_own = bool(answer) and REFUSAL.casefold() not in text.casefold()
    return Refused(trajectory.reward, text[:MOST_KEPT], is_own=is_own)


def tell(url: str, path: str, content: Any) -> Any:
    """Post ``content`` to the scripted model's server, whose base URL is ``url``; return its answer."""
    asked = urllib.request.Request(
        f"{url.removesuffix('/v1')}/{path}", json.dumps(content, default=repr).encode()
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(asked) as answer:
        return json.load(answer)
