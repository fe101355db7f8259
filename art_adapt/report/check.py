"""Format what ``art-adapt check`` found, for people and for machines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from art_adapt import __version__
from art_adapt.check.diagnostic import Diagnostic
from art_adapt.check.own_rules import OWN
from art_adapt.report.paths import shown
from art_adapt.rules.rule import Rule, Severity

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
# The names of the severities in SARIF and, but for notes, in GitHub's annotations.
LEVELS = {
    Severity.GARBAGE: "error",
    Severity.WASTE: "warning",
    Severity.UNTIDY: "note",
}


def report(
    found: Sequence[Diagnostic], form: str, *, statistics: bool, files: int
) -> str:
    """Format sorted findings; ``files`` is the number of files that were read."""
    if statistics:
        return "".join(_statistics(found))
    forms = {
        "text": _text,
        "concise": _concise,
        "json": _json,
        "sarif": _sarif,
        "github": _github,
    }
    return "".join(forms[form](found, files))


def place(diagnostic: Diagnostic) -> str:
    """Return where a finding is, for people and editors: ``path:line:column``."""
    cell = f":cell {diagnostic.cell}" if diagnostic.cell else ""
    where = f"{diagnostic.found.line}:{diagnostic.column}"
    return f"{shown(diagnostic.path)}{cell}:{where}"


def _text(found: Sequence[Diagnostic], files: int) -> Iterator[str]:
    severity = None
    for each in found:
        if each.rule.severity is not severity:
            severity = each.rule.severity
            yield f"{severity.says.capitalize()}\n\n"
        fixable = f"  (--fix: {each.found.fix.title})" if each.found.fix else ""
        yield f"{place(each)}: {each.rule.code} {each.found.message}{fixable}\n"
        yield from _excerpt(each)
    yield _summary(found, files)


def _excerpt(each: Diagnostic) -> Iterator[str]:
    line = each.text.expandtabs(1).rstrip()
    if not line:
        return
    start = each.column - 1
    ends_here = each.found.end_line == each.found.line
    length = each.end_column - each.column if ends_here else len(line) - start
    number = str(each.found.line)
    yield f"{number} | {line}\n"
    yield f"{' ' * len(number)} | {' ' * start}{'^' * max(1, min(length, len(line) - start))}\n\n"


def _concise(found: Sequence[Diagnostic], files: int) -> Iterator[str]:
    for each in found:
        yield f"{place(each)}: {each.rule.code} {each.found.message}\n"
    yield _summary(found, files)


def _summary(found: Sequence[Diagnostic], files: int) -> str:
    if not found:
        return f"Nothing found in {files} file{'s' * (files != 1)}.\n"
    counts = Counter(each.rule.severity for each in found)
    parts = [f"{counts[s]} {s.says}" for s in Severity if counts[s]]
    fixable = sum(each.found.fix is not None for each in found)
    more = f"; {fixable} fixable with --fix" if fixable else ""
    return f"Found {len(found)}: {', '.join(parts)}{more}.\n"


def _statistics(found: Sequence[Diagnostic]) -> Iterator[str]:
    counts = Counter(each.rule for each in found)
    for rule, count in sorted(
        counts.items(), key=lambda item: (-item[1], item[0].code)
    ):
        yield f"{count:>5}  {rule.code}  {rule.name}  ({rule.severity.says})\n"


def _json(found: Sequence[Diagnostic], files: int) -> Iterator[str]:
    yield json.dumps([_as_data(each) for each in found], indent=2) + "\n"


def _as_data(each: Diagnostic) -> dict[str, Any]:
    fix = each.found.fix
    return {
        "path": shown(each.path),
        "cell": each.cell,
        "line": each.found.line,
        "column": each.column,
        "end_line": each.found.end_line,
        "end_column": each.end_column,
        "code": each.rule.code,
        "name": each.rule.name,
        "severity": each.rule.severity.says,
        "message": each.found.message,
        "fix": fix.title if fix else None,
    }


def _github(found: Sequence[Diagnostic], files: int) -> Iterator[str]:
    kinds = {"error": "error", "warning": "warning", "note": "notice"}
    for each in found:
        kind = kinds[LEVELS[each.rule.severity]]
        cell = f"cell {each.cell}: " if each.cell else ""
        message = _escaped(cell + each.found.message)
        file = _escaped(shown(each.path)).replace(":", "%3A").replace(",", "%2C")
        where = f"file={file},line={each.found.line},col={each.column}"
        yield f"::{kind} title={each.rule.code} {each.rule.name},{where}::{message}\n"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _sarif(found: Sequence[Diagnostic], files: int) -> Iterator[str]:
    from art_adapt.report.rules import rule_page
    from art_adapt.rules import rules

    pages = {each.rule: (each.summary, rule_page(each)) for each in rules()}
    pages |= {rule: (text, text) for rule, text in OWN.items()}
    used = sorted({each.rule for each in found}, key=lambda rule: rule.code)
    log = {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "art-adapt",
                        "version": __version__,
                        "rules": [_sarif_rule(rule, *pages[rule]) for rule in used],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_sarif_result(each) for each in found],
            }
        ],
    }
    yield json.dumps(log, indent=2) + "\n"


def _sarif_rule(rule: Rule, summary: str, page: str) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": summary},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
    }


def _sarif_result(each: Diagnostic) -> dict[str, Any]:
    region = {
        "startLine": each.found.line,
        "startColumn": each.column,
        "endLine": each.found.end_line,
        "endColumn": each.end_column,
    }
    return {
        "ruleId": each.rule.code,
        "level": LEVELS[each.rule.severity],
        "message": {"text": each.found.message},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {
                        "uri": quote(Path(shown(each.path)).as_posix())
                    },
                    "region": region,
                }
            }
        ],
    }
