"""Check the rewards: whether they differ, and whether each part of one is ever earned."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from art_adapt.paths import at
from art_adapt.rehearsal.figures import is_flat
from art_adapt.rehearsal.parts import REWARDS
from art_adapt.rehearsal.repeats import JUDGED, LATER, LATER_AGAIN, SAME, SAME_AGAIN
from art_adapt.rehearsal.seen import Finding, Seen, Witness
from art_adapt.reward_signs import PART, out_of_range
from art_adapt.source import Place

ENOUGH = 4  # episodes, to tell that it is no chance
SUPPLY = (
    ". If a right answer changes that, supply some with --replies; else look whether the reward reads "
    "what it should"
)


def rewards(seen: Seen) -> Iterator[Finding]:
    """Report rewards that do not differ within any group."""
    rewards = [t.reward for t in seen.trained]
    if not rewards:
        return
    if len(set(rewards)) == 1 and len(rewards) > 1:
        yield seen.finding(
            "reward",
            f"every episode got the reward {rewards[0]}: a group without variance "
            "teaches the model nothing",
            "make the reward depend on what the episode did; if only correct answers are "
            "rewarded, supply some with --replies",
            seen.agent.reward,
            *REWARDS,
        )
    elif all(map(is_flat, seen.groups)):
        yield seen.finding(
            "reward",
            "rewards differ between scenarios, but not within any group: GRPO compares the "
            "episodes of one scenario",
            "make the reward depend on what the episode did",
            seen.agent.reward,
            *REWARDS,
        )


def missed_metrics(seen: Seen) -> Iterator[Finding]:
    """Report metrics that the reward asks for and no episode has: it reads the default."""
    known = {name for t in seen.trained for name in t.metrics}
    missed = {name: (file, line) for t in seen.trained for name, file, line in t.missed}
    for name, (file, line) in missed.items():
        if name not in known:
            near = get_close_matches(name, known, 1)
            yield Finding(
                "reward",
                f"the reward reads the metric {name!r}, which none of {len(seen.trained)} "
                "episodes has: it gets the default each time",
                f"do you mean {near[0]!r}?"
                if near
                else f"set it in every episode, or read one of {', '.join(sorted(known))}",
                Path(file),
                line,
            )


def witnesses(seen: Seen) -> Iterator[Witness]:
    """Yield what of the reward no episode earned, and rewards that reach too far."""
    if said := out_of_range([each.reward for each in seen.trained]):
        yield Witness("rewards are roughly between 0 and 1", False, said)
    if len(seen.trained) >= ENOUGH and len({t.reward for t in seen.trained}) > 1:
        yield from _parts(seen)
        yield from _comparisons(seen)
    yield from _of_chance(seen)


def _of_chance(seen: Seen) -> Iterator[Witness]:
    """Yield that an episode gets the same reward when it is run again, with the same replies.

    What asks a judge may get another grade, and RULER sees no episode alone.
    """
    asks = any(each.phase == JUDGED for each in seen.repeats)
    if asks or seen.agent.reward is None:
        return
    for first, again in ((SAME, SAME_AGAIN), (LATER, LATER_AGAIN)):
        one, other = seen.notes.repeat(first), seen.notes.repeat(again)
        if one is None or other is None or not (one.is_well and other.is_well):
            continue
        if one.answer != other.answer or None in (one.reward, other.reward):
            continue
        yield Witness(
            "the same episode gets the same reward",
            one.reward == other.reward,
            f"an episode that was run twice, with the same answer, got the rewards {one.reward:g} and "
            f"{other.reward:g}: chance in a reward becomes a full-size advantage",
        )
        return


def _parts(seen: Seen) -> Iterator[Witness]:
    """Yield that each part of the reward differs between episodes."""
    every = [each.metrics for each in seen.trained]
    named = dict.fromkeys(name for metrics in every for name in metrics)
    names = [name for name in named if name.startswith(PART)]
    values = {name: {metrics.get(name) for metrics in every} for name in names}
    same = ", ".join(
        f"{name.removeprefix(PART)} ({next(iter(of)) or 0:g})"
        for name, of in values.items()
        if len(of) == 1
    )
    if names:
        yield Witness(
            "each part of the reward differs between episodes",
            not same,
            f"parts of the reward were the same in all {len(every)} episodes: {same}{SUPPLY}",
        )


def _comparisons(seen: Seen) -> Iterator[Witness]:
    """Yield that each comparison of the reward function held once."""
    came_out: dict[tuple[Place, str], list[bool]] = {}
    for each in seen.compared:
        where = Place(Path(each.path), each.line), each.text
        came_out.setdefault(where, []).append(each.held)
    never = ", ".join(
        f"{text} ({at(place)})"
        for (place, text), held in came_out.items()
        if len(held) >= ENOUGH and not any(held)
    )
    if came_out:
        yield Witness(
            "each comparison of the reward held in an episode",
            not never,
            f"comparisons of the reward held in no episode: {never}{SUPPLY}",
        )
