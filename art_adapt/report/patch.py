"""Print patches: exact bytes on standard output, never coloured."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from art_adapt.adaptation import Edit
from art_adapt.diff import deleted, unified
from art_adapt.plan import Plan
from art_adapt.undo import Undo


def print_patch(edits: Iterable[Edit]) -> None:
    _print_bytes(b"".join(unified(edit) for edit in edits))


def print_undo(undo: Undo) -> None:
    """Print what an undo would change and delete."""
    print_patch(undo.edits)
    _print_bytes(b"".join(deleted(path, data) for path, data in undo.deletions))


def print_review(plan: Plan) -> None:
    """Print what a person reads before agreeing: the agent's changes, and generated files by name."""
    print()
    agent = {file.source.path for file in plan.survey.files}
    print_patch(edit for edit in plan.edits if edit.path in agent)
    for edit in plan.edits:
        if edit.path not in agent and edit.changes:
            kind = "new" if edit.before is None else "renewed"
            lines = edit.after.count(b"\n")
            print(f"{kind} file {edit.path.name}, {lines} lines")


def _print_bytes(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
