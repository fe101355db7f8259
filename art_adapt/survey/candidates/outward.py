"""Goes outward from LLM helpers, file by file, to the function that drives the conversation."""

from __future__ import annotations

from art_adapt.code.callers import files_that_use
from art_adapt.survey.candidates.found import Found
from art_adapt.survey.candidates.handed import is_handed_objects, takes_anything
from art_adapt.survey.candidates.helper_users import (
    rivals_for,
    user_first,
    without_unused,
)
from art_adapt.survey.candidates.llm_helpers import (
    drivers,
    helpers_of,
    is_handed_all,
    is_helper,
    is_told_before,
)
from art_adapt.survey.candidates.ranking import put_behind

OUTWARD = 5  # how many calls outward from an LLM helper


def outward(found: Found) -> Found:
    """Go outward from LLM helpers to the function that drives the conversation.

    Where no file of the project has one, nor one that takes a task which no candidate
    took or that leads to them, the helpers stay what was found; but where several lead
    to them that are equally likely, the user has to say which.
    """
    best = wider = found
    handed: Found | None = None  # what leads further, and is handed all that it asks
    for _ in range(OUTWARD):
        helpers = helpers_of(wider)
        if not helpers:
            break
        more = wider.wider(files_that_use(wider.project, helpers))
        if more is None:
            break
        wider = without_unused(more)
        if (further := _further(found, wider)) is None:
            best = rivals_for(found, wider) or best
        elif is_handed_objects(wider.project, further.entry_points[0]):
            continue  # nor could an episode give it those
        elif is_handed_all(further, further.entry_points[0]):
            handed = handed or further
        else:
            best = further
    if best is found and handed is not None and not drivers(found):
        return handed
    return best


def _further(found: Found, wider: Found) -> Found | None:
    """Return what more files show, if it leads further than the helpers that were found."""
    first = found.entry_points[0]
    takes_a_task = is_told_before(first) and takes_anything(wider.entry_points[0])
    # What nobody uses is no better than what takes nothing.
    is_behind = any(
        e.key == first.key and e.score < first.score for e in wider.entry_points
    )
    unused = is_behind and not (
        wider.graph.callers(first.key) or is_helper(found, first)
    )
    driven = bool(drivers(wider)) and not is_told_before(wider.entry_points[0])
    leads = takes_a_task or driven or unused
    ahead = wider if leads else user_first(found, wider)
    if ahead is None:
        return None
    behind = [each for each in ahead.entry_points[1:] if each.key == first.key]
    return put_behind(ahead, behind, ahead.entry_points[0].score - 1)
