"""Fills in ``template.py.in``: ``$name`` is a value; ``#: if name``, ``#: else``, ``#:
end`` lines keep parts or drop them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from string import Template

TEMPLATE = Path(__file__).with_name("template.py.in")


def fill(values: Mapping[str, str], conditions: Mapping[str, bool]) -> str:
    """The template's text with ``values`` filled in and only the parts whose conditions
    hold.
    """
    kept: list[str] = []
    holds = [True]
    for line in TEMPLATE.read_text(encoding="utf-8").splitlines(keepends=True):
        word, _, name = line.removeprefix("#: ").strip().partition(" ")
        if not line.startswith("#: "):
            if all(holds):
                kept.append(line)
        elif word == "if":
            holds.append(conditions[name])
        elif word == "else":
            holds.append(not holds.pop())
        elif word == "end":
            holds.pop()
        else:
            raise ValueError(f"template: {line!r}")
    return Template("".join(kept)).substitute(values)


def names_of_template() -> frozenset[str]:
    """The names that the train module binds itself, and that the agent's must not be."""
    text = TEMPLATE.read_text(encoding="utf-8")
    bound = re.findall(
        r"^(?:async def|def|class) (\w+)|^([A-Z_]+) =", text, re.MULTILINE
    )
    imported = re.findall(r"^(?:import|from [\w.]+ import) (\w+)", text, re.MULTILINE)
    return frozenset(
        {name for pair in bound for name in pair if name} | {*imported, "score"}
    )
