"""The rules of ``art-adapt check``: every module here that defines a ``RULE``."""

from __future__ import annotations

import functools
import importlib
import pkgutil

from art_adapt.rules.rule import RuleModule

PLUMBING = ("code", "rule", "target")


@functools.cache
def rules() -> tuple[RuleModule, ...]:
    """Load all rules, sorted by code."""
    names = (found.name for found in pkgutil.iter_modules(__path__))
    modules = (
        importlib.import_module(f"{__name__}.{name}")
        for name in names
        if name not in PLUMBING
    )
    return tuple(sorted(map(RuleModule.of, modules), key=lambda each: each.rule.code))
