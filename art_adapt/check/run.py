"""Run the rules over files.

Nothing is executed, and a file that mentions neither ART nor the recorder costs one
search through its bytes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from art_adapt import hooks_file
from art_adapt.check.diagnostic import Diagnostic
from art_adapt.check.ignores import apply_ignores
from art_adapt.check.own_rules import UNREADABLE
from art_adapt.check.selection import Selection
from art_adapt.code.session import Session
from art_adapt.errors import Refusal
from art_adapt.rules.rule import Found, Rule
from art_adapt.rules.target import UNKNOWN, Target
from art_adapt.source import Source, read_source

if TYPE_CHECKING:
    from art_adapt.check.notebooks import Notebook

# A search for words is ten times as fast as the expression, and rules out most files.
WORDS = (b" art", b"\tart", b",art", b"art_recording", b"messages_and_choices")
MOST_KEPT = 200  # files that are kept, to be asked about by those that import them
MARKS = tuple(mark.encode() for mark in hooks_file.MARKS)
IMPORTS_ART = re.compile(
    rb"^[ \t]*(?:from[ \t]+art[ \t.]|import[ \t]+(?:[\w., \t]*[, \t])?art[ \t.,;#\r\n])"
    rb"|art_recording|messages_and_choices|" + b"|".join(map(re.escape, MARKS)),
    re.MULTILINE,
)
DEPENDENCIES = re.compile(r"pyproject\.toml|requirements.*\.txt")
NAMES_ART = re.compile(rb"openpipe[-_.]art", re.IGNORECASE)


def mentions_art(data: bytes) -> bool:
    """Return whether a file has code for ART or the recorder, or is one of ours."""
    words = (*WORDS, *MARKS)
    return any(word in data for word in words) and bool(IMPORTS_ART.search(data))


def is_checked(name: str) -> bool:
    """Return whether some rule reads files of this name."""
    return name.endswith((".py", ".ipynb")) or names_dependencies(name)


def names_dependencies(name: str) -> bool:
    """Return whether files of this name declare dependencies."""
    return DEPENDENCIES.fullmatch(name) is not None


@dataclass(frozen=True)
class Checked:
    """What was found, and in how much."""

    found: tuple[Diagnostic, ...] = ()
    files: int = 0
    with_art: int = 0  # of them, those that have code for ART or the recorder

    def __add__(self, other: Checked) -> Checked:
        return Checked(
            (*self.found, *other.found),
            self.files + other.files,
            self.with_art + other.with_art,
        )


def check_files(
    files: Iterable[Path],
    selection: Selection,
    target: Target = UNKNOWN,
    ignored_in: Callable[[Path], Sequence[str]] = lambda path: (),
) -> Checked:
    """Return what the rules find in ``files``.

    ``target`` is what the project says of its ART, and the ART that runs it;
    ``ignored_in`` names the rules to leave out in a file.
    """
    checked = Checked()
    session = Session()
    for path in files:
        if session.files >= MOST_KEPT:
            session = Session()
        own = selection.without(ignored_in(path))
        checked += _check_file(path, own, target, session)
    return checked


def _check_file(
    path: Path, selection: Selection, target: Target, session: Session
) -> Checked:
    if path.suffix != ".ipynb":
        try:
            source = replace(read_source(path), path=path)
        except Refusal as refusal:
            unreadable = Diagnostic(path, UNREADABLE, _unreadable(refusal))
            return Checked((unreadable,), files=1)
        return check_source(source, selection, target, session)
    from art_adapt.check.notebooks import read_notebook

    try:
        notebook = read_notebook(path)
    except Refusal as refusal:
        return Checked((Diagnostic(path, UNREADABLE, _unreadable(refusal)),), files=1)
    if notebook is None:
        return Checked(files=1)
    checked = check_source(Source(path, notebook.code), selection, target)
    placed = tuple(_in_cell(each, notebook) for each in checked.found)
    return replace(checked, found=placed)


def _in_cell(diagnostic: Diagnostic, notebook: Notebook) -> Diagnostic:
    """Give a finding its place in a notebook, and no fix: notebooks are not written."""
    found = diagnostic.found
    cell, line = notebook.place(found.line)
    end_line = max(line, found.end_line - found.line + line)
    found = replace(found, line=line, end_line=end_line, fix=None)
    return replace(diagnostic, found=found, cell=cell)


def check_source(
    source: Source,
    selection: Selection,
    target: Target = UNKNOWN,
    session: Session | None = None,
) -> Checked:
    """Return what the rules find in one file, without what its comments ignore."""
    if names_dependencies(source.path.name):
        if not NAMES_ART.search(source.data):
            return Checked(files=1)
        known = list(_check_dependencies(source))
    elif _is_of_art(source):
        known = list(_check(source, target, session or Session()))
    else:
        return Checked(files=1)
    chosen = [(rule, found) for rule, found in known if selection.takes(rule)]
    if b"ignore" in source.data and not any(rule is UNREADABLE for rule, _ in chosen):
        python = not names_dependencies(source.path.name)
        chosen = apply_ignores(source.text, selection, chosen, python=python)
    diagnostics = (Diagnostic.of(source, rule, found) for rule, found in chosen)
    return Checked(tuple(dict.fromkeys(diagnostics)), files=1, with_art=1)


def _is_of_art(source: Source) -> bool:
    """Return whether rules read a file: one with code for ART, or an agent that is trained."""
    if mentions_art(source.data) or b"\0" in source.data:
        return True
    if not source.mentions_model:
        return False
    from art_adapt.train_file import standing_module  # which reads Python

    return standing_module(source.path) is not None


def _check_dependencies(source: Source) -> Iterator[tuple[Rule, Found]]:
    from art_adapt.rules import rules
    from art_adapt.rules.code import Code

    for each in rules():
        if each.reads_dependencies:
            try:
                for found in each.check(Code(source)):
                    yield each.rule, found
            except Refusal as refusal:
                yield UNREADABLE, _unreadable(refusal)


def _check(
    source: Source, target: Target, session: Session
) -> Iterator[tuple[Rule, Found]]:
    from art_adapt.check.notebooks import as_python
    from art_adapt.rules import rules
    from art_adapt.rules.code import Code

    try:
        code = Code(source, target, session=session)
        code.syntax  # noqa: B018 - raises on a syntax error
    except Refusal as refusal:
        exported = as_python(source)
        if exported is None:
            yield UNREADABLE, _unreadable(refusal)
            return
        source, code = exported, Code(exported, target, exported=True)
    statements: dict[int, tuple[int, int]] = {}
    for each in rules():
        if not each.rule.holds_for(target):
            continue
        try:
            for found in each.check(code):
                statements = statements or _statements(source.tree)
                if code.exported:  # a file that does not compile is not written
                    found = replace(found, fix=None)
                yield each.rule, _placed(source, found, statements)
        except RecursionError:
            message = f"nested too deeply: {each.rule.code} did not check this file"
            yield UNREADABLE, Found(message, 1, 0, 1, 0)


def _statements(tree: ast.Module) -> dict[int, tuple[int, int]]:
    """Map each line to the first and last line of its statement.

    A compound statement ends before its body.
    """
    found: dict[int, tuple[int, int]] = {}
    for node in ast.walk(tree):  # outer ones first
        if isinstance(node, ast.stmt | ast.excepthandler):
            body = getattr(node, "body", None)
            last = node.end_lineno or node.lineno
            if isinstance(body, list) and body:
                last = max(node.lineno, body[0].lineno - 1)
            found |= dict.fromkeys(range(node.lineno, last + 1), (node.lineno, last))
    return found


def _placed(
    source: Source, found: Found, statements: dict[int, tuple[int, int]]
) -> Found:
    """Add the lines of the statement, for ignore comments.

    A fix that would delete a comment is dropped.
    """
    fix = found.fix
    if fix is not None and any(
        "#" in line
        for edit in fix.edits
        for line in source.lines[edit.start[0] - 1 : edit.end[0] - 1]
    ):
        fix = None
    return replace(found, fix=fix, statement=statements.get(found.line, (0, 0)))


def _unreadable(refusal: Refusal) -> Found:
    line, column = refusal.line or 1, max((refusal.column or 1) - 1, 0)
    message = f"{refusal.what}: this file was not checked"
    return Found(message, line, column, line, column)
