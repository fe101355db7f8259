"""The rules of the check itself, which every file is subject to."""

from __future__ import annotations

from art_adapt.rules.rule import Rule, Severity

UNREADABLE = Rule("ART000", "unreadable", Severity.WASTE)
UNUSED_IGNORE = Rule("ART001", "unused-ignore", Severity.UNTIDY)
# Each with what it says.
OWN = {
    UNREADABLE: "the file could not be read as Python, so nothing is known about it",
    UNUSED_IGNORE: "an ignore comment that ignores nothing hides what comes later",
}
