"""``# art: ignore[ART102]`` comments."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from art_adapt.rules.rule import Rule

COMMENT = re.compile(r"#.*?\bart:\s*ignore\b(?!-)\s*(\[.*\]|\[|$|(?=#))")


@dataclass(frozen=True)
class Ignore:
    """A comment; no codes: it is for every rule. One that cannot be read is for none."""

    line: int
    column: int
    end_column: int
    codes: tuple[str, ...]

    def covers(self, rule: Rule) -> bool:
        named = (rule.name, *(rule.code[:end] for end in range(4, 7)))
        return not self.codes or any(code in named for code in self.codes)


def ignores_in(text: str, *, python: bool = True) -> list[Ignore]:
    """The comments of a file, of Python not what looks like one in a string."""
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
