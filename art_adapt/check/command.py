"""``art-adapt check`` and ``art-adapt explain``: options and exit codes."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from art_adapt.errors import Refusal

if TYPE_CHECKING:
    from art_adapt.check.run import Selection

app = typer.Typer(
    add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
)
explaining = typer.Typer(
    add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
)


class Format(StrEnum):
    TEXT = "text"
    CONCISE = "concise"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"


@app.command()
def check(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATHS]", help="Files and folders; - is stdin. [.]"),
    ] = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Make the fixes that are certain.")
    ] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Show what --fix would do; write nothing.")
    ] = False,
    select: Annotated[
        list[str] | None,
        typer.Option(
            help="Rules: ART102, ART1, a name, or ALL, also with commas. "
            "[all but the untidy]"
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(help="Rules that do not count.")
    ] = None,
    format_: Annotated[
        Format | None,
        typer.Option("--output-format", help="[text; concise if it goes to a pipe]"),
    ] = None,
    output_file: Annotated[
        Path | None, typer.Option(help="Write the report there.")
    ] = None,
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Count by rule instead.")
    ] = False,
    stdin_filename: Annotated[
        Path, typer.Option(help="What stdin is called in the report.")
    ] = Path("stdin.py"),
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Neither read nor write the cache.")
    ] = False,
    exit_zero: Annotated[
        bool, typer.Option("--exit-zero", help="Exit with 0 whatever is found.")
    ] = False,
) -> None:
    """Find what makes training with ART go wrong, in adapted agents and hand-written code.

    Exit codes: 0 nothing found (or all of it fixed); 1 something found, or --diff would
    change something; 2 could not do its job.
    """
    from art_adapt.check.cache import Cache
    from art_adapt.check.files import python_files
    from art_adapt.check.run import Selection, check_files
    from art_adapt.check.settings import settings_for
    from art_adapt.report.check import report

    given = paths or [Path()]
    settings = settings_for(given[0] if str(given[0]) != "-" else Path())
    selection = Selection(
        _names(select) or settings.select, _names(ignore) or settings.ignore
    )
    if unknown := selection.unknown() if select or ignore or settings.select else []:
        raise Refusal(
            f"there is no rule {unknown[0]!r}",
            next_step="art-adapt explain lists them",
        )
    if [str(path) for path in given] == ["-"]:
        _check_stdin(stdin_filename, selection, fix, diff, format_)
    files = list(python_files(given, settings.exclude))
    if fix or diff:
        _fix(files, selection, write=fix and not diff)
        if diff:
            return
    root = None if no_cache else settings.root
    with Cache(root, repr(sorted(settings.auxiliary))) as cache:
        found = sorted(
            check_files(files, selection, cache, settings.auxiliary),
            key=lambda each: each.order,
        )
    chosen = format_ or (Format.TEXT if sys.stdout.isatty() else Format.CONCISE)
    text = report(found, chosen, statistics=statistics, files=len(files))
    if output_file is not None:
        output_file.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    raise typer.Exit(1 if found and not exit_zero else 0)


def _names(given: list[str] | None) -> tuple[str, ...]:
    return tuple(
        name.strip() for each in given or () for name in each.split(",") if name.strip()
    )


def _fix(files: list[Path], selection: Selection, *, write: bool) -> None:
    """Fix the files, or show what that would do and exit."""
    from art_adapt import files as on_disk
    from art_adapt.adaptation import Edit
    from art_adapt.check.fixes import fixed
    from art_adapt.check.run import MENTIONS_ART
    from art_adapt.diff import unified

    edits = []
    for path in files:
        before = path.read_bytes()
        if not MENTIONS_ART.search(before):
            continue
        after, count = fixed(path, before, selection)
        if after != before:
            edits.append(Edit(path, before, after))
            if write:
                print(f"fixed {count} in {path}", file=sys.stderr)
    if write:
        on_disk.write(edits)
    else:
        for edit in edits:
            sys.stdout.buffer.write(unified(edit))
        raise typer.Exit(1 if edits else 0)


def _check_stdin(
    name: Path,
    selection: Selection,
    fix: bool,
    diff: bool,
    format_: Format | None,
) -> None:
    """Check standard input; with ``--fix``, its fixed text goes to standard output."""
    from art_adapt.adaptation import Edit
    from art_adapt.check.cache import Cache
    from art_adapt.check.fixes import fixed
    from art_adapt.check.run import check_source
    from art_adapt.diff import unified
    from art_adapt.report.check import report
    from art_adapt.source import Source

    data = sys.stdin.buffer.read()
    if fix or diff:
        after, _ = fixed(name, data, selection)
        if diff:
            sys.stdout.buffer.write(unified(Edit(name, data, after)))
            raise typer.Exit(1 if after != data else 0)
        sys.stdout.buffer.write(after)
        data = after
    found = sorted(
        check_source(Source(name, data), selection, Cache(None)),
        key=lambda each: each.order,
    )
    stream = sys.stderr if fix else sys.stdout
    stream.write(report(found, format_ or Format.CONCISE, statistics=False, files=1))
    raise typer.Exit(1 if found else 0)


@explaining.command()
def explain(
    rule: Annotated[
        str | None, typer.Argument(help="A code or name; none: list them.")
    ] = None,
) -> None:
    """Say what a rule finds, why it harms training, and what to write instead."""
    from art_adapt.report.rules import rule_list, rule_page
    from art_adapt.rules import rules

    if rule is None:
        print(rule_list())
        return
    for each in rules():
        if rule in (each.rule.code, each.rule.name):
            print(rule_page(each))
            return
    raise Refusal(
        f"there is no rule {rule!r}", next_step="art-adapt explain lists them"
    )
