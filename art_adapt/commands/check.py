"""``art-adapt check``: its options and exit codes."""

from __future__ import annotations

import io
import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from art_adapt.commands import command_app
from art_adapt.errors import Refusal
from art_adapt.printable import quoted

if TYPE_CHECKING:
    from art_adapt.check.settings import Settings
    from art_adapt.source import Source

app = command_app()


class Format(StrEnum):
    TEXT = "text"
    CONCISE = "concise"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"
    GITLAB = "gitlab"
    JUNIT = "junit"
    RDJSON = "rdjson"


@app.command()
def check(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PATHS]", help="Files, notebooks and folders; - is stdin. [.]"
        ),
    ] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Apply safe fixes.")] = False,
    unsafe_fixes: Annotated[
        bool,
        typer.Option(
            "--unsafe-fixes",
            help="Also apply, or show with --diff, fixes that need review.",
        ),
    ] = False,
    add_ignore: Annotated[
        bool,
        typer.Option(
            "--add-ignore",
            help="Write an ignore comment at each finding: a baseline for an old project.",
        ),
    ] = False,
    diff: Annotated[
        bool,
        typer.Option("--diff", help="Show what --fix would change; write nothing."),
    ] = False,
    select: Annotated[
        list[str] | None,
        typer.Option(
            help="Rules to report: ART102, ART1, a name, or ALL; separate several with "
            "commas. [all but the untidy]"
        ),
    ] = None,
    extend_select: Annotated[
        list[str] | None,
        typer.Option(help="Rules to report in addition to --select or the default."),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(help="Rules to leave out.")
    ] = None,
    format_: Annotated[
        Format | None,
        typer.Option(
            "--output-format",
            help="The format of the report. [text; concise in a pipe]",
        ),
    ] = None,
    output_file: Annotated[
        Path | None, typer.Option(help="Write the report to this file.")
    ] = None,
    statistics: Annotated[
        bool,
        typer.Option(
            "--statistics", help="Report only the number of findings by rule."
        ),
    ] = False,
    stdin_filename: Annotated[
        Path, typer.Option(help="The name of stdin in the report.")
    ] = Path("stdin.py"),
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            help="Files and folders to leave out: patterns such as vendored/*.py."
        ),
    ] = None,
    explain: Annotated[
        str | None,
        typer.Option(metavar="CODE", help="Explain a rule, and check nothing."),
    ] = None,
    exit_zero: Annotated[
        bool,
        typer.Option("--exit-zero", help="Exit with 0 even if something is found."),
    ] = False,
) -> None:
    """Find mistakes that spoil ART training, in adapted agents and hand-written code.

    Exit codes: 0 if nothing is found or everything was fixed, 1 if something is found or
    --diff shows changes, 2 if the check could not run.
    """
    from art_adapt.check.run import check_files, check_source, is_checked
    from art_adapt.check.selection import Selection
    from art_adapt.check.settings import settings_for
    from art_adapt.folders import files_in
    from art_adapt.report.check import report
    from art_adapt.report.destination import check_report
    from art_adapt.source import Source
    from art_adapt.terminal import has_colours

    if explain is not None:
        from art_adapt.commands.explain import explain as explain_rule

        explain_rule(explain)
        return
    if output_file is not None:
        check_report(output_file)
    given = paths or [Path()]
    from_stdin = [str(path) for path in given] == ["-"]
    settings = settings_for(stdin_filename if from_stdin else given[0])
    own = settings.selection
    selection = Selection(
        _names(select) or own.select,
        _names(ignore) or own.ignore,
        (*own.extend_select, *_names(extend_select)),
    )
    settings = replace(settings, selection=selection)
    in_files = [rule for rules in settings.file_ignores.values() for rule in rules]
    if unknown := selection.without(in_files).unknown():
        raise Refusal(
            f"no such rule: {unknown[0]!r}",
            next_step="run art-adapt explain to list the rules",
        )
    if from_stdin:
        files, sources = [], [Source(stdin_filename, sys.stdin.buffer.read())]
    else:
        left_out = (*settings.exclude, *_names(exclude))
        files, sources = list(files_in(given, is_checked, left_out)), []
    if add_ignore:
        if from_stdin:
            raise Refusal("--add-ignore writes files, so it cannot take standard input")
        if fix or unsafe_fixes:
            raise Refusal(
                "--add-ignore does not work together with fixes",
                next_step="fix first, then ignore the rest",
            )
        changes = _ignore(files, settings, write=not diff)
        raise typer.Exit(1 if diff and changes and not exit_zero else 0)
    if fix or diff or unsafe_fixes:
        some = sources or _readable(files)
        after = _fix(some, settings, from_stdin, write=not diff, unsafe=unsafe_fixes)
        if diff:
            raise typer.Exit(1 if after != some and not exit_zero else 0)
        sources = after if from_stdin else []
    checked = check_files(files, selection, settings.target, settings.ignored_in)
    for source in sources:
        selection = settings.selection_for(source.path)
        checked += check_source(source, selection, settings.target)
    checked = replace(
        checked, found=tuple(sorted(checked.found, key=lambda d: d.order))
    )
    chosen = format_ or (Format.TEXT if sys.stdout.isatty() else Format.CONCISE)
    coloured = output_file is None and has_colours(sys.stdout)
    _write(
        report(checked, chosen, statistics=statistics, coloured=coloured),
        output_file,
        fix and from_stdin,
    )
    raise typer.Exit(1 if checked.found and not exit_zero else 0)


def _ignore(files: list[Path], settings: Settings, *, write: bool) -> bool:
    """Write comments that ignore what is found, or show them; tell whether there are any.

    What is found in a notebook, or in a file that cannot be read, stays.
    """
    from art_adapt import files as on_disk
    from art_adapt.check.ignores import with_ignores
    from art_adapt.check.own_rules import OWN
    from art_adapt.check.run import check_source
    from art_adapt.diff import unified
    from art_adapt.file_edit import FileEdit

    edits, told = [], []
    for source in _readable(files):
        selection = settings.selection_for(source.path)
        found = [
            (each.rule, each.found)
            for each in check_source(source, selection, settings.target).found
            if each.rule not in OWN
        ]
        data = with_ignores(source, found)
        if data != source.data:
            edits.append(FileEdit(source.path, source.data, data))
            told.append(f"ignored {len(found)} in {quoted(str(source.path))}")
    if write:
        on_disk.write(edits)
    else:
        for edit in edits:
            sys.stdout.buffer.write(unified(edit))
    for line in told or ["nothing to ignore"] if write else []:
        print(line, file=sys.stderr)
    notebooks = sum(file.suffix == ".ipynb" for file in files)
    if notebooks and write:
        print(f"notebooks are not written: {notebooks}", file=sys.stderr)
    return bool(edits)


def _write(text: str, file: Path | None, beside: bool) -> None:
    """Write the report to ``file`` or to standard output.

    ``beside`` moves it to standard error, when standard output has the fixed source.
    """
    if file is None:
        stream = sys.stderr if beside else sys.stdout
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
        stream.write(text)
        return
    try:
        file.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise Refusal(f"cannot write this file: {error.strerror}", path=file) from error


def _names(given: list[str] | None) -> tuple[str, ...]:
    return tuple(
        name.strip() for each in given or () for name in each.split(",") if name.strip()
    )


def _readable(files: list[Path]) -> list[Source]:
    """Read the files that may be fixed; the check reports those that cannot be read."""
    from art_adapt.check.run import mentions_art
    from art_adapt.source import read_source

    found = []
    for file in files:
        if file.suffix == ".ipynb":
            continue  # notebooks are checked but not written
        try:
            source = read_source(file)
        except Refusal:
            continue
        if mentions_art(source.data):
            found.append(replace(source, path=file))
    return found


def _fix(
    sources: list[Source],
    settings: Settings,
    from_stdin: bool,
    *,
    write: bool,
    unsafe: bool,
) -> list[Source]:
    """Fix the files, or show what that would change; return the sources after it."""
    from art_adapt import files as on_disk
    from art_adapt.check.fixes import fixed
    from art_adapt.diff import unified
    from art_adapt.file_edit import FileEdit

    after = []
    told = []
    for source in sources:
        selection = settings.selection_for(source.path)
        data, count = fixed(source, selection, settings.target, unsafe=unsafe)
        after.append(source if data == source.data else replace(source, data=data))
        if data != source.data:
            told.append(f"fixed {count} in {quoted(str(source.path))}")
    pairs = list(zip(sources, after, strict=True))
    edits = [
        FileEdit(old.path, old.data, new.data) for old, new in pairs if old is not new
    ]
    if not write:
        for edit in edits:
            sys.stdout.buffer.write(unified(edit))
    elif from_stdin:
        sys.stdout.buffer.write(after[0].data)
    else:
        on_disk.write(edits)
        for line in told:
            print(line, file=sys.stderr)
    return after
