"""Print patches: exact bytes on standard output, never coloured."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from art_adapt.diff import unified
from art_adapt.file_edit import FileEdit
from art_adapt.plan import Plan


def print_patch(edits: Iterable[FileEdit]) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(b"".join(unified(edit) for edit in edits))
    sys.stdout.buffer.flush()


def print_review(plan: Plan) -> None:
    """Print what a person reads before agreeing: the agent's changes, and generated files by name."""
    print()
    agent = {file.source.path for file in plan.survey.files}
    print_patch(edit for edit in plan.edits if edit.path in agent)
    for edit in plan.edits:
        if edit.path not in agent and edit.changes:
            kind = "new" if edit.before is None else "renewed"
            lines = (edit.after or b"").count(b"\n")
            what = f"{kind} file" if edit.after is not None else "removed file"
            size = f", {lines} lines" if edit.after is not None else ""
            print(f"{what} {edit.path.name}{size}")
