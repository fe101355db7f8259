"""Put the hooks that were decided on into an agent's files, and take them off again."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from art_adapt.code.hooks import (
    HOOKS,
    RECORDING_MODULE,
    HooksPlace,
    hook_imports,
)
from art_adapt.codemods.cannot_edit import CannotEdit
from art_adapt.codemods.layout import Wrap, looks_formatted
from art_adapt.decisions import Decisions
from art_adapt.errors import Refusal
from art_adapt.source import Source
from art_adapt.span import Span
from art_adapt.survey.model import FileSurvey

if TYPE_CHECKING:
    from art_adapt.codemods.import_hooks import HookImport
    from art_adapt.codemods.locating import Parsed

DEFAULT_LINE_LENGTH = 88
PARSE_DEPTH = 20_000  # libcst visits recursively: a sum of 500 terms is 500 calls deep


def parse(source: Source, *, written_by_libcst: bool = False) -> Parsed:
    """Parse with libcst, and make sure that it gives the file back byte for byte.

    ``written_by_libcst``: the source is libcst's own output, which needs no such check.

    Raises:
        Refusal: the file comes back different, or libcst cannot parse it.
    """
    import libcst as cst

    from art_adapt.codemods.locating import Parsed

    sys.setrecursionlimit(max(sys.getrecursionlimit(), PARSE_DEPTH))
    try:
        module = cst.parse_module(source.data)
        same = written_by_libcst or module.bytes == source.data
    except RecursionError:
        raise Refusal("nested too deeply to edit", path=source.path) from None
    except Exception as error:
        raise Refusal(
            "libcst cannot parse this file, although Python can",
            why=str(error).splitlines()[0],
            path=source.path,
        ) from error
    if not same:
        raise Refusal(
            "libcst does not reproduce this file byte for byte",
            why="an edit could change other lines, for example at a form feed before a statement or a lone carriage return at the end",
            next_step="remove the unusual character, then run art-adapt again",
            path=source.path,
        )
    return Parsed(module, source.tree, source.lines)


def hook_names(file: FileSurvey) -> dict[str, str]:
    """Choose the local name of every hook in ``file``.

    That is the name it is imported under, or its own, or the first of ``art_...``,
    ``art2_...`` that the file does not use. A name that ends with the hook's own is known
    again by the recorder.
    """
    imported = {hook: local for local, hook in file.hooks.items()}
    unknown = any(name.startswith("*") for name in file.names)  # import *, exec
    taken = file.names | (set(HOOKS) if unknown else set())
    return {hook: imported.get(hook) or _free_name(hook, taken) for hook in HOOKS}


def _free_name(hook: str, taken: Collection[str]) -> str:
    numbered = (f"art{number}_{hook}" for number in itertools.count(2))
    names = itertools.chain((hook, f"art_{hook}"), numbered)
    return next(name for name in names if name not in taken)


def wraps_of(
    file: FileSurvey, decisions: Decisions, hooks: Iterable[str] = HOOKS
) -> list[Wrap]:
    """Return the hooks that ``file`` lacks, of the kinds in ``hooks``."""
    names = hook_names(file)
    path = file.source.path
    wanted = [
        ("recorded", call.span, call.around)
        for call in decisions.policy
        if call.place.path == path and not call.recorded
    ]
    wanted += [
        ("carried", thread.span, thread.around)
        for thread in file.threads
        if not thread.marked
    ]
    wanted += [
        ("reward", site.span, None)
        for site in decisions.rewards
        if site.place.path == path and not site.marked
    ]
    wanted += [
        ("final_answer", exit_.span, exit_.around)
        for exit_ in decisions.exits
        if exit_.place.path == path and not exit_.marked
    ]
    return [
        Wrap(span, names[hook], around)
        for hook, span, around in wanted
        if hook in hooks
    ]


def adapt_source(
    file: FileSurvey, wraps: Sequence[Wrap], place: HooksPlace, line_length: int
) -> bytes:
    """Put ``wraps`` into the file, and check that they come off byte for byte (G1).

    ``place``: where the file imports its hooks from.

    Raises:
        Refusal: the file cannot be edited safely.
    """
    from libcst import CSTValidationError

    if not wraps:
        return file.source.data
    parsed = parse(file.source)
    failure: Refusal | None = None
    # In a formatted file, lay the hooks out as the formatter would. Where that does not
    # come off exactly, put them in without regard to line lengths.
    formatted = looks_formatted(parsed.lines, line_length)
    for hug in (False, True) if formatted else (True,):
        try:
            after = _with_hooks(parsed, file, wraps, place, line_length, hug=hug)
        except CannotEdit as error:
            raise _refusal(error, file.source.path) from error
        except CSTValidationError as error:
            failure = Refusal(
                "cannot edit this file", why=str(error), path=file.source.path
            )
            continue
        failure = _irreversible(file, after, line_length)
        if failure is None:
            return after
    assert failure is not None
    raise failure


def without_recording(
    file: FileSurvey, spans: Collection[Span], place: HooksPlace, line_length: int
) -> bytes:
    """Take ``recorded(...)`` off calls that are no longer trained, and off an import without use.

    Raises:
        Refusal: a hook is used in a way that art-adapt does not write.
    """
    from art_adapt.codemods.import_hooks import with_hook_import, without_hook_import
    from art_adapt.codemods.unhooking import remove_hooks_around

    parsed = parse(file.source)
    try:
        module, left = remove_hooks_around(parsed, file.hooks, spans, line_length)
    except CannotEdit as error:
        raise _refusal(error, file.source.path) from error
    if left != file.hooks.keys():
        used = {local: hook for local, hook in file.hooks.items() if local in left}
        module = without_hook_import(module, RECORDING_MODULE, file.hooks)
        imported = hook_import(replace(file, hooks=used), (), place)
        module = with_hook_import(module, imported)
    return module.bytes


def _refusal(error: CannotEdit, path: Path) -> Refusal:
    return Refusal(
        error.what, error.why, error.next_step, path, error.line, error.column
    )


def _with_hooks(
    parsed: Parsed,
    file: FileSurvey,
    wraps: Sequence[Wrap],
    place: HooksPlace,
    line_length: int,
    *,
    hug: bool,
) -> bytes:
    from art_adapt.codemods.hooking import hook_expressions
    from art_adapt.codemods.import_hooks import with_hook_import

    edited = hook_expressions(parsed, wraps, line_length, hug=hug)
    return with_hook_import(edited, hook_import(file, wraps, place)).bytes


def hook_import(
    file: FileSurvey, wraps: Sequence[Wrap], place: HooksPlace
) -> HookImport:
    from art_adapt.codemods.import_hooks import HookImport

    hooks = dict(file.hooks)
    own = {local: hook for hook, local in hook_names(file).items()}
    hooks |= {wrap.hook: own[wrap.hook] for wrap in wraps}
    folder = file.source.path.parent
    beside = (
        {entry.name.removesuffix(".py") for entry in os.scandir(folder)}
        if folder.is_dir()
        else set()
    )
    package = place.prefix.strip(".").partition(".")[0]
    return HookImport(
        RECORDING_MODULE,
        place.prefix,
        hooks,
        place.otherwise,
        frozenset({package} if package else beside),
    )


def _irreversible(file: FileSurvey, after: bytes, line_length: int) -> Refusal | None:
    """Return why ``after`` is not Python or not reversible; None if it is both."""
    adapted = Source(file.source.path, after)
    try:
        restored = remove(adapted, line_length, written_by_libcst=True)
    except Refusal as refusal:
        return Refusal(
            f"adapting this file would break it: {refusal.what}",
            path=file.source.path,
            line=refusal.line,
        )
    expected = file.source.data if not file.hooks else remove(file.source, line_length)
    if restored == expected:
        return None
    before, back = expected.splitlines(), restored.splitlines()
    line = next(
        (n for n, (a, b) in enumerate(zip(before, back, strict=False), 1) if a != b),
        min(len(before), len(back)) + 1,
    )
    return Refusal(
        "the hooks could not be removed from this file byte for byte",
        why="art-adapt writes only what it can undo exactly",
        next_step=f"if your formatter's line length is not {line_length}, set line-length in [tool.art-adapt]",
        path=file.source.path,
        line=line,
    )


def remove(
    source: Source, line_length: int, *, written_by_libcst: bool = False
) -> bytes:
    """Take the hooks off the file.

    Raises:
        Refusal: the file cannot be parsed, or uses hooks in ways that art-adapt does not write.
    """
    from art_adapt.codemods.unhooking import remove_hooks

    if RECORDING_MODULE.encode() not in source.data:
        return source.data
    imports = hook_imports(source.tree)  # a syntax error is told in Python's words
    hooks = {name.asname or name.name for node in imports for name in node.names}
    parsed = parse(source, written_by_libcst=written_by_libcst)
    try:
        return remove_hooks(parsed, hooks, RECORDING_MODULE, line_length).bytes
    except CannotEdit as error:
        raise _refusal(error, source.path) from error
