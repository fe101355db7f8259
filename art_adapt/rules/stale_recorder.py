"""art_recording.py is not the copy that this art-adapt writes, so it may record wrongly

``art_recording.py`` is a copy. A copy that was edited, or written by an older art-adapt, may
record differently than the train module and these rules expect.

Run ``art-adapt`` on the agent again: it replaces the copy.

Evidence: art_recording.py (its docstring).
"""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity

RULE = Rule("ART103", "stale-recorder", Severity.WASTE)
BAD = (
    '''\
"""Hooks that record an agent's model calls on an ART trajectory while it trains."""  # <-

def recorded(create):
    return create
''',
)
GOOD = ("def recorded(create):\n    return create\n",)

BEGINNINGS = ('"""Hooks that record', '"""The Responses API')


def check(code: Code) -> Iterator[Found]:
    first = code.source.text.partition("\n")[0]
    name = _copied(first)
    if name is None:
        return
    if code.source.data.replace(b"\r\n", b"\n") != name:
        yield Found(
            "this recorder was edited or written by another version of art-adapt: run "
            "art-adapt on the agent again",
            1,
            0,
            1,
            len(first.encode()),
        )


def _copied(first: str) -> bytes | None:
    """Return the content of the original that has this first line."""
    if not first.startswith(BEGINNINGS):
        return None
    from art_adapt.plan import COPIES

    for original in COPIES.values():
        data = original.read_bytes()
        beginning = data.partition(b"\n")[0].decode()
        if first.rstrip('"# <-\r').rstrip(".") == beginning.rstrip('"').rstrip("."):
            return data
    return None
