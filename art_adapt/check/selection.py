"""Select the rules to report: ``--select``, ``--ignore`` and their defaults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from art_adapt.check.own_rules import OWN, UNREADABLE, UNUSED_IGNORE
from art_adapt.rules.rule import Rule, Severity


@dataclass(frozen=True)
class Selection:
    """Selectors of rules: a code, the beginning of one, a name, or ``ALL``.

    Without ``select``, all rules but the untidy ones are reported, and those of
    ``extend_select``.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()

    def without(self, ignored: Sequence[str]) -> Selection:
        """Return this selection for a file in which more rules are ignored."""
        return replace(self, ignore=(*self.ignore, *ignored)) if ignored else self

    def takes(self, rule: Rule) -> bool:
        """Return whether findings of ``rule`` are reported."""
        if rule.code == UNREADABLE.code:
            return True  # a file that could not be analysed is never clean
        if any(_fits(rule, each) for each in self.ignore):
            return False
        if any(_fits(rule, each) for each in self.extend_select):
            return True
        if self.select:
            return any(_fits(rule, each) for each in self.select)
        return rule.severity is not Severity.UNTIDY or rule is UNUSED_IGNORE

    def unknown(self) -> list[str]:
        """Return the selectors that fit no rule."""
        given = (*self.select, *self.extend_select, *self.ignore)
        if not given:
            return []
        from art_adapt.rules import rules

        every = [*(each.rule for each in rules()), *OWN]
        return [
            selector
            for selector in given
            if not any(_fits(rule, selector) for rule in every)
        ]


def _fits(rule: Rule, selector: str) -> bool:
    return (
        selector == "ALL"
        or selector == rule.name
        or (selector.startswith("ART") and rule.code.startswith(selector))
    )
