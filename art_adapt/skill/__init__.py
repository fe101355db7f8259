"""Tells coding assistants how to use art-adapt: one text, where each of them looks for it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

BEGIN, END = "<!-- art-adapt: begin -->", "<!-- art-adapt: end -->"
TEXT = Path(__file__).with_name("SKILL.md")


@dataclass(frozen=True)
class Assistant:
    """Where an assistant looks for what it should know.

    ``shared``: the file is the project's, and only a part of it is written.
    """

    name: str
    path: Path
    shared: bool = False


ASSISTANTS = {
    each.name: each
    for each in (
        Assistant("claude", Path(".claude", "skills", "art-adapt", "SKILL.md")),
        Assistant("codex", Path("AGENTS.md"), shared=True),
        Assistant("cursor", Path(".cursor", "rules", "art-adapt.mdc")),
    )
}


def skill_text() -> str:
    """Return the text for assistants that read skills, with its front matter."""
    return TEXT.read_text(encoding="utf-8")


def written_for(assistant: Assistant, before: str) -> str:
    """Return what an assistant's file holds with the skill in it.

    ``before`` is what it holds now; "" if there is none. Of a shared file all else stays.
    """
    if not assistant.shared:
        return skill_text()
    body = re.sub(r"\A---\n.*?\n---\n+", "", skill_text(), flags=re.DOTALL)
    part = f"{BEGIN}\n{body.rstrip()}\n{END}"
    marked = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    if marked.search(before):
        return marked.sub(lambda _: part, before, count=1)
    return f"{before.rstrip()}\n\n{part}\n".lstrip("\n")
