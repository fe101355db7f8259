"""Weighs what speaks for and against a candidate: one table, which data chose.

``tests/corpus/fit_weights.py`` chooses the numbers on labelled agents and says how well
they do on agents that it left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from art_adapt.survey.candidates.candidate import Candidate
from art_adapt.survey.candidates.features import FEATURES

NEAR = 3  # how far apart scores are that say too little
WEIGHTS = {
    "named_file": 2,
    "run_name": 2,
    "private_name": -3,
    "takes_a_task": 2,
    "returns_something": 2,
    "yields": -2,
    "starts_or_tries": -5,
    "chats": 6,
    "relays_a_person": -8,
    "turn_of_a_chat": -16,
    "in_a_table": -10,
    "composes": 6,
    "only_sends": -8,
    "read_later": -8,
    "writes_first_messages": 5,
    "drives": 5,
    "drives_privately": 4,
    "asks_in_a_loop": 2,
    "runs_one_of_several": 8,
    "inside_a_recursion": -12,
    "started_itself": 1,
    "told_before": -8,
    "of_a_page": -8,
    "set_by_start": -16,
    "set_by_module": -16,
    "begun_before": -8,
    "handed_a_reply": -8,
    "handed_arguments": -8,
    "step_of_module": -8,
    "whole_part": -6,
    "part": -4,
    "only_relays": -4,
}


def features_of(candidate: Candidate) -> tuple[str, ...]:
    """Return the names of the features that hold, in the order of the table."""
    return tuple(each.name for each in FEATURES if each.holds(candidate))


def score_of(features: Iterable[str]) -> int:
    """Return how likely a candidate is; it means something beside other candidates only."""
    return sum(WEIGHTS[name] for name in features)


def reasons(features: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield what each feature counts, and what it says, the weightiest first."""
    says = {each.name: each.says for each in FEATURES}
    for name in sorted(features, key=lambda name: -abs(WEIGHTS[name])):
        yield WEIGHTS[name], says[name]
