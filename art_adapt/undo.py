"""Take an adaptation back: the hooks, and the generated files that nobody has edited."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from art_adapt import hooks_file, train_module
from art_adapt.adaptation import remove
from art_adapt.decisions import train_module_path
from art_adapt.errors import Refusal
from art_adapt.file_edit import FileEdit
from art_adapt.folders import walk
from art_adapt.source import Source, read_source
from art_adapt.survey.reading.hooks import RECORDING_MODULE, recording_level
from art_adapt.survey.reading.project import Project

# Not every "art_recording" is ours: many a "start_recording" holds one. From a folder
# further down only a package's import leads up here.
BESIDE = re.compile(rb"^\s*(from|import)\s.*\bart_recording\b", re.MULTILINE)
BELOW = re.compile(rb"^\s*from\s+(\.\.+[\w.]*|\w[\w.]*\.)art_recording\b", re.MULTILINE)


@dataclass(frozen=True)
class Undo:
    """The edits that take hooks off and delete what was generated, and the files left.

    ``left`` holds each file that stays, with the reason.
    """

    edits: tuple[FileEdit, ...]
    left: tuple[tuple[Path, str], ...]

    @property
    def changes(self) -> bool:
        return any(edit.changes for edit in self.edits)


def make_undo(sources: Sequence[Source], line_length: int) -> Undo:
    """Plan to take the hooks off ``sources`` and what they import.

    What was generated for them is deleted, unless somebody has edited it.

    Raises:
        Refusal: a file uses hooks in ways that art-adapt does not write.
    """
    files = Project.of(sources, {}).files
    named = {source.path for source in sources}
    adapted = {
        path: syntax
        for path, syntax in files.items()
        if RECORDING_MODULE.encode() in syntax.source.data
        and (recording_level(syntax) is not None or path in named)
    }
    edits: list[FileEdit] = []
    left: list[tuple[Path, str]] = []
    for path, syntax in list(adapted.items()):
        folder = _recording_folder(path, recording_level(syntax))
        if _is_anothers(folder / hooks_file.NAME):
            left.append(
                (
                    path,
                    f"art-adapt has not written the {hooks_file.NAME} that it imports",
                )
            )
            del adapted[path]
            continue
        restored = remove(syntax.source, line_length)
        edits.append(FileEdit(path, syntax.source.data, restored))
    # Also of named files without a hook: a framework's agent has none.
    for path in dict.fromkeys(map(train_module_path, (*adapted, *named))):
        if path.is_file():
            data = path.read_bytes()
            if train_module.is_untouched(data):
                edits.append(FileEdit(path, data, None, generated=True))
            elif train_module.has_seal(data):
                left.append((path, "it has been edited"))
    gone = {os.path.realpath(edit.path) for edit in edits}
    folders: dict[Path, None] = {}
    for path, syntax in adapted.items():
        folders[_recording_folder(path, recording_level(syntax))] = None
        real = Path(os.path.realpath(path)).parent
        if path.is_symlink() and not real.samefile(path.parent):
            folders[real] = None  # run as a script, it has looked for them there
    for folder in folders:
        user = _other_user(folder, gone)
        for path in (folder / name for name in hooks_file.NAMES):
            if not path.is_file():
                continue
            data = path.read_bytes()
            if user is not None:
                left.append((path, f"{user.name} still uses it"))
            elif not (hooks_file.is_current(data) or hooks_file.is_former(data)):
                left.append((path, "it is not the file that art-adapt writes"))
            else:
                edits.append(FileEdit(path, data, None, generated=True))
    return Undo(tuple(edits), tuple(left))


def _other_user(folder: Path, gone: set[str]) -> Path | None:
    """Return a file that imports the hooks of ``folder`` and that the undo leaves."""
    for path in walk(folder):  # with those that git ignores
        is_candidate = path.suffix == ".py" and path.name not in hooks_file.NAMES
        if (
            is_candidate
            and os.path.realpath(path) not in gone
            and _imports_recording(path, folder)
        ):
            return path
    return None


def _is_anothers(hooks: Path) -> bool:
    return hooks.is_file() and not hooks_file.is_ours(hooks.read_bytes())


def _recording_folder(path: Path, level: int | None) -> Path:
    return path.parents[max((level or 1) - 1, 0)]


def _imports_recording(path: Path, folder: Path) -> bool:
    try:
        data = read_source(path).data
    except Refusal:
        return False  # what cannot be read cannot be broken either
    return (BESIDE if path.parent == folder else BELOW).search(data) is not None
