"""Puts what uses an LLM helper before it, and says which of several users are alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from art_adapt.survey.candidates.found import Found
from art_adapt.survey.candidates.handed import is_handed_a_prompt, takes_anything
from art_adapt.survey.candidates.llm_helpers import (
    asks_once,
    drivers,
    helpers_of,
    is_handed_all,
    is_helper,
)
from art_adapt.survey.candidates.ranking import put_behind, with_rivals
from art_adapt.survey.model import EntryPoint


def drivers_first(found: Found) -> Found:
    """Put what drives a conversation before a helper that leads to none of it."""
    if not found.entry_points or not is_helper(found, found.entry_points[0]):
        return found
    driving = drivers(found)
    leading = found.graph.reaching(each.key for each in driving)
    if not driving or found.entry_points[0].key in leading:
        return found
    first, *rest = driving
    others = [each for each in found.entry_points if each not in driving]
    rivals = _likelier_users(found, first, others)
    if len({each.place.path for each in driving}) > 1:  # agents of one provider
        parts = found.graph.run_by([first.key])
        rivals += [each for each in rest if each.key not in parts]
    ordered = replace(found, entry_points=(*driving, *others))
    return with_rivals(ordered, rivals)


def tied(found: Found) -> Found:
    """Give the users of one LLM helper the same score, where several are alike.

    The user named the helper's file only. Of users in other files that all drive a loop,
    or none of which does, no reader could tell from there which is the agent.
    """
    if not found.entry_points:
        return found
    first, *others = found.entry_points
    given = found.project.given
    named = {key for key in found.reaching if key[0] in given}
    if first.place.path in given or first.key not in found.graph.reaching(named):
        return found
    drives = found.asking.drives(*found.function_of(first))
    related = found.related(first)
    rivals = [
        each
        for each in others
        if each.place.path not in (*given, first.place.path)
        and each.key not in related
        and found.asking.drives(*found.function_of(each)) >= drives
        and not is_helper(found, each)
        and not is_handed_all(found, each)
    ]
    return with_rivals(found, rivals)


def without_unused(found: Found) -> Found:
    """Put a function that asks once, and that nobody uses, behind those that others use.

    That is ``quick_chat(prompt)`` beside a method that the project's other files call.
    """
    used = {
        path
        for path, name in found.reaching
        for where, _ in found.graph.callers((path, name))
        if where != path and (path, name) in found.reaching
    }
    unused = [
        each
        for each in found.entry_points
        if each.place.path in used
        and not found.graph.callers(each.key)
        and asks_once(found, each)
    ]
    if not unused or len(unused) == len(found.entry_points):
        return found
    last = min(each.score for each in found.entry_points)
    return put_behind(found, unused, last - 1)


def user_first(narrow: Found, wide: Found) -> Found | None:
    """Put the candidate of all files first that uses a helper of fewer files, if one does.

    Others that seemed as likely come behind it.
    """
    users = _users(narrow, wide)
    return _ahead(wide, users) if len(users) == 1 else None


def rivals_for(narrow: Found, wide: Found) -> Found | None:
    """Put the candidates first that use a helper, where several do and are equally likely."""
    users = _users(narrow, wide)
    if len(users) < 2 or narrow.entry_points[0].key not in helpers_of(narrow):
        return None
    ahead = _ahead(wide, users)
    return with_rivals(ahead, [e for e in users if e.key != ahead.entry_points[0].key])


def _likelier_users(
    found: Found, driver: EntryPoint, others: Sequence[EntryPoint]
) -> list[EntryPoint]:
    """Return the candidates that use an LLM helper as well, and are likelier than its driver.

    What runs the driver, or is run by it, is none.
    """
    related = found.related(driver)
    return [
        each
        for each in others
        if each.score > driver.score
        and each.key not in related
        and _uses_helper(found, found, each)
    ]


def _users(narrow: Found, wide: Found) -> list[EntryPoint]:
    first = narrow.entry_points[0]
    known = [each.key for each in narrow.entry_points if each.score == first.score]
    parts = wide.graph.run_by(known)  # of helpers that are as likely
    using = (each for each in _likeliest(wide) if _uses_helper(narrow, wide, each))
    return list({each.key: each for each in using if each.key not in parts}.values())


def _likeliest(found: Found) -> list[EntryPoint]:
    """Return the likeliest candidates that are no helpers; what implements one interface is alike.

    An implementation that others are run by is none of them: an orchestrator may be an
    agent itself.
    """
    whole = (e for e in found.entry_points if e.score > 0 and not is_helper(found, e))
    first = next(whole, found.entry_points[0])
    related = found.related(first)
    return [
        each
        for each in found.entry_points
        if each.score == first.score
        or (
            each.implements is not None
            and each.implements == first.implements
            and each.key not in related
        )
    ]


def _ahead(found: Found, users: Sequence[EntryPoint]) -> Found:
    """Put candidates before all that are likelier or as likely."""
    others = [each for each in found.entry_points if each not in users]
    return put_behind(found, others, max(each.score for each in users) - 1)


def _uses_helper(narrow: Found, wide: Found, entry: EntryPoint) -> bool:
    """True if a candidate has a task, and asks by the helpers of fewer files."""
    helper = narrow.entry_points[0]
    leading = wide.graph.reaching([helper.key, *helpers_of(narrow)])
    over_data = wide.asking.asks_for_each(*wide.function_of(entry))
    only_hands_on = is_helper(wide, entry) or is_handed_a_prompt(entry)
    return (
        entry.key in leading
        and (takes_anything(entry) or entry.decorated)
        and not over_data
        and not only_hands_on
    )
