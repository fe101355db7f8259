"""The whole job of ``art-adapt FILE``: survey, decide, edit, render, verify. Nothing is
written here.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from art_adapt import train_module
from art_adapt.adaptation import Edit, adapt_source, wraps_of
from art_adapt.decisions import Decisions, decide, train_module_path
from art_adapt.entry_decision import Chooser
from art_adapt.errors import Refusal
from art_adapt.settings import Options
from art_adapt.source import Source, read_source
from art_adapt.survey.hooks import RECORDING_MODULE
from art_adapt.survey.model import FileSurvey, Survey
from art_adapt.survey.project import package_depth
from art_adapt.survey.survey import survey

DEFAULT_LINE_LENGTH = 88
# The recorder's files by the names of their copies; the second is for agents that call
# the Responses API.
RECORDING = f"{RECORDING_MODULE}.py"
RESPONSES = f"{RECORDING_MODULE}_responses.py"
COPIES = {
    RECORDING: Path(__file__).with_name("recording.py"),
    RESPONSES: Path(__file__).with_name("recording_responses.py"),
}


@dataclass(frozen=True)
class Plan:
    """What was found, what was decided, and the files as they would be written."""

    survey: Survey
    decisions: Decisions
    edits: tuple[Edit, ...]
    # The train module as it would be, where somebody has edited the one that is there.
    kept: Edit | None = None

    @property
    def changes(self) -> bool:
        return any(edit.changes for edit in self.edits)


def make_plan(
    sources: Sequence[Source],
    options: Options,
    *,
    choose: Chooser | None = None,
    force: bool = False,
) -> Plan:
    """Plan the adaptation of the agent in ``sources``.

    Raises:
        Refusal: there is nothing to adapt, a decision is missing, or a result would break a guarantee.
    """
    line_length = options.line_length or DEFAULT_LINE_LENGTH
    found = survey(sources)
    decisions = decide(found, options, choose)
    edits: list[Edit] = []
    copies: dict[Path, None] = {}
    responses = {c.place.path for c in decisions.policy if c.api == "responses"}
    recording_folders = _recording_folders(found.files)
    for file in found.files:
        if file.uses_art is not None:
            continue
        wraps = wraps_of(file, decisions)
        folder = recording_folders[file.source.path]
        if wraps or file.hooks:
            copies[folder / RECORDING] = None
        if file.source.path in responses:
            copies[folder / RESPONSES] = None
        after = adapt_source(file, wraps, _dots(file, folder), line_length)
        edits.append(Edit(file.source.path, file.source.data, after))
    _verify_idempotent(edits, found, options, decisions)
    edits += [_sibling(path, COPIES[path.name].read_bytes()) for path in copies]
    kept: Edit | None = None
    if decisions.training is not None and decisions.entry is not None:
        path = train_module_path(decisions.entry.place.path)
        edit = _sibling(
            path, train_module.render(decisions.entry, decisions.training, found)
        )
        if (
            edit.before is not None
            and edit.changes
            and not force
            and not train_module.is_untouched(edit.before)
        ):
            kept = edit
        else:
            edits.append(edit)
    return Plan(found, decisions, tuple(edits), kept)


def _sibling(path: Path, content: bytes) -> Edit:
    return Edit(path, path.read_bytes() if path.exists() else None, content)


def _recording_folders(files: Sequence[FileSurvey]) -> dict[Path, Path]:
    """Where each file's ``art_recording.py`` lies: beside a script; in a package, where
    all its files can import it.
    """
    packages: dict[Path, list[FileSurvey]] = {}
    found: dict[Path, Path] = {}
    for file in files:
        folder = file.source.path.parent
        if file.recording_level is not None:  # adapted before: it stays there
            found[file.source.path] = file.source.path.parents[
                max(file.recording_level - 1, 0)
            ]
        elif not file.package:
            found[file.source.path] = folder
        else:
            packages.setdefault(
                file.source.path.parents[package_depth(file.package) - 1], []
            ).append(file)
    for group in packages.values():
        common = Path(
            os.path.commonpath(
                [file.source.path.parent for file in group if file.calls or file.given]
            )
        )
        found |= {file.source.path: common for file in group}
    return found


def _dots(file: FileSurvey, folder: Path) -> str:
    """The dots of a relative import of what lies in ``folder``; none beside a
    script.
    """
    if not file.package:
        return ""
    return "." * (1 + len(file.source.path.parent.relative_to(folder).parts))


def _verify_idempotent(
    edits: Sequence[Edit], found: Survey, options: Options, decisions: Decisions
) -> None:
    """Adapting the result again would change nothing (G2)."""
    if not any(edit.changes for edit in edits):
        return
    given = [file.source.path for file in found.files if file.given]
    adapted = {edit.path: Source(edit.path, edit.after) for edit in edits}
    again = survey(
        [adapted[path] if path in adapted else read_source(path) for path in given],
        adapted,
    )
    entry = None if decisions.entry is None else decisions.entry.name
    decided = decide(again, replace(options, entry=entry or options.entry))
    for file in again.files:
        left = wraps_of(file, decided) if file.uses_art is None else []
        if left:
            raise Refusal(
                f"adapting it again would add another {left[0].hook}(...)",
                why="an adapted file must stay as it is",
                next_step="please report this line",
                path=file.source.path,
                line=left[0].span.line,
            )
