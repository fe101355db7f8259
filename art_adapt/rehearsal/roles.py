"""Tell the roles apart that an episode trains: a player's and an overseer's, say.

Requests are one role's if their conversations begin with the same text, or if the same functions
wait for them: an agent may write its state into its prompt, and several functions may go on with
one conversation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from art_adapt.rehearsal.protocol import Opened
from art_adapt.rehearsal.seen import Seen


@dataclass(frozen=True)
class Role:
    """Requests of one role: who asks, how they begin most often, how many an episode makes."""

    function: str
    opening: str
    requests: float


@dataclass
class _Group:
    """The requests of one role, while they are gathered."""

    openings: Counter[str] = field(default_factory=Counter)
    functions: set[tuple[str, ...]] = field(default_factory=set)

    def __contains__(self, asked: Opened) -> bool:
        return asked.text in self.openings or asked.functions in self.functions


def roles(seen: Seen) -> tuple[Role, ...]:
    """Return the roles that episodes train, the most frequent first; none if each has only one."""
    rollouts = [each.opened for each in seen.notes.rollouts]
    groups = _grouped([asked for each in rollouts for asked in each])
    several = any(
        sum(any(asked in group for asked in each) for group in groups) > 1
        for each in rollouts
    )
    found = _named(groups, len(rollouts)) if several else ()
    return tuple(sorted(found, key=lambda role: -role.requests))


def _grouped(requests: Sequence[Opened]) -> list[_Group]:
    groups: list[_Group] = []
    for asked in requests:
        one = _Group(Counter([asked.text]), {asked.functions})
        for group in [each for each in groups if asked in each]:
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
        function = path[min(shared, len(path) - 1)] if path else ""
        yield Role(function, opening, group.openings.total() / rollouts)
