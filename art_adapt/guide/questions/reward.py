"""What an episode is rewarded by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from art_adapt.guide.question import Choice, Question, Situation
from art_adapt.guide.sources import scoring_functions
from art_adapt.paths import at
from art_adapt.reward_function import check_reward

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
    ready = [each for each in found if each.name][:SHOWN]
    choices = [
        Choice(
            "RULER: a judge model compares episodes",
            {"reward": None},
            "needs no labels",
        ),
        *(
            Choice(
                f"{each.name}  {at(each.place)}", {"reward": each.name}, each.signature
            )
            for each in ready
        ),
        *(
            Choice(
                f"both, half and half: RULER and {each.name}",
                {"reward": each.name, "ruler_weight": 0.5},
            )
            for each in ready[:2]
        ),
    ]
    why = RULER
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


def _checked(typed: Mapping[str, Any], agent: Path) -> Mapping[str, Any]:
    check_reward(typed["reward"], agent)
    return typed
