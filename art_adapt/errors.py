"""What a user is told when art-adapt stops."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(eq=False)
class Refusal(Exception):
    """art-adapt cannot do its job here, and has written nothing. Always exit code 2.

    ``what`` happened, ``why`` it stops us (may be empty), and the ``next_step`` that
    the user can take.
    """

    what: str
    why: str = ""
    next_step: str = ""
    path: Path | None = None
    line: int | None = None
    column: int | None = None  # 1-based, as editors count

    def __str__(self) -> str:
        place = ":".join(
            str(part)
            for part in (self.path, self.line, self.column)
            if part is not None
        )
        lines = [f"{place}: {self.what}" if place else self.what]
        if self.why:
            lines.append(f"  why: {self.why}")
        if self.next_step:
            lines.append(f"  next: {self.next_step}")
        return "\n".join(lines)
