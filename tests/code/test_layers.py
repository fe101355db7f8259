"""What imports what: packages form no ring, and the engine knows nothing of its users."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from agent_files import REPOSITORY

ENGINE = "art_adapt.code"
# What the engine stands on.
FLOOR = {
    "calls",
    "definitions",
    "errors",
    "hooks_file",
    "printable",
    "source",
    "span",
    "words",
    "worth_reading",
}
# A process that Python starts imports these first, and they import what they start.
STARTERS = {"art_adapt.forked_from", "art_adapt.rehearsed"}


def imported_by(path: str) -> Iterator[str]:
    """Yield the modules that a file imports, but for type checkers only."""
    tree = ast.parse((REPOSITORY / path).read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def files() -> Iterator[str]:
    for path in sorted((REPOSITORY / "art_adapt").rglob("*.py")):
        yield path.relative_to(REPOSITORY).as_posix()


def package(module: str) -> str:
    """Return the package, or the single module, directly below art_adapt."""
    return ".".join(module.split(".")[:2])


def test_no_ring_among_packages() -> None:
    left: dict[str, set[str]] = {}
    for path in files():
        name = package(path.removesuffix(".py").replace("/", "."))
        needs = {package(m) for m in imported_by(path) if m.startswith("art_adapt.")}
        left.setdefault(name, set()).update(needs - {name} - STARTERS)
    while free := [name for name, needs in left.items() if not needs & set(left)]:
        for name in free:
            del left[name]
    assert not left


def test_the_engine_imports_nothing_of_its_users() -> None:
    for path in files():
        if path.startswith("art_adapt/code/"):
            ours = {m for m in imported_by(path) if m.startswith("art_adapt.")}
            others = {m for m in ours if package(m) != ENGINE}
            assert {m.split(".")[1] for m in others} <= FLOOR, path
