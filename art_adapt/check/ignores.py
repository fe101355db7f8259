"""``# art: ignore[ART102]`` comments."""

from __future__ import annotations

import io
import re
import tokenize
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


def ignores_in(text: str) -> list[Ignore]:
    """The comments of a file, not what looks like one in a string."""
    if not re.search(r"art:\s*ignore", text):
        return []
    found: list[Ignore] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type != tokenize.COMMENT:
                continue
            match = COMMENT.search(token.string)
            if match:
                codes = [code.strip() for code in match[1].strip("[]").split(",")]
                if not match[1]:
                    codes = []
                line, column = token.start
                found.append(Ignore(line, column, token.end[1], tuple(codes)))
    except (tokenize.TokenError, SyntaxError):
        pass  # the file is reported as unreadable
    return found
