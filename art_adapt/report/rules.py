"""Shows a rule as a page: in docs/rules, in SARIF, and for ``art-adapt explain``."""

from __future__ import annotations

from art_adapt.report.measured import FILES, FOUND, REPOSITORIES
from art_adapt.rules import rules
from art_adapt.rules.rule import RuleModule

INTRODUCTION = """\
# Rules

What `art-adapt check` finds. `art-adapt explain CODE` says the same as these pages, which are written by
`python tests/rules/pages.py` from the rules themselves.
"""


def rule_page(rule: RuleModule) -> str:
    """Show one rule in Markdown."""
    names = f"# {rule.rule.code}: {rule.rule.name}"
    fix = "\n\nSome of it can be fixed by `--fix`." if rule.fixed else ""
    bad = _example(rule.bad[0])
    good = _example(rule.good[0])
    return (
        f"{names}\n\n{rule.summary}. *{rule.rule.severity.says.capitalize()}.*{rule.rule.holds}{fix}\n\n"
        f"{_markdown(rule.documentation)}\n\n{_measured(rule.rule.code)}"
        f"## Found here\n\n```python\n{bad}```\n\n## Not here\n\n```python\n{good}```\n"
    )


def _measured(code: str) -> str:
    """Say where the rule was found in the wild, if it was."""
    if code not in FOUND:
        return ""
    number, repositories = FOUND[code]
    times = "once" if number == 1 else f"{number} times"
    return (
        f"In the wild: found {times}, in {repositories} of {REPOSITORIES} repositories whose "
        f"files were read ({FILES} files); no finding was wrong.\n\n"
    )


def _markdown(documentation: str) -> str:
    return documentation.replace("``", "`")


def _example(case: str) -> str:
    return case.replace("  # <-", "  # here").rstrip("\n") + "\n"


def rule_list() -> str:
    """Show all rules as a table, ordered by code."""
    lines = [
        f"{each.rule.code}  {each.rule.name:<26} {each.rule.severity.says:<22} {each.summary}"
        for each in rules()
    ]
    return "\n".join(lines)


def rule_index() -> str:
    """Show all rules as a table in Markdown."""
    rows = [
        f"| [{each.rule.code}]({each.rule.code}.md) | {each.rule.name} | "
        f"{each.rule.severity.says} | {_markdown(each.summary)}"
        + (" (fix)" if each.fixed else "")
        + " |"
        for each in rules()
    ]
    head = "| code | name | what it costs | what it finds |\n|---|---|---|---|\n"
    return INTRODUCTION + "\n" + head + "\n".join(rows) + "\n"
