"""The engine finds every labelled method call of the fixtures, and never a wrong one."""

from __future__ import annotations

from pathlib import Path

from call_sites import judged, sites

ROOT = Path(__file__).parents[2]


def test_the_method_that_a_call_enters() -> None:
    rows = [site for site in sites() if site.folder == "fixtures/agents"]
    told = [
        (f"{row.file}:{row.line}", verdict)
        for row, verdict, _ in judged(ROOT / "fixtures" / "agents", rows)
    ]
    assert len(told) >= 25
    assert [each for each in told if each[1] != "found"] == []
