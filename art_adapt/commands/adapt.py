"""``art-adapt``: its options and exit codes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from art_adapt import __version__
from art_adapt.commands import command_app, command_list
from art_adapt.commands.asking import can_ask, may_rehearse, may_write, watch_once
from art_adapt.commands.flags import options_from, takes_options
from art_adapt.errors import Refusal
from art_adapt.printable import quoted

if TYPE_CHECKING:
    from pathlib import Path

    from art_adapt.code.session import Session
    from art_adapt.file_edit import FileEdit
    from art_adapt.guide import Guide
    from art_adapt.plan import Plan
    from art_adapt.settings import Options
    from art_adapt.source import Source

DONE, WOULD_CHANGE = 0, 1

app = command_app()


def _version(asked: bool) -> None:
    if asked:
        print(f"art-adapt {__version__}")
        raise typer.Exit


Paths = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="The agent's files, or folders; - reads standard input.",
    ),
]
Diff = Annotated[
    bool,
    typer.Option(
        "--diff",
        help="Print what would change as a patch for git apply, and write nothing.",
    ),
]


class Format(StrEnum):
    """How ``--diff`` shows what would change."""

    PATCH = "patch"
    MARKDOWN = "markdown"
    HTML = "html"


ReviewFormat = Annotated[
    Format,
    typer.Option(
        "--format",
        help="With --diff: a patch, a pull request's comment, or a page side by side.",
    ),
]
Undo = Annotated[
    bool,
    typer.Option("--undo", help="Remove the hooks and the generated files."),
]
Json = Annotated[bool, typer.Option("--json", help="Report as one JSON object.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")]
Force = Annotated[
    bool, typer.Option("--force", help="Overwrite a train module that has been edited.")
]
StdinFilename = Annotated[
    str, typer.Option(help="The name of the file on standard input.")
]
Isolated = Annotated[
    bool,
    typer.Option("--isolated", help="Ignore [tool.art-adapt] in pyproject.toml."),
]
AgentsOnly = Annotated[
    bool,
    typer.Option(
        "--agents-only", help="Skip files without a model call: for pre-commit."
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        help="Files and folders to leave out of a folder: patterns such as vendored/*.py."
    ),
]
Version = Annotated[
    bool,
    typer.Option(
        "--version", "-V", callback=_version, is_eager=True, help="Print the version."
    ),
]


@app.command(epilog=command_list())
@takes_options
def adapt(
    paths: Paths,
    diff: Diff = False,
    format_: ReviewFormat = Format.PATCH,
    undo: Undo = False,
    json: Json = False,
    yes: Yes = False,
    force: Force = False,
    isolated: Isolated = False,
    agents_only: AgentsOnly = False,
    stdin_filename: StdinFilename = "agent.py",
    exclude: Exclude = None,
    version: Version = False,
    **given: Any,
) -> None:
    """Adapt an agent that calls the OpenAI client so that ART can train it.

    Records its model calls, marks its answers, and writes a module that trains it with
    GRPO. In production the agent works as before; --undo restores the file byte for
    byte.

    Exit codes: 0 done, or nothing to do; 1 --diff found something to change; 2 could
    not do it, nothing was written.
    """
    from art_adapt import discovery
    from art_adapt.answers import configured

    if format_ is not Format.PATCH and (not diff or undo or json):
        raise typer.BadParameter("use it with --diff", param_hint="--format")
    from_stdin = paths == ["-"]
    if from_stdin:
        sources = [discovery.standard_input(stdin_filename)]
    elif undo:
        sources = discovery.adapted_sources(paths, exclude or ())
    else:
        sources = discovery.named_sources(paths, exclude or ())
    if agents_only:
        sources = [each for each in sources if discovery.is_agent(each)]
        if not sources:
            return
    if undo and not sources:
        print("Nothing to undo.")
        return
    options = options_from(given)
    if not isolated:
        options = configured(options, sources[0].path)
    if undo:
        ask = can_ask() and not yes
        _undo(sources, options, diff=diff, from_stdin=from_stdin, ask=ask)
        return
    sources = discovery.with_entry_file(sources, options.entry)
    if from_stdin:
        _adapt_standard_input(sources, options)
    elif diff:
        _diff(sources, options, format_, as_json=json, force=force)
    else:
        ask = can_ask() and not yes and not json
        keep = not isolated  # what is ignored is not overwritten either
        _write(sources, options, as_json=json, force=force, ask=ask, keep=keep)


def _diff(
    sources: Sequence[Source],
    options: Options,
    format_: Format,
    *,
    as_json: bool,
    force: bool,
) -> None:
    """Print what would change on standard output, everything else on standard error."""
    from art_adapt.plan import make_plan

    plan = make_plan(sources, options, force=force, session=_session())
    if as_json:
        from art_adapt.report.json import print_json

        print_json(plan, written=False)
    elif format_ is Format.MARKDOWN:
        from art_adapt.report.markdown import as_markdown
        from art_adapt.report.review import review_of

        _print(as_markdown(review_of(plan)))
    elif format_ is Format.HTML:
        from art_adapt.report.page import as_page
        from art_adapt.report.review import review_of

        _print(as_page(review_of(plan)))
    else:
        from art_adapt.report.outcome import say_how_to_write
        from art_adapt.report.patch import print_edits, print_patch
        from art_adapt.report.text import show

        if sys.stdout.isatty():  # what is generated would scroll the rest away
            print_edits(plan.edits)
        else:
            print_patch(plan.edits)
        show(plan, sys.stderr)  # last, where somebody at a terminal reads it
        if plan.changes and sys.stdout.isatty():
            say_how_to_write(sys.argv[1:])
    if plan.kept is not None:
        then = "set the changed options in it, or " * bool(plan.changed)
        sys.stderr.write(
            f"{quoted(plan.kept.path.name)} has been edited and is left as it is: {then}"
            "overwrite it with --force\n"
        )
    raise typer.Exit(WOULD_CHANGE if plan.changes else DONE)


def _session() -> Session:
    """Return what keeps the files that are read, and shows a long reading."""
    from art_adapt.code.session import Session
    from art_adapt.terminal import reading_shown

    return Session(reading_shown(sys.stderr))


def _print(text: str) -> None:
    """Print a text with parts of the agent's source: on a terminal without its escapes."""
    from art_adapt.printable import printable

    print(printable(text) if sys.stdout.isatty() else text, end="")


def _write(
    sources: Sequence[Source],
    options: Options,
    *,
    as_json: bool,
    force: bool,
    ask: bool,
    keep: bool,
) -> None:
    from art_adapt.decided import NOW, flags_of
    from art_adapt.files import write
    from art_adapt.plan import make_plan
    from art_adapt.report.json import print_json
    from art_adapt.report.outcome import say_written
    from art_adapt.report.patch import print_edits
    from art_adapt.report.text import show

    if ask:
        watch_once(sources, options)
    guide = _guide() if ask else None
    plan = make_plan(
        sources,
        options,
        guide=guide,
        keep=keep,
        force=force,
        session=_session(),
    )
    asks = ask and plan.changes and plan.kept is None
    if asks:
        print_edits(plan.edits)

    def say() -> None:
        if not as_json:
            show(plan, sys.stdout, found=guide is None or not guide.has_shown)

    if asks or plan.kept is not None:
        say()
    if plan.kept is not None:
        raise _edited_train_module(plan.kept, is_changed=bool(plan.changed))
    flags = " ".join(flags_of(plan.options, NOW)) if asks else ""
    again = f"repeat your answers with {flags}" if flags else ""
    if asks and not may_write(again):
        print("Nothing was written.")
        if flags:
            print(f"Your answers, to take up again: {flags}")
        raise typer.Exit(DONE)
    write(plan.edits, plan.check_still_holds)
    if not asks:  # what reads the output may stop early: art-adapt agent.py | head
        say()
    if as_json:
        print_json(plan, written=plan.changes)
    else:
        say_written(plan)
    if asks:
        _offer_rehearsal(plan)


def _guide() -> Guide:
    from art_adapt.guide import Guide  # which imports a library for its prompts

    return Guide()


def _offer_rehearsal(plan: Plan) -> None:
    """Offer to rehearse at once, where nothing is missing; say how to train then."""
    from importlib.util import find_spec

    from art_adapt.paths import shown
    from art_adapt.recipe.fields import to_fill_in
    from art_adapt.report.outcome import has_scenarios, say_how_to_train
    from art_adapt.train_file import train_module_path

    training, entry = plan.decisions.training, plan.decisions.entry
    if training is None or entry is None or not has_scenarios(training, entry):
        return
    module = train_module_path(entry.home)
    can_run = not to_fill_in(entry) and find_spec("art") is not None
    if can_run and may_rehearse(shown(module)):
        _rehearse(module)  # and say how to train, if nothing was found
    else:
        say_how_to_train(training, entry)


def _rehearse(module: Path) -> None:
    from art_adapt.commands.rehearse import rehearse

    try:
        rehearse(module)
    except Refusal as refusal:  # what was written stays
        print(f"art-adapt: {refusal}")
    except typer.Exit:  # it has said what it found
        return


def _edited_train_module(kept: FileEdit, *, is_changed: bool) -> Refusal:
    from art_adapt import train_module
    from art_adapt.report.patch import print_patch

    if kept.before is not None and train_module.is_former(kept.before):
        return Refusal(
            "this train module was written by art-adapt before 0.2, and has been edited since",
            why="it needs the recorder that old versions copied beside it; a hooks file of under 100 lines replaces that recorder",
            next_step="save your edits, write the new train module with --force, and apply your edits to it",
            path=kept.path,
        )
    print_patch([kept])
    return Refusal(
        "this train module has been edited, so it is not overwritten",
        why="the diff above shows what art-adapt would change",
        next_step="set the changed options in it, or " * is_changed
        + "overwrite it with --force, or adapt only the agent with --no-train-module",
        path=kept.path,
    )


def _adapt_standard_input(sources: Sequence[Source], options: Options) -> None:
    """Print the adapted text on standard output, everything else on standard error."""
    from art_adapt.plan import make_plan
    from art_adapt.report.text import show

    plan = make_plan(sources, replace(options, train_module=False), session=_session())
    show(plan, sys.stderr)
    edit = next(edit for edit in plan.edits if edit.path == sources[0].path)
    assert edit.after is not None
    sys.stdout.buffer.write(edit.after)


def _undo(
    sources: Sequence[Source],
    options: Options,
    *,
    diff: bool,
    from_stdin: bool,
    ask: bool,
) -> None:
    from art_adapt.files import write
    from art_adapt.report.outcome import say_undone
    from art_adapt.report.patch import print_edits, print_patch
    from art_adapt.undo import make_undo

    undo = make_undo(sources, options.line_length, options.entry)
    if from_stdin:
        edit = next((edit for edit in undo.edits if edit.path == sources[0].path), None)
        restored = edit.after if edit is not None else None
        sys.stdout.buffer.write(sources[0].data if restored is None else restored)
        return
    if diff:
        print_patch(undo.edits)
        say_undone(undo, sys.stderr, would=True)
        raise typer.Exit(WOULD_CHANGE if undo.changes else DONE)
    if ask and undo.changes:
        print_edits(undo.edits)
        if not may_write():
            raise typer.Exit(DONE)
    write(undo.edits, undo.check_still_holds)
    say_undone(undo, sys.stdout)
