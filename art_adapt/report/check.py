"""Format what ``art-adapt check`` found, for people and for machines."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import typer

from art_adapt import __version__
from art_adapt.check.diagnostic import Diagnostic
from art_adapt.check.own_rules import OWN
from art_adapt.check.run import Checked
from art_adapt.paths import relative, shown
from art_adapt.rules.rule import Rule, Severity

REPOSITORY = "https://github.com/OWNER/art-adapt"
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
# The names of the severities in SARIF and, but for notes, in GitHub's annotations.
COLOURS = {Severity.GARBAGE: "red", Severity.WASTE: "yellow", Severity.UNTIDY: "blue"}
Style = Callable[..., str]
LEVELS = {
    Severity.GARBAGE: "error",
    Severity.WASTE: "warning",
    Severity.UNTIDY: "note",
}


def report(
    checked: Checked, form: str, *, statistics: bool, coloured: bool = False
) -> str:
    """Format what was found, which is sorted."""
    if statistics:
        return "".join(_statistics(checked.found))
    if form in ("text", "concise"):
        lines = _text if form == "text" else _concise
        return "".join(lines(checked, typer.style if coloured else _plain))
    forms = {
        "json": _json,
        "sarif": _sarif,
        "github": _github,
        "gitlab": _gitlab,
        "junit": _junit,
        "rdjson": _rdjson,
    }
    return "".join(forms[form](checked.found))


def _plain(text: str, **_: object) -> str:
    return text


def place(diagnostic: Diagnostic) -> str:
    """Return where a finding is, for people and editors: ``path:line:column``."""
    cell = f":cell {diagnostic.cell}" if diagnostic.cell else ""
    where = f"{diagnostic.found.line}:{diagnostic.column}"
    return f"{shown(diagnostic.path)}{cell}:{where}"


def _text(checked: Checked, style: Style) -> Iterator[str]:
    severity = None
    for each in checked.found:
        if each.rule.severity is not severity:
            severity = each.rule.severity
            yield style(severity.says.capitalize(), bold=True) + "\n\n"
        yield _line(each, style)
        fix = each.found.fix
        flag = "--fix" if fix is None or fix.safe else "--unsafe-fixes"
        fixable = f"  ({flag}: {fix.title})" if fix else ""
        yield f"{style(fixable, fg='green')}\n"
        yield from _excerpt(each, style)
    yield _summary(checked)


def _line(each: Diagnostic, style: Style) -> str:
    code = style(each.rule.code, fg=COLOURS[each.rule.severity], bold=True)
    return f"{style(place(each), bold=True)}: {code} {each.found.message}"


def _excerpt(each: Diagnostic, style: Style) -> Iterator[str]:
    line = each.text.expandtabs(1).rstrip()
    if not line:
        return
    start = each.column - 1
    ends_here = each.found.end_line == each.found.line
    length = each.end_column - each.column if ends_here else len(line) - start
    number = str(each.found.line)
    yield f"{number} | {line}\n"
    mark = "^" * max(1, min(length, len(line) - start))
    marked = style(mark, fg=COLOURS[each.rule.severity])
    yield f"{' ' * len(number)} | {' ' * start}{marked}\n\n"


def _concise(checked: Checked, style: Style) -> Iterator[str]:
    for each in checked.found:
        yield f"{_line(each, style)}\n"
    yield _summary(checked)


def _summary(checked: Checked) -> str:
    found = checked.found
    if not found:
        others = checked.files - checked.with_art
        if not checked.with_art:
            return f"Nothing to check: no ART code in {_counted(others)}.\n"
        beside = f"; {_counted(others)} without it" if others else ""
        return (
            f"Nothing found in {_counted(checked.with_art)} with ART code{beside}. "
            "Calls of other packages are not followed.\n"
        )
    counts = Counter(each.rule.severity for each in found)
    parts = [f"{counts[s]} {s.says}" for s in Severity if counts[s]]
    fixes = [each.found.fix for each in found if each.found.fix is not None]
    safe = sum(fix.safe for fix in fixes)
    more = f"; {safe} fixable with --fix" if safe else ""
    if safe < len(fixes):
        more += f"; {len(fixes) - safe} with --unsafe-fixes"
    return f"Found {len(found)}: {', '.join(parts)}{more}.\n"


def _counted(files: int) -> str:
    return f"{files} file{'s' * (files != 1)}"


def _statistics(found: Sequence[Diagnostic]) -> Iterator[str]:
    counts = Counter(each.rule for each in found)
    for rule, count in sorted(
        counts.items(), key=lambda item: (-item[1], item[0].code)
    ):
        yield f"{count:>5}  {rule.code}  {rule.name}  ({rule.severity.says})\n"


def _json(found: Sequence[Diagnostic]) -> Iterator[str]:
    yield json.dumps([_as_data(each) for each in found], indent=2) + "\n"


def _as_data(each: Diagnostic) -> dict[str, Any]:
    fix = each.found.fix
    return {
        "path": relative(each.path),
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


def _github(found: Sequence[Diagnostic]) -> Iterator[str]:
    kinds = {"error": "error", "warning": "warning", "note": "notice"}
    for each in found:
        kind = kinds[LEVELS[each.rule.severity]]
        cell = f"cell {each.cell}: " if each.cell else ""
        message = _escaped(cell + each.found.message)
        file = _escaped(relative(each.path)).replace(":", "%3A").replace(",", "%2C")
        where = (
            f"file={file},line={each.found.line},endLine={each.found.end_line},"
            f"col={each.column},endColumn={each.end_column}"
        )
        yield f"::{kind} title={each.rule.code} {each.rule.name},{where}::{message}\n"


def _gitlab(found: Sequence[Diagnostic]) -> Iterator[str]:
    """Yield GitLab's code quality report: what a merge request shows beside the lines."""
    severities = {"error": "critical", "warning": "major", "note": "minor"}
    issues = [
        {
            "description": f"{each.rule.code} {each.found.message}",
            "check_name": each.rule.name,
            "fingerprint": mark,
            "severity": severities[LEVELS[each.rule.severity]],
            "location": {
                "path": relative(each.path),
                "positions": {
                    "begin": {"line": each.found.line, "column": each.column},
                    "end": {"line": each.found.end_line, "column": each.end_column},
                },
            },
        }
        for each, mark in zip(found, _fingerprints(found), strict=True)
    ]
    yield json.dumps(issues, indent=2) + "\n"


def _junit(found: Sequence[Diagnostic]) -> Iterator[str]:
    """Yield a JUnit report: a failed test for each finding, a passed one where there is none."""
    suites = ElementTree.Element("testsuites", name="art-adapt check")
    files = sorted({relative(each.path) for each in found})
    for file in files:
        own = [each for each in found if relative(each.path) == file]
        suite = ElementTree.SubElement(
            suites, "testsuite", name=file, tests=str(len(own)), failures=str(len(own))
        )
        for each in own:
            case = ElementTree.SubElement(
                suite,
                "testcase",
                name=f"{each.rule.code} {each.rule.name}",
                classname=file,
                file=file,
                line=str(each.found.line),
            )
            failure = ElementTree.SubElement(
                case,
                "failure",
                type=each.rule.severity.says,
                message=each.found.message,
            )
            failure.text = f"{place(each)}: {each.rule.code} {each.found.message}"
    if not found:
        suite = ElementTree.SubElement(
            suites, "testsuite", name="art-adapt check", tests="1", failures="0"
        )
        ElementTree.SubElement(
            suite, "testcase", name="nothing found", classname="check"
        )
    ElementTree.indent(suites)
    yield ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _rdjson(found: Sequence[Diagnostic]) -> Iterator[str]:
    """Yield Reviewdog's format, with which a review says the findings of any linter."""
    severities = {"error": "ERROR", "warning": "WARNING", "note": "INFO"}
    said = {
        "source": {"name": "art-adapt", "url": REPOSITORY},
        "diagnostics": [
            {
                "message": each.found.message,
                "severity": severities[LEVELS[each.rule.severity]],
                "code": {"value": each.rule.code, "url": page_address(each.rule.code)},
                "location": {
                    "path": relative(each.path),
                    "range": {
                        "start": _bytes_at(each.found.line, each.found.column),
                        "end": _bytes_at(each.found.end_line, each.found.end_column),
                    },
                },
            }
            for each in found
        ],
    }
    yield json.dumps(said, indent=2) + "\n"


def _bytes_at(line: int, column: int) -> dict[str, int]:
    """Return a place as Reviewdog counts: columns in bytes of UTF-8, from 1."""
    return {"line": line, "column": column + 1}


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _sarif(found: Sequence[Diagnostic]) -> Iterator[str]:
    from art_adapt.report.rules import rule_page
    from art_adapt.rules import rules

    pages = {
        each.rule: (each.summary, each.documentation.replace("``", ""), rule_page(each))
        for each in rules()
    }
    pages |= {rule: (text, text, text) for rule, text in OWN.items()}
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
                "results": [
                    _sarif_result(each, mark)
                    for each, mark in zip(found, _fingerprints(found), strict=True)
                ],
            }
        ],
    }
    yield json.dumps(log, indent=2) + "\n"


def page_address(code: str) -> str:
    """Return where the page of a rule lies, as of this version."""
    return f"{REPOSITORY}/blob/v{__version__}/docs/rules/{code}.md"


def _sarif_rule(rule: Rule, summary: str, full: str, page: str) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": summary},
        "fullDescription": {"text": full},
        "helpUri": page_address(rule.code),
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
    }


def _fingerprints(found: Sequence[Diagnostic]) -> Iterator[str]:
    """Yield marks that stay the same when lines above a finding are added or removed."""
    seen: Counter[str] = Counter()
    for each in found:
        said = f"{relative(each.path)}\0{each.rule.code}\0{each.text.strip()}"
        mark = hashlib.sha256(said.encode(errors="surrogateescape")).hexdigest()[:16]
        seen[mark] += 1
        yield f"{mark}:{seen[mark]}"


def _sarif_result(each: Diagnostic, mark: str) -> dict[str, Any]:
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
        "partialFingerprints": {"primaryLocationLineHash": mark},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {
                        "uri": quote(os.fsencode(Path(relative(each.path)).as_posix()))
                    },
                    "region": region,
                }
            }
        ],
    }
