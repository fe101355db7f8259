"""One file before and after art-adapt."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class FileEdit:
    """The bytes of a file before and after; None where the file does not exist.

    ``generated``: art-adapt writes the whole file; others are its user's.
    """

    path: Path
    before: bytes | None  # None: the file is new
    after: bytes | None  # None: the file is deleted
    generated: bool = False
    private: bool = False  # a new file that nobody else may read

    @property
    def changes(self) -> bool:
        return self.before != self.after

    @property
    def state(self) -> str:
        """What becomes of the file, in a word: new, renewed, removed."""
        if self.after is None:
            return "removed"
        return "new" if self.before is None else "renewed"

    @property
    def size(self) -> str:
        """How long the file becomes, as a list of files says it."""
        if self.after is None:
            return ""
        lines = self.after.count(b"\n")
        return f", {lines} lines"
