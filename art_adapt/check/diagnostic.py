"""Define a finding in a file, as it is reported."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from art_adapt.errors import Refusal
from art_adapt.rules.rule import Found, Rule
from art_adapt.source import Source


@dataclass(frozen=True)
class Diagnostic:
    """What one rule found in one file."""

    path: Path
    rule: Rule
    found: Found
    column: int = 1  # in characters, from 1
    end_column: int = 1
    text: str = ""  # the line
    cell: int | None = None  # of a notebook, from 1; ``found.line`` is then the cell's

    @staticmethod
    def of(source: Source, rule: Rule, found: Found) -> Diagnostic:
        """Add the path, the line and the columns of a finding in ``source``."""
        try:
            lines = source.lines
        except Refusal:  # it cannot be decoded
            return Diagnostic(source.path, rule, found)

        def characters(line: int, column: int) -> int:
            text = lines[line - 1] if line <= len(lines) else ""
            return len(text.encode()[:column].decode(errors="replace")) + 1

        return Diagnostic(
            source.path,
            rule,
            found,
            characters(found.line, found.column),
            characters(found.end_line, found.end_column),
            lines[found.line - 1] if found.line <= len(lines) else "",
        )

    @property
    def order(self) -> tuple[int, str, int, int, int, str]:
        """The key to sort by: the worst first, then by place."""
        found = self.found
        place = (str(self.path), self.cell or 0, found.line, found.column)
        return (self.rule.severity, *place, self.rule.code)
