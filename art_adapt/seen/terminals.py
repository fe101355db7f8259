"""Tell from runs whether an episode reads what a person types."""

from __future__ import annotations

from dataclasses import replace

from art_adapt.seen.episodes import SeenFunction, is_of_test
from art_adapt.survey.model import EntryPoint, Survey, Terminal
from art_adapt.survey.side_effects.harm import Harm


def is_all_heard(survey: Survey, function: SeenFunction) -> bool:
    """True if runs of a function have noted whatever a person typed: by ``input()`` alone."""
    asks = survey.effects(Harm.ASKS)
    return all(each.what == "input()" for each in asks) and not _is_tried(function)


def as_typed(entry: EntryPoint, seen: SeenFunction) -> Terminal | None:
    """Return what an episode reads from a terminal; nothing is typed if no run was told any line.

    It may ask a person who plays in the place of the model, say.
    """
    terminal, runs = entry.terminal, [each.run for each in seen.calls]
    if terminal is None or not terminal.asks or any(r.typed or r.failed for r in runs):
        return terminal
    return replace(terminal, asks=False) if terminal.reads_arguments else None


def _is_tried(function: SeenFunction) -> bool:
    """True if tests were around calls of a function: they may type in a person's place."""
    return any(
        is_of_test(*call.key)
        for each in function.calls
        for call in each.run.outward(each.call.around)
    )
