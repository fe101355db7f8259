"""Find what runs an episode whose objects no row can hold: the function that makes and fills them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from art_adapt.recipe.fields import TYPED, scenario_fields, to_fill_in
from art_adapt.seen.choice import key_of
from art_adapt.seen.decision import Seen
from art_adapt.seen.episodes import Enclosing, SeenFunction, seen_functions
from art_adapt.seen.notes import Call, Json
from art_adapt.survey.model import Survey


def around_untold(seen: Seen, found: Survey) -> SeenFunction | None:
    """Return the function around an episode that takes plain values, where a row would lack some.

    A case's store is opened and filled before the agent looks into it: the run shows no value of
    which a row could make it again. What did so asked the same, and was given what a row holds.
    None where rows have all that an episode needs.
    """
    function = seen.function
    if function is None:
        return None
    entry = next((e for e in found.entry_points if key_of(e) == function.key), None)
    told = set(_told(function))
    if entry is None:
        return None
    lacking = [
        each
        for each in scenario_fields(entry)
        if each.default is None
        and each.name not in TYPED
        and told.isdisjoint((each.name, each.of))
    ]
    # A record is built of its fields, because no call of the project's could be copied.
    unmade = [e.name for e in entry.parameters if e.made is None or e.is_record]
    is_filled = any(_is_filled(each, unmade) for each in function.calls)
    # A program that makes the rest is started where no function around it is told plain values.
    if not (lacking or is_filled or to_fill_in(replace(entry, program=None))):
        return None
    around = [
        each
        for each in seen_functions(seen.runs)
        if each.depth < function.depth
        and each.asked == function.asked
        and all(_is_plain(call.call) for call in each.calls)
    ]
    return max(around, key=lambda each: each.depth, default=None)


def _is_plain(call: Call) -> bool:
    """True if a call was given something, and nothing that a row cannot hold."""
    return bool(call.given) and all("value" in note for note in call.given.values())


def _is_filled(asked: Enclosing, unmade: Sequence[str]) -> bool:
    """True if a call was given an object that had been told something since it was made.

    ``unmade``: the parameters of which reading does not know how the project makes and fills them.
    """
    call, objects = asked.call, asked.run.objects
    given = [call.given[name] for name in unmade if name in call.given]
    return any(
        bool(each.given) and each.began < call.began
        for made in (objects.get(note.get("object", 0)) for note in given)
        if made is not None
        for each in made.calls
    )


def _told(function: SeenFunction) -> Iterator[str]:
    """Yield the names of what runs gave a function, its object and the parts of both."""
    for each in function.calls:
        owner = each.run.owner(each.call)
        made = [] if owner is None else [owner.init, *owner.calls, *owner.returned]
        for call in (each.call, *made):
            for name, note in () if call is None else call.given.items():
                yield name
                yield from _parts(note)


def _parts(note: Json) -> Iterator[str]:
    for held in (note.get("parts"), note.get("value")):
        if isinstance(held, dict):
            yield from held
