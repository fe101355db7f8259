"""Every rule finds what its bad cases mark, at their lines, and nothing in its good ones; its
fix makes of the first bad case what it says.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from art_adapt.check.fixes import apply_fixes
from art_adapt.rules import rules
from art_adapt.rules.code import Code
from art_adapt.rules.rule import RuleModule
from art_adapt.source import Source

EVERY = rules()
IDS = [rule.rule.code for rule in EVERY]


def code_of(text: str) -> Code:
    return Code(Source(Path("case.py"), text.encode()))


def marked(text: str) -> list[int]:
    lines = text.splitlines()
    return [number for number, line in enumerate(lines, 1) if line.endswith("# <-")]


@pytest.mark.parametrize("rule", EVERY, ids=IDS)
def test_bad_cases_are_found_where_they_are_marked(rule: RuleModule) -> None:
    assert rule.bad
    for case in rule.bad:
        lines = sorted({found.line for found in rule.check(code_of(case))})
        assert marked(case), "a bad case that marks nothing"
        assert lines == marked(case), case


@pytest.mark.parametrize("rule", EVERY, ids=IDS)
def test_good_cases_are_left_alone(rule: RuleModule) -> None:
    assert rule.good
    for case in rule.good:
        assert not list(rule.check(code_of(case))), case


@pytest.mark.parametrize("rule", EVERY, ids=IDS)
def test_good_cases_are_good_by_every_rule_of_its_kind(rule: RuleModule) -> None:
    """What one rule recommends, no rule of garbage may complain of."""
    for case in rule.good:
        for other in EVERY:
            if other.rule.code[:4] == rule.rule.code[:4] and other.rule.severity == 0:
                assert not list(other.check(code_of(case))), (other.rule, case)


@pytest.mark.parametrize(
    "rule", [r for r in EVERY if r.fixed], ids=[r.rule.code for r in EVERY if r.fixed]
)
def test_fixes_do_what_they_say(rule: RuleModule) -> None:
    before = rule.bad[0]
    fixes = [found.fix for found in rule.check(code_of(before)) if found.fix]
    after = apply_fixes(before.encode(), fixes).decode()
    assert after == rule.fixed
    ast.parse(after)
    assert not [found for found in rule.check(code_of(after)) if found.fix]


def test_codes_names_and_documentation() -> None:
    codes, names = [r.rule.code for r in EVERY], [r.rule.name for r in EVERY]
    assert len(set(codes)) == len(codes) and len(set(names)) == len(names)
    for rule in EVERY:
        assert "Written down in:" in rule.documentation
        assert rule.summary and not rule.summary.endswith(".")
