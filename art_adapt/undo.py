"""Take an adaptation back: the hooks, and the generated files that nobody has edited."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from art_adapt import hooks_file, train_module
from art_adapt.adaptation import remove
from art_adapt.decided import decided_in
from art_adapt.errors import Refusal
from art_adapt.file_edit import FileEdit
from art_adapt.files import changed_meanwhile
from art_adapt.folders import walk
from art_adapt.guide.answers import without_answers
from art_adapt.quoting import quoted
from art_adapt.source import Source, read_source
from art_adapt.survey.reading.hooks import (
    RECORDING_MODULE,
    HooksPlace,
    present_hooks_place,
)
from art_adapt.survey.reading.packages import import_roots
from art_adapt.survey.reading.project import Project
from art_adapt.survey.reading.project_folder import project_root, python_files
from art_adapt.survey.reading.syntax import Syntax
from art_adapt.survey.survey import survey
from art_adapt.train_file import agent_path, standing_module, train_module_path


@dataclass(frozen=True)
class Undo:
    """The edits that take hooks off and delete what was generated, and the files left.

    ``left`` holds each file that stays, with the reason.
    """

    edits: tuple[FileEdit, ...]
    left: tuple[tuple[Path, str], ...]
    asked: tuple[tuple[Path, ...], int, str | None]  # what it was planned from

    @property
    def changes(self) -> bool:
        return any(edit.changes for edit in self.edits)

    def check_still_holds(self) -> None:
        """Refuse if the same undo would be another one by now.

        It rests on which files of the whole folder use the hooks.

        Raises:
            Refusal: another run, or somebody, has changed one.
        """
        paths, line_length, entry = self.asked
        if make_undo([read_source(path) for path in paths], line_length, entry) != self:
            raise changed_meanwhile(paths[0])


@dataclass(frozen=True)
class _Hooked:
    """A file that imports hooks, and the files of the project that its code reaches."""

    syntax: Syntax
    place: HooksPlace

    @property
    def path(self) -> Path:
        return self.syntax.source.path

    @property
    def source(self) -> Source:
        return self.syntax.source

    @cached_property
    def reached(self) -> frozenset[Path]:
        return frozenset(Project.of([self.source], {}).files)


def make_undo(
    sources: Sequence[Source], line_length: int, entry: str | None = None
) -> Undo:
    """Plan to take back what adapting ``sources`` wrote, whichever of its files they are.

    That is in the files that they import, those that import them, and what the survey
    reaches from there. What an agent that is not undone still uses stays.

    Raises:
        Refusal: a file uses hooks in ways that art-adapt does not write.
    """
    known = _hooked_files(sources)
    named = dict.fromkeys(_meant(sources, known))
    undone = _undone(sources, named, known, entry)
    line_length = _line_length(undone, line_length)
    edits: list[FileEdit] = []
    left: list[tuple[Path, str]] = []
    adapted: list[_Hooked] = []
    for file in (known[path] for path in undone if path in known):
        if (reason := _kept(file, named, undone, known)) is not None:
            left.append((file.path, reason))
            continue
        restored = remove(file.source, line_length)
        edits.append(FileEdit(file.path, file.source.data, restored))
        adapted.append(file)
    for edit_or_reason in _train_modules({*undone, *named}):
        _add(edit_or_reason, edits, left)
    gone = {_identity(edit.path) for edit in edits}
    for folder in _hooks_folders(adapted, sources):
        for edit_or_reason in _hooks_files(folder, gone):
            _add(edit_or_reason, edits, left)
    for edit_or_reason in without_answers({*undone, *named}):
        _add(edit_or_reason, edits, left)
    asked = tuple(source.path for source in sources), line_length, entry
    return Undo(tuple(edits), tuple(left), asked)


Left = tuple[Path, str]


def _add(found: FileEdit | Left, edits: list[FileEdit], left: list[Left]) -> None:
    if isinstance(found, FileEdit):
        edits.append(found)
    else:
        left.append(found)


def _hooked_files(sources: Sequence[Source]) -> dict[Path, _Hooked]:
    """Return all files that import hooks, of the projects of ``sources``."""
    found = {source.path: source for source in sources}
    for root in dict.fromkeys(project_root(source.path) for source in sources):
        for path in python_files(root):
            with suppress(Refusal, OSError):  # nothing of ours is in an unreadable file
                if RECORDING_MODULE.encode() in path.read_bytes():
                    found.setdefault(path, read_source(path))
    given = {source.path for source in sources}
    hooked = {}
    for path, source in found.items():
        if RECORDING_MODULE.encode() not in source.data:
            continue
        try:
            syntax = Syntax.of(source)
        except Refusal:
            if path in given:
                raise
            continue
        if (place := present_hooks_place(syntax)) is not None:
            hooked[path] = _Hooked(syntax, place)
    return hooked


def _meant(sources: Sequence[Source], known: Mapping[Path, _Hooked]) -> Iterator[Path]:
    """Yield the agents that files stand for: generated files for those they belong to."""
    for source in sources:
        yield source.path
        if train_module.has_seal(source.data):
            yield agent_path(source.path)
        elif source.path.name == hooks_file.NAME and hooks_file.is_ours(source.data):
            for file in known.values():
                if file.place.folder == source.path.parent:
                    yield file.path


def _undone(
    sources: Sequence[Source],
    named: Collection[Path],
    known: Mapping[Path, _Hooked],
    entry: str | None,
) -> dict[Path, None]:
    """Return the files whose adaptation is one with that of ``named``, these included."""
    users = [
        file
        for file in known.values()
        if file.path in named or not file.reached.isdisjoint(named)
    ]
    found = dict.fromkeys(named)
    found |= dict.fromkeys(path for file in users for path in file.reached)
    for path in named:  # also where no hook is: a framework's agent
        with suppress(Refusal):
            found |= dict.fromkeys(Project.of([read_source(path)], {}).files)
    if not known.keys() <= found.keys():
        # Adapting widens to files that no import leads to, and finds them again.
        with suppress(Refusal):
            again = survey(sources, entry=entry)
            found |= dict.fromkeys(f.source.path for f in again.files if f.edited)
    return found


def _line_length(agents: Iterable[Path], usual: int) -> int:
    """Return the line length that hooks were laid out with: only it takes them off exactly."""
    modules = filter(None, map(standing_module, agents))
    said = (decided_in(module).options.get("line_length") for module in modules)
    return next(filter(None, said), usual)


def _kept(
    file: _Hooked,
    named: Collection[Path],
    undone: Collection[Path],
    known: Mapping[Path, _Hooked],
) -> str | None:
    """Say why a file keeps its hooks; None if it does not."""
    if not _is_ours(file, is_named=file.path in named):
        return f"art-adapt has not written the {hooks_file.NAME} that it imports"
    if file.path in named or not file.reached.isdisjoint(named):
        return None
    other = next(
        (o for o in known.values() if o.path not in undone and file.path in o.reached),
        None,
    )
    return None if other is None else f"{quoted(other.path.name)} still uses it"


def _is_ours(file: _Hooked, *, is_named: bool) -> bool:
    """Whether the hooks that a file imports are art-adapt's."""
    folders = [file.place.folder]
    if not (folders[0] / hooks_file.NAME).exists() and file.place.prefix == "":
        folders = list(import_roots(file.path))
    for folder in folders:
        if (folder / RECORDING_MODULE / "__init__.py").is_file():
            return False
        if (hooks := folder / hooks_file.NAME).is_file():
            return hooks_file.is_ours(hooks.read_bytes())
    return is_named  # the hooks file has been deleted by hand, or was never there


def _train_modules(agents: Iterable[Path]) -> Iterator[FileEdit | Left]:
    """Delete the train modules of agents, or say why they stay."""
    for path in dict.fromkeys(map(train_module_path, agents)):
        if path.is_file():
            data = path.read_bytes()
            if train_module.is_untouched(data):
                yield FileEdit(path, data, None, generated=True)
            elif train_module.has_seal(data):
                yield path, "it has been edited"


def _hooks_folders(
    adapted: Sequence[_Hooked], sources: Sequence[Source]
) -> dict[Path, None]:
    """Return the folders where hooks files were written for ``adapted``."""
    folders = dict.fromkeys(file.place.folder for file in adapted)
    for file in adapted:
        real = Path(os.path.realpath(file.path)).parent
        if file.path.is_symlink() and not real.samefile(file.path.parent):
            folders[real] = None  # run as a script, it has looked for them there
    for source in sources:
        if source.path.name in hooks_file.NAMES:
            folders[source.path.parent] = None
    return folders


def _hooks_files(folder: Path, gone: set[tuple[int, int]]) -> Iterator[FileEdit | Left]:
    """Delete the hooks file of a folder, or say why it stays."""
    user = _other_user(folder, gone)
    for path in (folder / name for name in hooks_file.NAMES):
        if not path.is_file():
            continue
        data = path.read_bytes()
        if not (hooks_file.is_current(data) or hooks_file.is_former(data)):
            yield path, "it is not the file that art-adapt writes"
        elif user is not None:
            yield path, f"{quoted(user.name)} still uses it"
        else:
            yield FileEdit(path, data, None, generated=True)


def _other_user(folder: Path, gone: set[tuple[int, int]]) -> Path | None:
    """Return a file that imports the hooks of ``folder`` and that the undo leaves."""
    for path in walk(folder):  # with those that git ignores
        if path.suffix != ".py" or path.name in hooks_file.NAMES:
            continue
        with suppress(Refusal, OSError):  # an unreadable file imports nothing
            is_left = _identity(path) not in gone
            if (
                is_left
                and RECORDING_MODULE.encode() in path.read_bytes()
                and folder in _imported_from(Syntax.of(read_source(path)))
            ):
                return path
    return None


def _imported_from(syntax: Syntax) -> Iterator[Path]:
    """Yield the folders whose ``art_recording`` a file imports, in whatever way."""
    path = syntax.source.path
    for imported in syntax.imports.values():
        parts = imported.module.split(".")
        if RECORDING_MODULE not in (parts[-1], imported.attribute):
            continue
        inside = parts[:-1] if parts[-1] == RECORDING_MODULE else [*filter(None, parts)]
        starts = [*import_roots(path)]
        if imported.level:
            starts = [path.parents[imported.level - 1]]
        folders = (start.joinpath(*inside) for start in starts)
        if (first := next((f for f in folders if _has_hooks(f)), None)) is not None:
            yield first


def _has_hooks(folder: Path) -> bool:
    return any((folder / name).is_file() for name in hooks_file.NAMES)


def _identity(path: Path) -> tuple[int, int]:
    """Return what is the same for all names of a file, hard links among them."""
    status = path.stat()
    return status.st_dev, status.st_ino
