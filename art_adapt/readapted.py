"""Reads files as hooks change them: an adapted agent is adapted again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from art_adapt.adaptation import without_recording, wraps_of
from art_adapt.code.session import Session
from art_adapt.decisions import Decisions, decide, said_in
from art_adapt.errors import Refusal
from art_adapt.file_edit import FileEdit
from art_adapt.settings import Options, Origin
from art_adapt.source import Source, read_source
from art_adapt.span import Span
from art_adapt.survey.calls.said import NAMED, is_named
from art_adapt.survey.model import Survey
from art_adapt.survey.survey import survey


def without_old_recording(
    found: Survey, decisions: Decisions, options: Options, session: Session
) -> tuple[Survey, Decisions]:
    """Return both for files without the hooks of calls that somebody now says are side jobs.

    What reading takes for one keeps a hook: somebody may have put it there.
    """
    old: dict[Path, list[Span]] = {}
    for call in decisions.auxiliary:
        if call.recorded and call.reason.startswith(NAMED):
            old.setdefault(call.place.path, []).append(call.span)
    bare: dict[Path, Source] = {}
    for file in found.files:
        path = file.source.path
        if path in old and file.hooks_place is not None and file.edited:
            place, length = file.hooks_place, options.line_length
            bare[path] = Source(path, without_recording(file, old[path], place, length))
    return (
        _again(bare, found, options, decisions, session) if bare else (found, decisions)
    )


def verify_idempotent(
    edits: Sequence[FileEdit],
    found: Survey,
    options: Options,
    decisions: Decisions,
    session: Session,
) -> None:
    """Refuse a result that adapting it again would change (G2)."""
    if not any(edit.changes for edit in edits):
        return
    adapted = {
        edit.path: Source(edit.path, edit.after)
        for edit in edits
        if edit.after is not None
    }
    again, decided = _again(adapted, found, options, decisions, session)
    for file in again.files:
        edited = file.edited and file.uses_art is None
        left = wraps_of(file, decided) if edited else []
        if left:
            raise Refusal(
                f"adapting this file again would add another {left[0].hook}(...)",
                why="adapting an adapted file must not change it",
                next_step="report this line as a bug",
                path=file.source.path,
                line=left[0].span.line,
            )


def _again(
    changed: Mapping[Path, Source],
    found: Survey,
    options: Options,
    decisions: Decisions,
    session: Session,
) -> tuple[Survey, Decisions]:
    """Return what is found and decided where files have changed, with the same entry point."""
    given = [file.source.path for file in found.files if file.given]
    sources = [
        changed[path] if path in changed else read_source(path) for path in given
    ]
    again = survey(sources, changed, options.entry, session)
    entry = None
    if decisions.entry is not None:
        entry = f"{decisions.entry.home}:{decisions.entry.called}"
    moved = replace(
        options,
        entry=entry or options.entry,
        # It is chosen, and what a run showed of its fields is not known to reading alone.
        origins={**options.origins, "entry": Origin.FLAG} if entry else options.origins,
        policy=_moved(options.policy, found, again),
        auxiliary=_moved(options.auxiliary, found, again),
    )
    if again.said != said_in(moved):
        again = survey(sources, changed, options.entry, session, said_in(moved))
    return again, decide(again, moved)


def _moved(names: Sequence[str], found: Survey, again: Survey) -> tuple[str, ...]:
    """Return names of calls as they read where hooks have moved lines: FILE:LINE.

    A model that only a run has shown is unknown to reading alone, and divides no calls.
    """
    calls = list(zip(found.calls, again.calls, strict=False))
    moved = []
    for name in names:
        if name in found.models - again.models:
            continue
        named = next((n for call, n in calls if is_named(call, name)), None)
        if named is not None and name.rpartition(":")[2].isdigit():
            name = f"{named.place.path.as_posix()}:{named.place.line}"
        moved.append(name)
    return tuple(moved)
