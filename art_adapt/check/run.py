"""Runs the rules over files. Nothing is executed; a file that mentions neither ART nor the
recorder costs one search through its bytes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from art_adapt.check.cache import Cache
from art_adapt.check.ignores import Ignore, ignores_in
from art_adapt.errors import Refusal
from art_adapt.rules.rule import Found, Rule, Severity
from art_adapt.source import Source, read_source

if TYPE_CHECKING:
    from art_adapt.check.notebooks import Notebook

MENTIONS_ART = re.compile(
    rb"^[ \t]*(?:from[ \t]+art[ \t.]|import[ \t]+(?:[\w., \t]*[, \t])?art[ \t.,;#\r\n])"
    rb"|art_recording|messages_and_choices|Hooks that record an agent's model calls",
    re.MULTILINE,
)
DEPENDENCIES = re.compile(r"pyproject\.toml|requirements.*\.txt")
NAMES_ART = re.compile(rb"openpipe[-_.]art", re.IGNORECASE)
UNREADABLE = Rule("ART000", "unreadable", Severity.WASTE)
UNUSED_IGNORE = Rule("ART001", "unused-ignore", Severity.UNTIDY)
OWN = {
    UNREADABLE: "the file could not be read as Python, so nothing is known about it",
    UNUSED_IGNORE: "an ignore comment that ignores nothing hides what comes later",
}


@dataclass(frozen=True)
class Diagnostic:
    """What one rule found in one file. Columns are characters, from 1; ``text`` is the
    line.
    """

    path: Path
    rule: Rule
    found: Found
    column: int = 1
    end_column: int = 1
    text: str = ""
    cell: int | None = None  # of a notebook, from 1; lines are the cell's then

    @staticmethod
    def of(source: Source, rule: Rule, found: Found) -> Diagnostic:
        try:
            lines = source.lines
        except Refusal:  # its encoding
            return Diagnostic(source.path, rule, found)

        def characters(line: int, column: int) -> int:
            text = lines[line - 1] if line <= len(lines) else ""
            return len(text.encode()[:column].decode(errors="replace")) + 1

        return Diagnostic(
            source.path,
            rule,
            found,
            characters(found.line, found.column),
            characters(found.end_line, found.end_column),
            lines[found.line - 1] if found.line <= len(lines) else "",
        )

    @property
    def order(self) -> tuple[int, str, int, int, int, str]:
        """The worst first, then by place."""
        found = self.found
        place = (str(self.path), self.cell or 0, found.line, found.column)
        return (self.rule.severity, *place, self.rule.code)


@dataclass(frozen=True)
class Selection:
    """Which rules count: by code, by its beginning, by name, or ``ALL``. Without
    ``select``, all but the untidy ones.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def takes(self, rule: Rule) -> bool:
        if rule.code == UNREADABLE.code:
            return True  # a file of which nothing is known is never clean
        if any(_fits(rule, each) for each in self.ignore):
            return False
        if self.select:
            return any(_fits(rule, each) for each in self.select)
        return rule.severity is not Severity.UNTIDY or rule is UNUSED_IGNORE

    def unknown(self) -> list[str]:
        """Selectors that fit no rule."""
        if not self.select and not self.ignore:
            return []
        from art_adapt.rules import rules

        every = [*(each.rule for each in rules()), *OWN]
        return [
            selector
            for selector in (*self.select, *self.ignore)
            if not any(_fits(rule, selector) for rule in every)
        ]


def _fits(rule: Rule, selector: str) -> bool:
    return (
        selector == "ALL"
        or selector == rule.name
        or (selector.startswith("ART") and rule.code.startswith(selector))
    )


def is_checked(name: str) -> bool:
    """Whether rules read files of this name."""
    return name.endswith((".py", ".ipynb")) or names_dependencies(name)


def names_dependencies(name: str) -> bool:
    """Whether such a file says what is to be installed."""
    return DEPENDENCIES.fullmatch(name) is not None


def check_files(
    files: Iterable[Path],
    selection: Selection,
    cache: Cache,
    auxiliary: frozenset[str] = frozenset(),
) -> Iterator[Diagnostic]:
    """What is found in ``files``. ``auxiliary``: functions whose calls are not trained."""
    for path in files:
        notebook = None
        try:
            if path.suffix == ".ipynb":
                from art_adapt.check.notebooks import read_notebook

                notebook = read_notebook(path)
                if notebook is None:
                    continue
                source = Source(path, notebook.code)
            else:
                source = replace(read_source(path), path=path)
        except Refusal as refusal:
            yield Diagnostic(path, UNREADABLE, _unreadable(refusal))
            continue
        for diagnostic in check_source(source, selection, cache, auxiliary):
            yield diagnostic if notebook is None else _in_cell(diagnostic, notebook)


def _in_cell(diagnostic: Diagnostic, notebook: Notebook) -> Diagnostic:
    """With the places of its cell, and no fix: notebooks are not written."""
    found = diagnostic.found
    cell, line = notebook.place(found.line)
    end_line = max(line, found.end_line - found.line + line)
    found = replace(found, line=line, end_line=end_line, fix=None)
    return replace(diagnostic, found=found, cell=cell)


def check_source(
    source: Source,
    selection: Selection,
    cache: Cache,
    auxiliary: frozenset[str] = frozenset(),
) -> Iterator[Diagnostic]:
    """What is found in one file."""
    if names_dependencies(source.path.name):
        if not NAMES_ART.search(source.data):
            return
        # Not kept: what lies beside such a file counts as well.
        known = list(_check_dependencies(source))
    elif not MENTIONS_ART.search(source.data):
        return
    else:
        cached = cache.known(source.data)
        known = list(_check(source, auxiliary)) if cached is None else cached
        if cached is None:
            cache.learn(source.data, known)
    chosen = [(rule, found) for rule, found in known if selection.takes(rule)]
    if b"ignore" in source.data and not any(rule is UNREADABLE for rule, _ in chosen):
        chosen = _ignored(source, selection, chosen)
    for rule, found in chosen:
        yield Diagnostic.of(source, rule, found)


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


def _check(source: Source, auxiliary: frozenset[str]) -> Iterator[tuple[Rule, Found]]:
    from art_adapt.rules import rules
    from art_adapt.rules.code import Code

    try:
        code = Code(source, auxiliary)
        code.syntax  # noqa: B018 - a syntax error is told here
    except Refusal as refusal:
        yield UNREADABLE, _unreadable(refusal)
        return
    statements = _statements(source.tree)
    for each in rules():
        try:
            for found in each.check(code):
                yield each.rule, _placed(source, found, statements)
        except RecursionError:
            too_deep = Refusal(f"nested too deeply for {each.rule.code}")
            yield UNREADABLE, _unreadable(too_deep)


def _statements(tree: ast.Module) -> dict[int, tuple[int, int]]:
    """For each line the first and last line of its statement, of a compound one those
    before its body.
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
    """With the lines of its statement, for ignore comments; without a fix that would
    take a comment with it.
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
    message = f"{refusal.what}: nothing is known about this file"
    return Found(message, line, column, line, column)


def _ignored(
    source: Source, selection: Selection, found: list[tuple[Rule, Found]]
) -> list[tuple[Rule, Found]]:
    """Without what comments ignore; with the comments that ignore nothing."""
    python = not names_dependencies(source.path.name)
    comments = ignores_in(source.text, python=python)
    used: set[Ignore] = set()
    kept: list[tuple[Rule, Found]] = []
    for rule, each in found:
        lines = {*range(each.line, each.end_line + 1), *each.statement}
        covering = [c for c in comments if c.line in lines and c.covers(rule)]
        used.update(covering)
        if not covering:
            kept.append((rule, each))
    if selection.takes(UNUSED_IGNORE):
        for comment in comments:
            if comment not in used and _is_checked(comment, selection):
                what = f" of {', '.join(comment.codes)}" if comment.codes else ""
                message = f"this ignores nothing{what}: it would hide what comes later"
                place = (comment.line, comment.column, comment.line, comment.end_column)
                kept.append((UNUSED_IGNORE, Found(message, *place)))
    return kept


def _is_checked(comment: Ignore, selection: Selection) -> bool:
    """Whether a rule that it names was run at all."""
    from art_adapt.rules import rules

    by_code = {each.rule.code: each.rule for each in rules()}
    if not comment.codes:
        return True
    covered = [rule for rule in by_code.values() if comment.covers(rule)]
    return not covered or any(selection.takes(rule) for rule in covered)
