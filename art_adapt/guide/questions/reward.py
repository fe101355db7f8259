"""What an episode is rewarded by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from art_adapt.guide.question import Choice, Question, Situation
from art_adapt.guide.sources import Rows, Scoring, rows_for, scoring_functions
from art_adapt.paths import at
from art_adapt.recipe.fields import scenario_fields
from art_adapt.reward_function import check_reward
from art_adapt.survey.model import EntryPoint

ORDER = 50
RULER = (
    "RULER shows a judge model the episodes of a scenario side by side, and takes its "
    "scores from 0 to 1. A check in code is better if code can tell what is right."
)
SHOWN = 6


def questions(situation: Situation) -> Iterator[Question]:
    entry = situation.entry
    if situation.is_known("reward", "ruler_weight") or entry is None:
        return
    if situation.agent_rewards:
        return  # it is computed by the agent, which the summary says
    found = scoring_functions(entry, situation.files)
    rows = _rows(situation, entry)
    # Those first that the rows have all keys for.
    ready = sorted((e for e in found if e.name), key=lambda e: bool(_lacks(e, rows)))
    ready = ready[:SHOWN]
    choices = [
        *(
            Choice(
                f"{each.name}  {at(each.place)}",
                {"reward": each.name},
                _lacks(each, rows) or each.signature,
            )
            for each in ready
        ),
        Choice(
            "RULER: a judge model compares episodes",
            {"reward": None},
            "needs no labels",
        ),
        *(
            Choice(
                f"both, half and half: RULER and {each.name}",
                {"reward": each.name, "ruler_weight": 0.5},
                _lacks(each, rows),
            )
            for each in ready[:2]
        ),
    ]
    why = RULER
    if rows is not None and rows.expected:
        why += (
            f" Your rows have their answers in {rows.expected}: a function that compares them is such a "
            "check (docs/rewards.md)."
        )
    if others := [each for each in found if not each.name][:3]:
        listed = "".join(f"\n  {at(each.place)}  {each.signature}" for each in others)
        why += (
            "\nThese score as well. To use one, write a function (trajectory, scenario) "
            f"around it:{listed}"
        )
    yield Question(
        "What rewards an episode?",
        tuple(choices),
        why,
        typed=("reward",),
        example="module:function, which takes a trajectory and a scenario",
        meant=lambda typed: _checked(typed, entry.home),
        open=bool(ready),  # somebody has written them for this
        of_agent=True,
    )


def _rows(situation: Situation, entry: EntryPoint) -> Rows | None:
    """Return the rows that were chosen, if they are there already."""
    fields = tuple(field.name for field in scenario_fields(entry))
    chosen = situation.options.scenarios
    found = rows_for(fields, entry, situation.files)
    return next((each for each in found if each.source == chosen), None)


def _lacks(scoring: Scoring, rows: Rows | None) -> str:
    """Say which keys a function reads that the rows do not have; "" for none."""
    if rows is None or not (lacking := scoring.reads - rows.example.keys()):
        return ""
    return f"reads {' and '.join(sorted(lacking))}, which your rows do not have yet"


def _checked(typed: Mapping[str, Any], agent: Path) -> Mapping[str, Any]:
    check_reward(typed["reward"], agent)
    return typed
