"""Write docs/rules from the rules: ``python tests/rules/pages.py``."""

from __future__ import annotations

from pathlib import Path

from art_adapt.report.rules import rule_index, rule_page
from art_adapt.rules import rules

FOLDER = Path(__file__).parents[2] / "docs" / "rules"


def pages() -> dict[str, str]:
    """Return the files of docs/rules by name."""
    found = {f"{each.rule.code}.md": rule_page(each) for each in rules()}
    return {"index.md": rule_index(), **found}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.md"):
        old.unlink()
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
