"""Tells whether an episode is one turn of a conversation that outlives it."""

from __future__ import annotations

from art_adapt.survey.calls.going_on import asks_one_turn, kept_lists
from art_adapt.survey.candidates.found import Found
from art_adapt.survey.model import EntryPoint


def is_one_turn(found: Found, entry: EntryPoint) -> bool:
    """True if an episode is the first turn of a conversation that the agent's object keeps."""
    if entry.class_name is None:
        return False
    asking = found.asking.sites.union(found.asking.completions)
    inside = [key for key in found.own(entry.key) if key in found.reaching]
    syntax = found.project.files[entry.key[0]]
    kept = kept_lists(syntax, entry.key[1].rpartition(".")[0], asking)
    begun = {
        where
        for name in kept
        for where, _ in syntax.assignments.get(name, ())
        if not where.endswith("__init__")
    }
    return (
        begun.isdisjoint(name for _, name in found.own(entry.key))
        and not any(
            key in found.graph.run_by(found.graph.certain.get(key, ()))
            for key in inside
        )
        and all(
            asks_one_turn(
                found.project.files[where], method, asking, found.asking.growing
            )
            for where, method in inside
        )
    )
