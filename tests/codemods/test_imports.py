"""The codemods know nothing of the pipeline that uses them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from art_adapt import codemods

MODULES = sorted(Path(codemods.__path__[0]).glob("*.py"))


def imported(path: Path) -> Iterator[str]:
    """What a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level and node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_codemods_import_nothing_of_the_pipeline(path: Path) -> None:
    for name in imported(path):
        top = name.split(".")[0]
        assert (
            top == "libcst"
            or top in sys.stdlib_module_names
            or name.startswith(("art_adapt.codemods.", "art_adapt.span."))
        ), name


def test_span_imports_nothing_of_ours() -> None:
    import art_adapt.span

    tops = {name.split(".")[0] for name in imported(Path(art_adapt.span.__file__))}
    assert tops <= sys.stdlib_module_names
