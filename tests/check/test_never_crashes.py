"""Check files with arbitrary content.

The check never crashes, and a file that it has fixed compiles and stays fixed.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from art_adapt.check.fixes import fixed
from art_adapt.check.run import check_source
from art_adapt.check.selection import Selection
from art_adapt.rules import rules
from art_adapt.source import Source

EVERYTHING = Selection(select=("ALL",))
CASES = [case for rule in rules() for case in (*rule.bad, *rule.good)]
LINES = sorted({line for case in CASES for line in case.splitlines()})


def found(data: bytes) -> list[str]:
    source = Source(Path("x.py"), data)
    return [each.rule.code for each in check_source(source, EVERYTHING).found]


@settings(max_examples=2 * settings.default.max_examples, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=30))
def test_shuffled_lines(lines: list[str]) -> None:
    data = "\n".join(["import art", *lines]).encode()
    codes = found(data)
    try:
        ast.parse(data)
    except (SyntaxError, ValueError):
        assert codes == ["ART000"]


@settings(max_examples=settings.default.max_examples, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes(data: bytes) -> None:
    found(b"import art\n" + data)


@pytest.mark.wide
@settings(max_examples=settings.default.max_examples, deadline=None)
@given(st.lists(st.sampled_from(CASES), min_size=1, max_size=4), st.booleans())
def test_fixes_compile_and_are_done_once(cases: list[str], windows: bool) -> None:
    text = "\n\n".join(cases)
    data = (text.replace("\n", "\r\n") if windows else text).encode()
    try:
        ast.parse(data)
    except SyntaxError:
        return
    after, _ = fixed(Source(Path("x.py"), data), EVERYTHING)
    ast.parse(after)
    assert fixed(Source(Path("x.py"), after), EVERYTHING) == (after, 0)
    assert after.count(b"\r\n") == (after.count(b"\n") if windows else 0)


def test_names_that_are_made_of_each_other() -> None:
    """Following names that are assigned from each other ends, and takes linear time."""
    loop = "    a = b\n    b = a\n" * 40
    data = (
        f"import art\n\ndef f(t, reward):\n{loop}    t.messages_and_choices.append(a)\n"
    )
    assert found(data.encode()) == []
    own = "import art\n\ndef f(trajectory, reward):\n    reward = -reward\n"
    assert "ART000" not in found((own + "    trajectory.reward = reward\n").encode())


@pytest.mark.slow
def test_a_long_notebook() -> None:
    cell = (
        "r = c.chat.completions.create(model='m')\nx = r.choices[0]\nitems.append(x)\n"
    )
    start = "import art\nt = art.Trajectory()\nitems = t.messages_and_choices\n"
    found(
        (start + cell * 1_000).encode()
    )  # would take minutes if every line were followed again


def test_inserted_lines_end_as_the_others_do() -> None:
    data = rules_case("ART514").replace("\n", "\r\n").encode()
    after, count = fixed(Source(Path("x.py"), data), EVERYTHING)
    assert count == 1 and after.count(b"\n") == after.count(b"\r\n") > data.count(b"\n")


def rules_case(code: str) -> str:
    return next(rule.bad[0] for rule in rules() if rule.rule.code == code)
