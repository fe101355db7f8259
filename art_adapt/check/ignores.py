"""``# art: ignore[ART102]`` comments."""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import dataclass

COMMENT = re.compile(r"#.*?\bart:\s*ignore(?:\[([\w\s,]*)\])?")


@dataclass(frozen=True)
class Ignore:
    """A comment; no codes: it is for every rule."""

    line: int
    column: int
    end_column: int
    codes: tuple[str, ...]

    def covers(self, code: str) -> bool:
        return not self.codes or code in self.codes


def ignores_in(text: str) -> list[Ignore]:
    """The comments of a file, not what looks like one in a string."""
    if "art: ignore" not in text and "art:ignore" not in text:
        return []
    found: list[Ignore] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type != tokenize.COMMENT:
                continue
            match = COMMENT.search(token.string)
            if match:
                codes = re.findall(r"\w+", match[1] or "")
                line, column = token.start
                found.append(Ignore(line, column, token.end[1], tuple(codes)))
    except (tokenize.TokenError, SyntaxError):
        pass  # the file is reported as unreadable
    return found
