"""The one error of the transformers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(eq=False)
class CannotEdit(Exception):
    """A file cannot be edited safely at one place; nothing of it has been edited."""

    what: str
    line: int
    column: int | None = None  # 1-based, as editors count
    why: str = ""
    next_step: str = ""

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}"
