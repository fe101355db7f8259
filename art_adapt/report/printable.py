"""Makes text of other programs safe to print on a terminal."""

from __future__ import annotations

import re

# Everything that a terminal takes as an order, but for line ends and tabs; and halves of
# surrogate pairs, which no encoding has.
CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""Spell control characters, as ``\x1b``: a terminal would act on them."""
    text = text.replace("\r\n", "\n")
    return CONTROL.sub(lambda found: repr(found[0])[1:-1], text)
