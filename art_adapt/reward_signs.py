"""Say what a run and a rehearsal both read of rewards: their parts, and how far they reach."""

from __future__ import annotations

from collections.abc import Collection

PART = "reward_"  # begins the metric of each part of a reward
# In an episode's logs, before the name and where it was asked for.
NO_METRIC = "the reward asked for a metric that this episode does not have: "
LARGE = 10.0  # a reward that is hardly meant as one


def out_of_range(rewards: Collection[float]) -> str:
    """Return a sentence if one of these rewards is large; "" if none is."""
    if max(map(abs, rewards), default=0.0) <= LARGE:
        return ""
    return (
        f"rewards range from {min(rewards):g} to {max(rewards):g}: an outlier dominates its "
        "group, so keep rewards roughly between 0 and 1"
    )
