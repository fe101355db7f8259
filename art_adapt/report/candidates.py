"""Says what speaks for and against each function that could run an episode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from art_adapt.entry_decision import near
from art_adapt.paths import at
from art_adapt.survey.candidates.weights import reasons, score_of
from art_adapt.survey.model import EntryPoint

MOST_EXPLAINED = 8


def explained(entries: Sequence[EntryPoint]) -> Iterator[str]:
    """Yield lines about the likeliest candidates, each with what its score consists of."""
    for number, entry in enumerate(entries[:MOST_EXPLAINED], 1):
        yield f"{number}. {entry.called}  {at(entry.place)}  {_signed(entry.score)}"
        yield from (
            f"   {_signed(w):>4}  {says}" for w, says in reasons(entry.features)
        )
        moved = entry.score - score_of(entry.features)
        if moved and entry.features:
            yield f"   {_signed(moved):>4}  what other candidates are to it: who uses whom"
        if not entry.features:
            yield "         no path to a policy call was found from it"
    if (more := len(entries) - MOST_EXPLAINED) > 0:
        yield f"and {more} more"
    if entries and (rivals := near(entries[0], entries[1:])):
        names = ", ".join(each.called for each in rivals)
        yield f"Nearly as likely as {entries[0].called}: {names}. Choose with --entry."


def _signed(number: int) -> str:
    return f"{number:+d}"
