"""Apply comments that ignore findings: ``# art: ignore[ART102]``."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from art_adapt.check.own_rules import UNUSED_IGNORE
from art_adapt.check.selection import Selection
from art_adapt.rules.rule import Found, Rule
from art_adapt.source import Source

CODES = re.compile(r"\bart:\s*ignore\s*\[[^\]]*\]")
LINE_ENDS = re.compile(r"(?<=\n)|(?<=\r)(?!\n)")  # lines as Python counts them
COMMENT = re.compile(r"#.*?\bart:\s*ignore\b(?!-)\s*(\[.*\]|\[|$|(?=#))")


@dataclass(frozen=True)
class Ignore:
    """An ignore comment.

    Without codes it covers every rule; if its codes cannot be read it covers none.
    """

    line: int
    column: int
    end_column: int
    codes: tuple[str, ...]

    def covers(self, rule: Rule) -> bool:
        """Return whether the comment ignores findings of ``rule``."""
        named = (rule.name, *(rule.code[:end] for end in range(4, 7)))
        return not self.codes or any(code in named for code in self.codes)


def ignores_in(text: str, *, python: bool = True) -> list[Ignore]:
    """Return the ignore comments of a file.

    In Python, text in a string that looks like a comment is not one.
    """
    if not re.search(r"art:\s*ignore", text):
        return []
    found: list[Ignore] = []
    for line, column, comment in _comments(text) if python else _after_hashes(text):
        match = COMMENT.search(comment)
        if match:
            names = match[1].strip("[]").split(",") if match[1] else []
            codes = tuple(name.strip() for name in names)
            found.append(Ignore(line, column, column + len(comment), codes))
    return found


def _comments(text: str) -> Iterator[tuple[int, int, str]]:
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield (*token.start, token.string)
    except (tokenize.TokenError, SyntaxError):
        pass  # the file is reported as unreadable


def _after_hashes(text: str) -> Iterator[tuple[int, int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        before, mark, after = line.partition("#")
        if mark:
            yield number, len(before), mark + after


def with_ignores(source: Source, found: Sequence[tuple[Rule, Found]]) -> bytes:
    """Return a file with a comment at the end of each statement in which something was found.

    A comment that ignores others there already gets the new codes.
    """
    by_line: dict[int, set[str]] = {}
    for rule, each in found:
        line = each.statement[1] or each.end_line
        by_line.setdefault(line, set()).add(rule.code)
    present = {each.line: each for each in ignores_in(source.text)}
    lines = LINE_ENDS.split(source.text)
    for line, codes in by_line.items():
        old = present.get(line)
        text = lines[line - 1].rstrip("\r\n")
        ending = lines[line - 1][len(text) :]
        if old is not None and not old.codes:
            continue  # it ignores all rules
        named = ", ".join(sorted({*codes, *(old.codes if old else ())}))
        if old is not None:
            marked = CODES.sub(f"art: ignore[{named}]", text[old.column :], count=1)
            text = text[: old.column] + marked
        else:
            text = f"{text.rstrip()}  # art: ignore[{named}]"
        lines[line - 1] = text + ending
    return "".join(lines).encode(source.encoding)


def apply_ignores(
    text: str,
    selection: Selection,
    found: Sequence[tuple[Rule, Found]],
    *,
    python: bool,
) -> list[tuple[Rule, Found]]:
    """Drop the findings that comments ignore, and report unused comments."""
    comments = ignores_in(text, python=python)
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
            if comment not in used and _was_checked(comment, selection):
                what = f" of {', '.join(comment.codes)}" if comment.codes else ""
                message = (
                    f"this comment ignores no finding{what}, but would hide later ones"
                )
                place = (comment.line, comment.column, comment.line, comment.end_column)
                kept.append((UNUSED_IGNORE, Found(message, *place)))
    return kept


def _was_checked(comment: Ignore, selection: Selection) -> bool:
    """Return whether some rule that the comment names is reported at all."""
    from art_adapt.rules import rules

    if not comment.codes:
        return True
    covered = [each.rule for each in rules() if comment.covers(each.rule)]
    return not covered or any(selection.takes(rule) for rule in covered)
