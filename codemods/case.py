"""A case of a codemod: a file before and after."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent


@dataclass(frozen=True)
class Case:
    """The codemod turns ``before`` into ``after``, or leaves it where there is no ``after``.

    Both are dedented.
    """

    name: str
    before: str
    after: str | None = None

    @property
    def source(self) -> str:
        return dedent(self.before).lstrip("\n")

    @property
    def expected(self) -> str:
        return self.source if self.after is None else dedent(self.after).lstrip("\n")
