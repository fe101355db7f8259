"""A function's docstring begins with a verb, or says of what it is true."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEADLESS = frozenset(
    {"A", "All", "An", "Each", "Every", "How", "Like", "One", "That", "The", "Those"}
    | {"What", "When", "Where", "Whether", "Which", "Who", "Whose", "Why"}
)


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        decorators = " ".join(map(ast.unparse, node.decorator_list))
        # A property is named for a thing, and a page or command shows its text to users.
        if "property" not in decorators and (text := ast.get_docstring(node)):
            yield node.lineno, text


def test_docstrings_begin_with_a_verb() -> None:
    headless = [
        f"{path.relative_to(ROOT)}:{line}  {text.splitlines()[0]}"
        for folder in ("art_adapt", "codemods")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line, text in docstrings(path)
        if text.split()[0].strip(",.:") in HEADLESS
    ]
    assert not headless, "\n".join(headless)
