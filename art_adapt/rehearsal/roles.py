"""Tell the roles apart that an episode trains: a player's and an overseer's, say.

Requests are one role's if their conversations begin with the same text, or if the same functions
wait for them: an agent may write its state into its prompt, and several functions may go on with
one conversation. Two texts that both come again in one episode are two roles, as a buyer's and a
seller's, also where one function asks for both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, takewhile

from art_adapt.rehearsal.protocol import Opened
from art_adapt.rehearsal.seen import Seen


@dataclass(frozen=True)
class Role:
    """Requests of one role: who asks, how they begin most often, how many an episode makes."""

    function: str
    opening: str
    requests: float


Apart = frozenset[frozenset[str]]  # pairs of openings that are two roles


@dataclass
class _Group:
    """The requests of one role, while they are gathered."""

    openings: Counter[str] = field(default_factory=Counter)
    functions: set[tuple[str, ...]] = field(default_factory=set)

    def is_apart(self, text: str, apart: Apart) -> bool:
        return any(frozenset((text, each)) in apart for each in self.openings)

    def likeness(self, text: str) -> int:
        """Return how many characters a text begins with in common with one of its openings."""
        alike = (
            takewhile(lambda at: len({*at}) == 1, zip(text, each, strict=False))
            for each in self.openings
        )
        return max(sum(1 for _ in same) for same in alike)


def roles(seen: Seen) -> tuple[Role, ...]:
    """Return the roles that episodes train, the most frequent first; none if each has only one."""
    rollouts = [each.opened for each in seen.notes.rollouts]
    groups = _grouped([asked for each in rollouts for asked in each], _apart(rollouts))
    several = any(
        sum(any(asked.text in group.openings for asked in each) for group in groups) > 1
        for each in rollouts
    )
    found = _named(groups, len(rollouts)) if several else ()
    return tuple(sorted(found, key=lambda role: -role.requests))


def _apart(rollouts: Sequence[Sequence[Opened]]) -> Apart:
    """Return the pairs of openings that each come again in one rollout."""
    found: set[frozenset[str]] = set()
    for rollout in rollouts:
        counts = Counter(asked.text for asked in rollout)
        again = [text for text, count in counts.items() if count > 1]
        found |= {frozenset(pair) for pair in combinations(again, 2)}
    return frozenset(found)


def _grouped(requests: Sequence[Opened], apart: Apart) -> list[_Group]:
    groups: list[_Group] = []
    for asked in requests:
        one = _Group(Counter([asked.text]), {asked.functions})
        alike = [each for each in groups if asked.text in each.openings]
        if not alike:
            waiting = (each for each in groups if asked.functions in each.functions)
            alike = [each for each in waiting if not each.is_apart(asked.text, apart)]
        if any(
            a.is_apart(text, apart)
            for a, b in combinations(alike, 2)
            for text in b.openings
        ):
            alike = [max(alike, key=lambda each: each.likeness(asked.text))]
        for group in alike:
            one.openings += group.openings
            one.functions |= group.functions
            groups.remove(group)
        groups.append(one)
    return groups


def _named(groups: Sequence[_Group], rollouts: int) -> Iterator[Role]:
    """Yield each role with the nearest function that does not ask for all of them."""
    paths = [path for group in groups for path in group.functions]
    shared = sum(
        1 for _ in takewhile(lambda at: len({*at}) == 1, zip(*paths, strict=False))
    )
    for group in groups:
        path = min(group.functions)
        (opening, _), *_ = group.openings.most_common(1)
        function = path[shared if shared < len(path) else 0] if path else ""
        yield Role(function, opening, group.openings.total() / rollouts)
