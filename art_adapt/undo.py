"""Take an adaptation back: the hooks, and the generated files that nobody has edited."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from art_adapt import hooks_file, train_module
from art_adapt.adaptation import remove
from art_adapt.adapted_files import AdaptedFile, adapted_files
from art_adapt.answers import answered_agents, without_answers
from art_adapt.code.hooks import (
    RECORDING_MODULE,
    HooksPlace,
)
from art_adapt.code.packages import import_roots
from art_adapt.code.project import Project
from art_adapt.code.session import Session
from art_adapt.code.syntax import Syntax
from art_adapt.decided import decided_in
from art_adapt.errors import Refusal
from art_adapt.file_edit import FileEdit
from art_adapt.files import changed_meanwhile
from art_adapt.folders import walk
from art_adapt.printable import quoted
from art_adapt.seen.surveyed import seen_around
from art_adapt.settings import Options
from art_adapt.source import Source, read_source
from art_adapt.survey.survey import survey
from art_adapt.train_file import agent_path, standing_module, train_module_path

Left = tuple[Path, str]  # a file that stays, and the reason
ANOTHERS = f"art-adapt has not written the {hooks_file.NAME} that it imports"


@dataclass(frozen=True)
class Undo:
    """The edits that take hooks off and delete what was generated, and the files left.

    ``left`` holds each file that stays, with the reason.
    """

    edits: tuple[FileEdit, ...]
    left: tuple[Left, ...]
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


def make_undo(
    sources: Sequence[Source], line_length: int, entry: str | None = None
) -> Undo:
    """Plan to take back what adapting ``sources`` wrote, whichever of its files they are.

    That is in the files that they import, those that import them, and what the survey
    reaches from there. What an agent that is not undone still uses stays.

    Raises:
        Refusal: a file uses hooks in ways that art-adapt does not write.
    """
    known = adapted_files(sources)
    named = dict.fromkeys(_meant(sources, known))
    undone = _undone(sources, named, known, entry)
    line_length = _line_length(undone, line_length)
    found: list[FileEdit | Left] = []
    adapted: list[AdaptedFile] = []
    for file in (known[path] for path in undone if path in known):
        if file.place is None:
            continue
        if not _is_ours(file.path, file.place, is_named=file.path in named):
            found.append((file.path, ANOTHERS))
        elif (user := _user_left(file, named, undone, known)) is not None:
            found.append((file.path, _used_by(user)))
        else:
            restored = remove(file.source, line_length)
            found.append(FileEdit(file.path, file.source.data, restored))
            adapted.append(file)
    modules = [*_train_modules(undone)]
    found += modules
    gone = {_identity(each.path) for each in found if isinstance(each, FileEdit)}
    for folder in _hooks_folders(adapted, sources):
        found += _hooks_files(folder, gone)
    edited = {path for path, *_ in (m for m in modules if not isinstance(m, FileEdit))}
    answered = [*undone, *_started_from(undone, adapted, known)]
    found += without_answers(a for a in answered if train_module_path(a) not in edited)
    for agent in answered:
        if (module := train_module_path(agent)) in edited:
            found += _with_its_answers(module, without_answers([agent]))
    return Undo(
        tuple(each for each in found if isinstance(each, FileEdit)),
        tuple(each for each in found if not isinstance(each, FileEdit)),
        (tuple(source.path for source in sources), line_length, entry),
    )


def _meant(
    sources: Sequence[Source], known: Mapping[Path, AdaptedFile]
) -> Iterator[Path]:
    """Yield the agents that files stand for: generated files for those they belong to.

    A run may have shown an episode in another file than the user named: its train module says
    which files were named.
    """
    given = {source.path.resolve() for source in sources}
    for file in known.values():
        module = standing_module(file.path)
        named = () if module is None else decided_in(module).named
        if not given.isdisjoint((file.path.parent / each).resolve() for each in named):
            yield file.path
    for source in sources:
        yield source.path
        if train_module.has_seal(source.data):
            yield agent_path(source.path)
        elif source.path.name == hooks_file.NAME and hooks_file.is_ours(source.data):
            for file in known.values():
                if file.place and file.place.folder == source.path.parent:
                    yield file.path


def _undone(
    sources: Sequence[Source],
    named: Collection[Path],
    known: Mapping[Path, AdaptedFile],
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
        # Adapting widens to files that no import leads to, as those of a run, and finds them again.
        with suppress(Refusal):
            read = survey(sources, entry=entry)
            _, more = seen_around(read, sources, Options(), Session())
            again = survey([*sources, *more], entry=entry) if more else read
            found |= dict.fromkeys(f.source.path for f in again.files if f.edited)
    return found


def _started_from(
    undone: Collection[Path],
    restored: Sequence[AdaptedFile],
    known: Mapping[Path, AdaptedFile],
) -> Iterator[Path]:
    """Yield the files with answers of their own whose adaptation is the one that is undone.

    They lead to the file that was trained, and to nothing adapted that stays.
    """
    taken_back = {file.path for file in restored}
    trained = {file.path for file in restored if file.is_trained}
    for path in answered_agents(undone):
        with suppress(Refusal):
            reached = Project.of([read_source(path)], {}).files.keys() & known.keys()
            if path not in undone and reached & trained and reached <= taken_back:
                yield path


def _line_length(agents: Iterable[Path], usual: int) -> int:
    """Return the line length that hooks were laid out with: only it takes them off exactly."""
    modules = filter(None, map(standing_module, agents))
    said = (decided_in(module).options.get("line_length") for module in modules)
    return next(filter(None, said), usual)


def _user_left(
    file: AdaptedFile,
    named: Collection[Path],
    undone: Collection[Path],
    known: Mapping[Path, AdaptedFile],
) -> Path | None:
    """Return an adapted file that runs the code of another one, and is not undone."""
    if not file.reached.isdisjoint(named):
        return None
    users = (o.path for o in known.values() if file.path in o.reached)
    return next((path for path in users if path not in undone), None)


def _is_ours(path: Path, place: HooksPlace, *, is_named: bool) -> bool:
    """True if the hooks that a file imports are art-adapt's."""
    folders = [place.folder]
    if not (place.folder / hooks_file.NAME).exists() and place.prefix == "":
        folders = list(import_roots(path))
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


def _with_its_answers(
    module: Path, answers: Iterable[FileEdit | Left]
) -> Iterator[Left]:
    """Say that the answers which an edited train module rests on stay with it."""
    for each in answers:
        if isinstance(each, FileEdit):
            yield (
                each.path,
                f"it has the answers for {quoted(module.name)}, which stays",
            )
        else:
            yield each


def _hooks_folders(
    adapted: Sequence[AdaptedFile], sources: Sequence[Source]
) -> dict[Path, None]:
    """Return the folders where hooks files were written for ``adapted``."""
    folders = dict.fromkeys(file.place.folder for file in adapted if file.place)
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
            yield path, f"{_used_by(user)}; --undo with that file takes its hooks back"
        else:
            yield FileEdit(path, data, None, generated=True)


def _used_by(user: Path) -> str:
    return f"{quoted(user.name)} still uses it"


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
