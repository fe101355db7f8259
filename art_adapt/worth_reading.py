"""Chooses the episodes of a step that people should read."""

from __future__ import annotations

import random
from collections.abc import Sequence


def worth_reading(rewards: Sequence[float], count: int) -> list[tuple[str, int]]:
    """Choose ``count`` of the best, of the worst and of the others at random, each once.

    Both hacks and faults of a reward are found by reading these. Returns what each is,
    and its index.
    """
    ranked = sorted(range(len(rewards)), key=lambda at: rewards[at])
    others = random.Random(0).sample(ranked, len(ranked))
    chosen: dict[int, str] = {}
    for title, order in (("best", ranked[::-1]), ("worst", ranked), ("other", others)):
        free = [at for at in order if at not in chosen]
        chosen |= dict.fromkeys(free[:count], title)
    return [(title, at) for at, title in chosen.items()]
