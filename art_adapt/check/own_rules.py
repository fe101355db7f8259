"""Define the findings of the check itself, which belong to no rule module."""

from __future__ import annotations

from art_adapt.rules.rule import Rule, Severity

UNREADABLE = Rule("ART000", "unreadable", Severity.WASTE)
UNUSED_IGNORE = Rule("ART001", "unused-ignore", Severity.UNTIDY)
# What each of them says.
OWN = {
    UNREADABLE: "the file could not be read, so it was not checked",
    UNUSED_IGNORE: "an ignore comment matches no finding, but would hide later ones",
}
