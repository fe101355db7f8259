"""The error that art-adapt stops with, and how it is shown."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

from art_adapt.printable import quoted


@dataclass(eq=False)
class Refusal(Exception):
    """Says that art-adapt cannot do its job here and has written nothing (exit code 2).

    ``what`` happened, ``why`` it stops art-adapt (may be empty), and the ``next_step`` that
    the user can take.
    """

    what: str
    why: str = ""
    next_step: str = ""
    path: Path | None = None
    line: int | None = None
    column: int | None = None  # 1-based, as editors count

    def __str__(self) -> str:
        name = None if self.path is None else quoted(str(self.path))
        place = ":".join(
            str(part) for part in (name, self.line, self.column) if part is not None
        )
        lines = [f"{place}: {self.what}" if place else self.what]
        if self.why:
            lines.append(f"  why: {self.why}")
        if self.next_step:
            lines.append(f"  next: {self.next_step}")
        return "\n".join(lines)


def missing(path: Path) -> Refusal:
    """Return the refusal of a path that does not exist, with the name that is nearly it."""
    if path.is_dir():
        return Refusal("a folder, not a file", next_step="name a file", path=path)
    try:
        beside = [each.name for each in path.absolute().parent.iterdir()]
        beside = [name for name in beside if name != path.name]  # a link to nothing
    except OSError:
        beside = []
    near = difflib.get_close_matches(path.name, beside, 1, 0.7)
    hint = ""
    if near:
        hint = f"did you mean {quoted(str(path.with_name(near[0])))}?"
    elif len(below := [*path.absolute().parent.glob(f"*/{path.name}")]) == 1:
        hint = f"did you mean {quoted(str(path.parent / below[0].parent.name / path.name))}?"
    agent = f"{path.name.removesuffix('_train.py')}.py"
    if path.name.endswith("_train.py") and agent in beside:
        hint = f"art-adapt {quoted(str(path.with_name(agent)))} writes it"
    return Refusal(
        "no such file or folder", next_step=hint or "check the path", path=path
    )
