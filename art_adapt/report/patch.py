"""Print patches: exact bytes on standard output, coloured where a person reads them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from art_adapt.diff import unified
from art_adapt.file_edit import FileEdit
from art_adapt.paths import shown
from art_adapt.printable import printable, quoted
from art_adapt.terminal import has_colours

COLOURS = {"+++": "bold", "---": "bold", "@@": "cyan", "+": "green", "-": "red"}


def print_patch(edits: Iterable[FileEdit]) -> None:
    """Print edits as one patch: for ``git apply``, or on a terminal for a person."""
    patch = b"".join(unified(edit) for edit in edits)
    sys.stdout.flush()
    if sys.stdout.isatty():
        _show(patch.decode(errors="backslashreplace"))
    else:
        sys.stdout.buffer.write(patch)
        sys.stdout.buffer.flush()


def _show(patch: str) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(
        highlight=False, no_color=not has_colours(sys.stdout), soft_wrap=True
    )
    for line in patch.removesuffix("\n").split("\n"):
        starts = (start for start in COLOURS if line.startswith(start))
        style = COLOURS.get(next(starts, ""), "")
        console.print(Text(printable(line), style=style))


def print_edits(edits: Sequence[FileEdit]) -> None:
    """Print the changes of files that are there already, and new files by name."""
    print()
    folded = [e for e in edits if e.generated and None in (e.before, e.after)]
    print_patch(edit for edit in edits if edit not in folded)
    for edit in folded:
        if edit.changes:
            print(f"{edit.state} file {quoted(shown(edit.path))}{edit.size}")
    print()
