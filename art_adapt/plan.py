"""Plans the adaptation of an agent: survey, decide, edit, render, verify; writes nothing."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from art_adapt import hooks_file, train_module
from art_adapt.adaptation import adapt_source, wraps_of
from art_adapt.answers import earlier_answers, kept_answers
from art_adapt.code.hooks import HooksPlace
from art_adapt.code.packages import import_roots
from art_adapt.code.project_folder import project_root
from art_adapt.code.session import Session
from art_adapt.decided import (
    DECIDED,
    NOW,
    SHOWN,
    Changed,
    changes,
    decided_in,
    decided_lines,
    earlier,
    with_earlier,
)
from art_adapt.decisions import Decisions, decide, from_train_module, said_in
from art_adapt.entry_decision import UnclearEntry
from art_adapt.errors import Refusal
from art_adapt.file_edit import FileEdit
from art_adapt.files import check_unchanged
from art_adapt.readapted import verify_idempotent, without_old_recording
from art_adapt.seen.decision import Seen
from art_adapt.seen.surveyed import as_said, surveyed_as_seen
from art_adapt.settings import Options
from art_adapt.source import Source
from art_adapt.survey.calls.said import is_named
from art_adapt.survey.model import EntryPoint, FileSurvey, Survey
from art_adapt.survey.survey import survey
from art_adapt.train_file import (
    ENDING,
    agent_path,
    standing_module,
    train_module_path,
)

# Reads the agent anew with options that say more of it.
Reading = Callable[[Survey, Options], tuple[Survey, Options]]
Guide = Callable[[Survey, Options, Reading, Seen | None], Options]


@dataclass(frozen=True)
class Plan:
    """What was found and decided, and the files as they would be written."""

    survey: Survey
    options: Options  # with the answers of whoever was asked
    decisions: Decisions
    edits: tuple[FileEdit, ...]
    # The train module as it would be, where somebody has edited the one that is there.
    kept: FileEdit | None = None
    # The train module that a watched run has shaped, where this plan knows of no run.
    forgets: Path | None = None
    # What flags of this run have changed of what an earlier one decided.
    changed: tuple[Changed, ...] = ()
    seen: Seen | None = None

    @property
    def changes(self) -> bool:
        return any(edit.changes for edit in self.edits)

    def check_still_holds(self) -> None:
        """Refuse if a file that this plan was made from has changed since.

        Raises:
            Refusal: another run, or somebody, has changed one.
        """
        edited = {edit.path: edit.before for edit in self.edits}
        read = {source.path: source.data for source in self.survey.read}
        check_unchanged(read | edited)


def make_plan(
    sources: Sequence[Source],
    options: Options,
    *,
    guide: Guide | None = None,
    keep: bool = False,
    force: bool = False,
    session: Session | None = None,
) -> Plan:
    """Plan the adaptation of the agent in ``sources``.

    ``guide`` asks for what the sources do not tell; with ``keep`` an edit of
    pyproject.toml keeps its answers. ``session`` keeps what is read.

    Raises:
        Refusal: there is nothing to adapt, a decision is missing, or a result would break a guarantee.
    """
    session = session or Session()
    said = said_in(options)
    found = survey(sources, entry=options.entry, session=session, said=said)
    given = [source.path for source in sources]
    # A run may have shown an episode in another file, whose train module names the given one.
    modules = session.below(project_root(given[0]))
    trained = [agent_path(each) for each in modules if each.name.endswith(ENDING)]
    before = earlier(given, [e.home for e in found.entry_points], trained)
    options = with_earlier(options, before)
    found, options, seen = surveyed_as_seen(found, sources, options, session)
    if guide is not None and options.train_module:
        with contextlib.suppress(UnclearEntry):  # the first thing that it asks
            # What is refused, before it asks.
            _planned(found, given, options, session, seen, force=force)

        def reading(found: Survey, options: Options) -> tuple[Survey, Options]:
            return as_said(found, sources, options, session, seen)

        options = guide(found, options, reading, seen)
        found, options = reading(found, options)
    plan = _planned(found, given, options, session, seen, force=force, answers=not keep)
    known = {**(earlier_answers(sources[0].path) if keep else {}), **before}
    plan = replace(plan, changed=tuple(changes(options, known)), seen=seen)
    if keep and plan.decisions.training is not None:
        answers = kept_answers(options, sources[0].path)
        return replace(plan, edits=(*plan.edits, *([answers] if answers else [])))
    return plan


def _planned(
    found: Survey,
    given: Sequence[Path],
    options: Options,
    session: Session,
    seen: Seen | None,
    *,
    force: bool,
    answers: bool = True,
) -> Plan:
    """Plan without a question for the ``given`` files.

    ``answers``: the train module keeps those that were given.

    A train module that a run has shaped stays as it is where nobody knows of that run.
    """
    decisions = decide(found, options)
    entry = decisions.entry
    is_asked_for = options.start == "program" and options.origin("start") in NOW
    if is_asked_for and entry is not None and entry.program is None:
        raise _not_watched(entry)
    agent: list[FileEdit] = []
    hooks_files: list[FileEdit] = []
    if not options.single_turn:  # where nothing of the agent runs
        bare = without_old_recording(found, decisions, options, session)
        agent, hooks_files = _agent_edits(found, *bare, options)
        verify_idempotent(agent, found, options, decisions, session)
    edits = [*agent, *hooks_files]
    kept: FileEdit | None = None
    forgets: Path | None = None
    if decisions.training is not None and decisions.entry is not None:
        path = train_module_path(decisions.entry.home)
        home = decisions.entry.home
        decided = decided_lines(
            _as_it_reads_later(found, options, home),
            _given_beside(given, options, home),
            answers=answers,
        )
        is_shown = seen is not None and seen.function is not None
        decided += f"{SHOWN}\n" if is_shown else ""
        module = train_module.render(
            decisions.entry, decisions.training, found, decided
        )
        edit = _sibling(path, module)
        if edit.before is not None and not train_module.has_seal(edit.before):
            alone = "; --no-train-module adapts the agent alone"
            raise _taken(path, "a file", "the train module needs", alone)
        is_decided_anew = not set(NOW).isdisjoint(options.origins.values())
        if not is_shown and _was_shown(edit.before):
            if force or is_decided_anew:
                forgets = path
            else:
                edit = replace(edit, after=edit.before)
        if not force and _is_as_before(edit):
            edit = replace(edit, after=edit.before)
        if force or not _is_edited(edit):
            edits.append(edit)
        else:
            kept = edit
    return Plan(found, options, decisions, tuple(edits), kept, forgets)


def _not_watched(entry: EntryPoint) -> Refusal:
    return Refusal(
        f"no watched run shows a program that calls {entry}",
        why="a server waits for a request, a forked process has no command of its own, and "
        "notes of an older art-adapt lack the command",
        next_step="watch a script or a test that calls it, with art-adapt capture -- COMMAND; "
        "or leave out --start program",
        path=entry.place.path,
        line=entry.place.line,
    )


def _was_shown(module: bytes | None) -> bool:
    """True if a run has shaped a train module, and nobody has edited it since."""
    if module is None or not train_module.is_untouched(module):
        return False
    return any(line.strip() == SHOWN.encode() for line in module.splitlines())


def _given_beside(given: Sequence[Path], options: Options, home: Path) -> Sequence[str]:
    """Return the files that runs were given in place of the agent's, from its folder.

    Only a run that decides something adds its own: who adapts a folder after one of its
    files finds nothing to change.
    """
    module = standing_module(home)
    before = () if module is None else decided_in(module).named
    origins = options.origins.values()
    if set(NOW if module is not None else (*DECIDED, *NOW)).isdisjoint(origins):
        return before
    # --entry module:function adds the agent's own file to those that the user named.
    is_added = options.entry is not None and ":" in options.entry
    others = [] if home in given and not is_added else [p for p in given if p != home]
    named = (Path(os.path.relpath(path, home.parent)).as_posix() for path in others)
    return tuple(dict.fromkeys((*before, *named)))


def _as_it_reads_later(found: Survey, options: Options, home: Path) -> Options:
    """Name calls by their functions, because hooks move lines, and paths from ``home``."""

    def moved(name: str) -> str:
        call = next((c for c in found.calls if is_named(c, name)), None)
        if call is None or not name.rpartition(":")[2].isdigit():
            return name
        alone = [c.function for c in found.calls].count(call.function) == 1
        return call.function if alone else name

    return replace(
        options,
        policy=tuple(map(moved, options.policy)),
        auxiliary=tuple(map(moved, options.auxiliary)),
        scenarios=from_train_module(options.scenarios, home.parent),
    )


def _agent_edits(
    before: Survey, found: Survey, decisions: Decisions, options: Options
) -> tuple[list[FileEdit], list[FileEdit]]:
    """Return the edits of the agent's files, and those of the hooks files they need.

    ``before``: the files as they are, of which ``found`` may lack some hooks.
    """
    read = {file.source.path: file.source.data for file in before.files}
    places = _hooks_places([file for file in found.files if file.edited])
    edits: list[FileEdit] = []
    needed: dict[Path, None] = {}
    for file in found.files:
        if file.uses_art is not None or not file.edited:
            continue
        wraps = wraps_of(file, decisions)
        place = places[file.source.path]
        if wraps or file.hooks:
            needed |= dict.fromkeys([place.folder, *_behind_link(file, place)])
        after = adapt_source(file, wraps, place, options.line_length)
        edits.append(FileEdit(file.source.path, read[file.source.path], after))
    return edits, [edit for folder in needed for edit in _hooks_files(folder)]


def _hooks_files(folder: Path) -> Iterator[FileEdit]:
    """Write the hooks file, and remove what an older art-adapt has put beside it."""
    for root in import_roots(folder / hooks_file.NAME):  # it would hide one above
        package = root / hooks_file.MODULE / "__init__.py"
        if package.exists():
            raise _taken(package, "a package", "the hooks need")
        if (file := _existing(root / hooks_file.NAME)) and not hooks_file.is_ours(file):
            raise _taken(root / hooks_file.NAME, "a file", "the hooks need")
    edit = _sibling(folder / hooks_file.NAME, hooks_file.contents())
    if edit.before is not None and hooks_file.is_current(edit.before):
        edit = replace(edit, after=edit.before)  # whoever has formatted it
    yield edit
    former = folder / hooks_file.FORMER_SIBLING
    if former.is_file() and hooks_file.is_former(data := former.read_bytes()):
        yield FileEdit(former, data, None, generated=True)


def _taken(path: Path, what: str, needed: str, otherwise: str = "") -> Refusal:
    return Refusal(
        f"name conflict with {what} of yours: {needed} this name",
        why="art-adapt would overwrite it, or your agent would import it by mistake",
        next_step=f"rename it, then run art-adapt again{otherwise}",
        path=path,
    )


def _is_edited(edit: FileEdit) -> bool:
    """Tell whether somebody has edited the train module that ``edit`` would replace."""
    before = edit.before
    return before is not None and edit.changes and not train_module.is_untouched(before)


def _is_as_before(edit: FileEdit) -> bool:
    """Tell whether a train module would be written as it was, before somebody edited it."""
    before, after = edit.before, edit.after
    if before is None or after is None or train_module.is_untouched(before):
        return False
    return train_module.is_made_of(before, after)


def _sibling(path: Path, content: bytes) -> FileEdit:
    """Return the edit that gives ``path`` its content; other line ends are no change."""
    before = _existing(path)
    if before is not None and before.replace(b"\r\n", b"\n") == content:
        content = before
    return FileEdit(path, before, content, generated=True)


def _existing(path: Path) -> bytes | None:
    """Return what a file holds, None if there is none.

    Raises:
        Refusal: something else has its name.
    """
    if path.is_file():
        return path.read_bytes()
    if not os.path.lexists(path):
        return None
    kind = "a broken link" if path.is_symlink() else "a special file"
    raise Refusal(
        f"cannot write this file: {'a folder' if path.is_dir() else kind} has its name",
        next_step="rename or remove it, then run art-adapt again",
        path=path,
    )


def _hooks_places(files: Sequence[FileSurvey]) -> dict[Path, HooksPlace]:
    """Choose where each file imports its hooks from: few folders, each near its files."""
    users: Counter[Path] = Counter()
    for file in files:
        users.update(place.folder for place in _possible(file))

    def fits(place: HooksPlace) -> tuple[int, int]:
        return users[place.folder], len(place.folder.parts)

    return {file.source.path: max(_possible(file), key=fits) for file in files}


def _possible(file: FileSurvey) -> tuple[HooksPlace, ...]:
    """Return where a file's hooks may lie; those of an adapted file stay where they are."""
    return file.hooks_places if file.hooks_place is None else (file.hooks_place,)


def _behind_link(file: FileSurvey, place: HooksPlace) -> Iterator[Path]:
    """Yield where Python looks for the hooks if a link to a script is run."""
    here, real = file.source.path.parent, Path(os.path.realpath(file.source.path))
    if (
        file.source.path.is_symlink()
        and "" in (place.prefix, place.otherwise)
        and not here.samefile(real.parent)
    ):
        yield real.parent
