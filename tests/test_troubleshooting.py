"""The page of troubleshooting has each message and finding, and none that no code says."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from agent_files import REPOSITORY

PACKAGE = REPOSITORY / "art_adapt"
CODEMODS = REPOSITORY / "codemods"  # to which art_adapt has a link
PAGE = (REPOSITORY / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
REFUSALS = {"Refusal", "NotRehearsed", "UnclearEntry", "CannotEdit"}
# What says all that there is to know, or follows at once from what was just typed.
TRIVIAL = {
    "... does not exist, neither here nor beside the agent",  # a typed path
    "... is not a ...",  # a typed number
    "... is not ...",  # a value of another type, with its key
    "... = ... is not a table",
    "[...] ... = ... is not a list of strings",
    "... is empty",
    "enter ... values: ...",
    "no such step: ...",
    "no episodes in this file",
    "no episodes in this folder for the split ...",
    "not a file of episodes",
    "this text has characters that cannot be written to a file",
}


def said(node: ast.expr) -> Iterator[str]:
    """Yield the texts that an argument may be, with ``...`` for what is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(
            str(part.value) if isinstance(part, ast.Constant) else "..."
            for part in node.values
        )
    elif isinstance(node, ast.IfExp):
        yield from said(node.body)
        yield from said(node.orelse)


def nodes(folder: str = "") -> Iterator[ast.AST]:
    files = [*(PACKAGE / folder).rglob("*.py"), *CODEMODS.glob("*.py")]
    for path in sorted(files):
        yield from ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def first_arguments(names: set[str], folder: str = "") -> set[str]:
    """Return what the calls of some functions are given first, where it is written out."""
    found: set[str] = set()
    for node in nodes(folder):
        if isinstance(node, ast.Call) and node.args:
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name in names:
                found |= set(said(node.args[0]))
    return found


def rows() -> set[str]:
    """Return what the first cells of the page's tables have in code."""
    cells = re.findall(r"^\| (`.*?`) \|", PAGE, re.MULTILINE)
    return {each for cell in cells for each in re.findall("`(.+?)`", cell)}


def words(message: str) -> str:
    """Return a message from its first words on: a value that it begins with is left out."""
    return re.sub(r"^(\.\.\.|\{\w+\}|[:\s])+", "", " ".join(message.split()))


def starts() -> tuple[str, ...]:
    return tuple(words(each.removesuffix("...").rstrip(": ")) for each in rows())


def missing(messages: set[str]) -> list[str]:
    """Return the messages that begin with no row of the page."""
    left = messages - TRIVIAL
    return sorted(each for each in left if not words(each).startswith(starts()))


def test_each_refusal_has_a_row() -> None:
    refusals = first_arguments(REFUSALS)
    assert len(refusals) > 100 and refusals >= TRIVIAL
    assert missing(refusals) == []


@pytest.mark.parametrize(
    ("functions", "folder", "least"),
    [
        ({"finding", "Finding"}, "rehearsal", 35),
        ({"failed", "note"}, "doctor/checks", 15),
    ],
)
def test_each_finding_has_a_row(functions: set[str], folder: str, least: int) -> None:
    names = first_arguments(functions, folder)
    assert len(names) > least
    assert sorted(names - rows() - {"run"}) == []  # the length of a run is no problem


@pytest.mark.parametrize("folder", ["training", "recording"])
def test_what_ends_a_run_or_a_rollout_has_a_row(folder: str) -> None:
    ending = {"SystemExit", "stop", "say_once", "RecordingError", "RewardError"}
    messages = first_arguments(ending, folder)
    assert len(messages) > 10
    # What a train module that art-adapt has written does not do.
    assert missing(messages) in ([], ["... is registered with no backend"])


def test_each_row_is_said_somewhere() -> None:
    texts = {text for n in nodes() if isinstance(n, ast.expr) for text in said(n)}
    texts = set(map(words, texts))
    unsaid = [s for s in starts() if not any(text.startswith(s) for text in texts)]
    assert sorted(unsaid) == []
