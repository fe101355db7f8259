"""Say what the checked code runs with: settings of its project, and the version of ART."""

from __future__ import annotations

import functools
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """What the rules know about a project that its code does not say."""

    auxiliary: frozenset[str] = frozenset()  # functions whose calls are not trained
    art: str | None = None  # the version that runs the code, if it is known

    def is_before(self, art: str) -> bool:
        """True if the code is known to run with an ART older than ``art``."""
        from packaging.version import Version

        return self.art is not None and Version(self.art) < Version(art)

    def is_from(self, art: str) -> bool:
        """True if the code is known to run with ``art`` or a newer ART."""
        return self.art is not None and not self.is_before(art)


UNKNOWN = Target()


@functools.cache
def installed_art() -> str | None:
    """Return the version of ART in this environment, or None. Imports nothing of it."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("openpipe-art")
    except PackageNotFoundError:
        return None
