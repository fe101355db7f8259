"""Select the rules to report: ``--select``, ``--ignore`` and their defaults."""

from __future__ import annotations

from dataclasses import dataclass

from art_adapt.check.own_rules import OWN, UNREADABLE, UNUSED_IGNORE
from art_adapt.rules.rule import Rule, Severity


@dataclass(frozen=True)
class Selection:
    """Selectors of rules: a code, the beginning of one, a name, or ``ALL``.

    Without ``select``, all rules but the untidy ones are reported.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def takes(self, rule: Rule) -> bool:
        """Return whether findings of ``rule`` are reported."""
        if rule.code == UNREADABLE.code:
            return True  # a file that could not be analysed is never clean
        if any(_fits(rule, each) for each in self.ignore):
            return False
        if self.select:
            return any(_fits(rule, each) for each in self.select)
        return rule.severity is not Severity.UNTIDY or rule is UNUSED_IGNORE

    def unknown(self) -> list[str]:
        """Return the selectors that fit no rule."""
        if not self.select and not self.ignore:
            return []
        from art_adapt.rules import rules

        every = [*(each.rule for each in rules()), *OWN]
        return [
            selector
            for selector in (*self.select, *self.ignore)
            if not any(_fits(rule, selector) for rule in every)
        ]


def _fits(rule: Rule, selector: str) -> bool:
    return (
        selector == "ALL"
        or selector == rule.name
        or (selector.startswith("ART") and rule.code.startswith(selector))
    )
