"""The command line: reads options, shows the plan, asks where somebody can answer, and
writes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from art_adapt import __version__
from art_adapt.errors import Refusal

if TYPE_CHECKING:
    from art_adapt.adaptation import Edit
    from art_adapt.decisions import Options
    from art_adapt.plan import Plan
    from art_adapt.source import Source
    from art_adapt.survey.model import EntryPoint

DONE, WOULD_CHANGE = 0, 1

app = typer.Typer(
    add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
)


def _version(asked: bool) -> None:
    if asked:
        print(f"art-adapt {__version__}")
        raise typer.Exit


@app.command()
def adapt(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="The agent's files, or folders; - reads standard input.",
        ),
    ],
    diff: Annotated[
        bool,
        typer.Option(
            "--diff",
            help="Print what would change as a patch for git apply, and write nothing.",
        ),
    ] = False,
    undo: Annotated[
        bool,
        typer.Option(
            "--undo", help="Take the hooks off again, and remove what was generated."
        ),
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Say everything as one JSON object.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Write without asking.")
    ] = False,
    entry: Annotated[
        str | None,
        typer.Option(
            help="The function or method that runs one episode, or module:callable."
        ),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(help="A function (or FILE:LINE) whose model is to be trained."),
    ] = None,
    auxiliary: Annotated[
        list[str] | None,
        typer.Option(
            help="A function (or FILE:LINE) whose model is not: a judge, a summariser."
        ),
    ] = None,
    no_train_module: Annotated[
        bool,
        typer.Option(
            "--no-train-module",
            help="Only hooks and art_recording.py; needs no entry point.",
        ),
    ] = False,
    reward: Annotated[
        str | None,
        typer.Option(
            help="Your reward, module:function(trajectory, scenario). Default: RULER."
        ),
    ] = None,
    ruler_weight: Annotated[
        float | None,
        typer.Option(help="RULER's share of the reward, beside --reward. [0: none]"),
    ] = None,
    scenarios: Annotated[
        str | None,
        typer.Option(
            help="A JSONL or CSV file or a dataset's folder, from here or beside the "
            "agent, or module:NAME. [scenarios.jsonl]"
        ),
    ] = None,
    trace: Annotated[
        str | None, typer.Option(help="Trace rollouts: weave or langfuse.")
    ] = None,
    isolate: Annotated[
        str | None,
        typer.Option(help="process: each episode in a fresh one, for shared state."),
    ] = None,
    backend: Annotated[
        str | None, typer.Option(help="local or serverless. [local]")
    ] = None,
    pipeline: Annotated[
        bool,
        typer.Option(
            "--pipeline",
            help="Sample and train at once, with ART's PipelineTrainer: needs two GPUs.",
        ),
    ] = False,
    base_model: Annotated[
        str | None,
        typer.Option(help="The model to train. [OpenPipe/Qwen3-14B-Instruct]"),
    ] = None,
    project: Annotated[
        str | None, typer.Option(help="The project's name in ART. [the file's name]")
    ] = None,
    run_name: Annotated[str | None, typer.Option(help="The run's name in ART.")] = None,
    judge_model: Annotated[
        str | None, typer.Option(help="RULER's judge. [openai/gpt-5.4]")
    ] = None,
    learning_rate: Annotated[float | None, typer.Option(help="[1e-5]")] = None,
    rollouts_per_group: Annotated[
        int | None, typer.Option(help="Episodes of one scenario that are compared. [4]")
    ] = None,
    groups_per_step: Annotated[
        int | None, typer.Option(help="Scenarios in a training step. [2]")
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="0: until Ctrl-C. [3]")] = None,
    line_length: Annotated[
        int | None,
        typer.Option(help="Your formatter's. [from pyproject.toml, else 88]"),
    ] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Overwrite a train module that has been edited."),
    ] = False,
    stdin_filename: Annotated[
        str, typer.Option(help="What to call the file on standard input.")
    ] = "agent.py",
    isolated: Annotated[
        bool,
        typer.Option("--isolated", help="Ignore [tool.art-adapt] in pyproject.toml."),
    ] = False,
    agents_only: Annotated[
        bool,
        typer.Option(
            "--agents-only",
            help="Pass over files without a model call: for pre-commit.",
        ),
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            "-V",
            callback=_version,
            is_eager=True,
            help="Print the version.",
        ),
    ] = False,
) -> None:
    """Adapt an agent that calls the OpenAI client so that ART can train it.

    Records its model calls, marks its answers, and writes a module that trains it with
    GRPO. In production the agent does what it did before; --undo gives the file back
    byte for byte.

    art-adapt rehearse TRAIN_MODULE runs what was written, without a GPU; art-adapt
    check [PATHS] finds what would make training go wrong, art-adapt explain says why.

    Exit codes: 0 done, or nothing to do; 1 --diff found something to change; 2 could
    not do it, nothing was written.
    """
    given: dict[str, Any] = {
        "entry": entry, "policy": tuple(policy or ()), "auxiliary": tuple(auxiliary or ()), "reward": reward,
        "ruler_weight": ruler_weight, "trace": trace, "isolate": isolate, "pipeline": pipeline or None, "scenarios": scenarios, "backend": backend, "base_model": base_model, "project": project, "run_name": run_name,
        "judge_model": judge_model, "learning_rate": learning_rate, "rollouts_per_group": rollouts_per_group,
        "groups_per_step": groups_per_step, "epochs": epochs, "line_length": line_length,
        "train_module": False if no_train_module else None,
    }  # fmt: skip
    from_stdin = paths == ["-"]
    sources = [_standard_input(stdin_filename)] if from_stdin else _sources(paths)
    if agents_only:
        sources = [source for source in sources if _calls_model(source)]
        if not sources:
            return
    options = _options(given, sources[0].path, isolated)
    if undo:
        _undo(sources, options, diff=diff, from_stdin=from_stdin)
        return
    sources = _with_entry_file(sources, options)
    if from_stdin:
        _adapt_standard_input(sources, options)
        return
    _adapt(
        sources,
        options,
        diff=diff,
        as_json=json,
        ask=_can_ask() and not yes and not diff and not json,
        force=force,
    )


def _calls_model(source: Source) -> bool:
    """Whether the file itself makes a completion call."""
    from art_adapt.survey.completion_calls import find_completion_calls
    from art_adapt.survey.hooks import imported_hooks, local_names
    from art_adapt.survey.syntax import Syntax

    if not source.mentions_model:
        return False
    syntax = Syntax.of(source)
    hooks = local_names(imported_hooks(syntax), "recorded")
    return any(call.supported for call in find_completion_calls(syntax, hooks))


def _options(given: dict[str, Any], start: Path, isolated: bool) -> Options:
    from art_adapt.config import with_config
    from art_adapt.decisions import Options, Origin

    said = {
        name: Origin.FLAG for name, value in given.items() if value not in (None, ())
    }
    options = Options(**given, origins=said)
    assert {field.name for field in fields(Options)} == {*given, "origins"}
    return options if isolated else with_config(options, start)


def _can_ask() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


# ------------------------------------------------------------------------------ reading


def _standard_input(name: str) -> Source:
    from art_adapt.source import Source

    return Source(Path(os.path.abspath(name)), sys.stdin.buffer.read())


def _sources(paths: Sequence[str]) -> list[Source]:
    from art_adapt.source import read_source

    found: dict[Path, Source] = {}
    for name in paths:
        path = Path(name)
        for file in _agents_below(path) if path.is_dir() else [path]:
            source = read_source(file)
            found.setdefault(source.path, source)
    return list(found.values())


def _agents_below(folder: Path) -> list[Path]:
    """The files of a folder that call a chat model, generated ones left out."""
    from art_adapt.folders import files_in
    from art_adapt.plan import COPIES
    from art_adapt.source import read_source
    from art_adapt.survey.completion_calls import find_completion_calls
    from art_adapt.survey.syntax import Syntax

    found = []
    for path in files_in([folder], lambda name: name.endswith(".py")):
        if path.name in COPIES or path.name.endswith("_train.py"):
            continue
        try:
            source = read_source(path)
            if source.mentions_model and any(
                find_completion_calls(Syntax.of(source), frozenset())
            ):
                found.append(path)
        except Refusal as refusal:
            sys.stderr.write(f"art-adapt: {refusal}\n")
    if not found:
        raise Refusal(
            "no agent in this folder: none of its Python files calls the OpenAI client for a chat completion",
            next_step="name the agent's file",
            path=folder,
        )
    return found


def _with_entry_file(sources: list[Source], options: Options) -> list[Source]:
    """With ``--entry package.module:callable``, the file of that module as well."""
    from art_adapt.source import read_source
    from art_adapt.survey.project import import_roots, module_file

    module, colon, _ = (options.entry or "").partition(":")
    if not colon:
        return sources
    for root in (*import_roots(sources[0].path), Path.cwd()):
        path = module_file(root.joinpath(*module.split(".")))
        if path is not None:
            source = read_source(path)
            return (
                sources
                if source.path in {s.path for s in sources}
                else [*sources, source]
            )
    raise Refusal(
        f"--entry {options.entry}: no module {module} beside {sources[0].path.name} or above it"
    )


# ----------------------------------------------------------------------------- adapting


def _adapt(
    sources: list[Source],
    options: Options,
    *,
    diff: bool,
    as_json: bool,
    ask: bool,
    force: bool,
) -> None:
    from art_adapt.files import write
    from art_adapt.plan import make_plan

    plan = make_plan(sources, options, choose=_choose if ask else None, force=force)
    if not as_json:
        _show(plan, sys.stderr if diff else sys.stdout)
    if diff:
        if as_json:
            _print_json(plan, written=False)
        else:
            _print_patch([edit for edit in plan.edits if edit.changes])
        _say_kept(plan.kept)
        sys.exit(WOULD_CHANGE if plan.changes else DONE)
    if plan.kept is not None:
        raise _edited_train_module(plan.kept)
    if ask and plan.changes:
        _print_edits(plan)
        if not typer.confirm("Write these changes?"):
            raise typer.Exit(DONE)
    write(plan.edits)
    if as_json:
        _print_json(plan, written=plan.changes)
    else:
        _say_written(plan)


def _choose(entries: Sequence[EntryPoint]) -> EntryPoint:
    from art_adapt.report.paths import shown

    print("Which function runs one episode?")
    for number, entry in enumerate(entries, 1):
        print(f"  {number}  {entry.name}  {shown(entry.place.path)}:{entry.place.line}")
    while True:
        answer = int(typer.prompt("Number", type=int))
        if 1 <= answer <= len(entries):
            return entries[answer - 1]


def _show(plan: Plan, stream: TextIO) -> None:
    from art_adapt.report.text import show

    show(plan, stream)


def _print_json(plan: Plan, *, written: bool) -> None:
    import json

    from art_adapt.report.json import as_json

    print(json.dumps(as_json(plan, written), indent=2))


def _print_patch(edits: Sequence[Edit]) -> None:
    from art_adapt.diff import unified

    sys.stdout.flush()
    sys.stdout.buffer.write(b"".join(unified(edit) for edit in edits))
    sys.stdout.buffer.flush()


def _print_edits(plan: Plan) -> None:
    """What a person reads before agreeing: the agent's changes; generated files by
    name.
    """
    print()
    agent = {file.source.path for file in plan.survey.files}
    _print_patch([edit for edit in plan.edits if edit.path in agent])
    for edit in plan.edits:
        if edit.path not in agent and edit.changes:
            lines = edit.after.count(b"\n")
            print(
                f"{'new' if edit.before is None else 'renewed'} file {edit.path.name}, {lines} lines"
            )


def _edited_train_module(kept: Edit) -> Refusal:
    _print_patch([kept])
    return Refusal(
        "this train module has been edited, so it is not overwritten",
        why="the diff above is what art-adapt would change in it",
        next_step="--force overwrites it; --no-train-module leaves it as it is and adapts the agent",
        path=kept.path,
    )


def _say_kept(kept: Edit | None) -> None:
    if kept is not None:
        sys.stderr.write(
            f"{kept.path.name} has been edited and is left as it is (--force overwrites it)\n"
        )


def _say_written(plan: Plan) -> None:
    from art_adapt.report.paths import shown

    changed = [edit for edit in plan.edits if edit.changes]
    if not changed:
        print("\nNothing to change: everything is recorded already.")
        return
    print()
    for edit in changed:
        print(f"{'wrote' if edit.before is None else 'edited'} {shown(edit.path)}")
    training, entry = plan.decisions.training, plan.decisions.entry
    if training is None or entry is None:
        return
    from art_adapt.decisions import train_module_path
    from art_adapt.train_module.render import scenario_fields, scenario_kind

    module = shown(train_module_path(entry.place.path))
    scenarios = entry.place.path.parent / training.scenarios
    kind = scenario_kind(training.scenarios)
    if kind != "rows" and not scenarios.exists():
        names = [field.name for field in scenario_fields(entry)]
        rows = {
            "jsonl": "one scenario a line: {"
            + ", ".join(f'"{name}": ...' for name in names)
            + "}",
            "csv": f"one scenario a row, under the row {','.join(names)}",
            "dataset": f"a saved dataset with the columns {', '.join(names)}",
        }
        print(f"\nNext: write {shown(scenarios)}, {rows[kind]}")
        print(f"Then: art-adapt rehearse {module}")
    else:
        print(f"\nNext: read {module}, try it here with art-adapt rehearse {module},")
        print("then run it on a GPU")


def _adapt_standard_input(sources: list[Source], options: Options) -> None:
    """The adapted text on standard output, everything else on standard error; nothing
    is written.
    """
    from dataclasses import replace

    from art_adapt.plan import make_plan

    plan = make_plan(sources, replace(options, train_module=False))
    _show(plan, sys.stderr)
    edit = next(edit for edit in plan.edits if edit.path == sources[0].path)
    sys.stdout.buffer.write(edit.after)


# ------------------------------------------------------------------------------ undoing


def _undo(
    sources: list[Source], options: Options, *, diff: bool, from_stdin: bool
) -> None:
    from art_adapt.diff import deleted
    from art_adapt.files import write
    from art_adapt.report.paths import shown
    from art_adapt.undo import make_undo

    plan = make_undo(sources, options.line_length)
    if from_stdin:
        edit = next((edit for edit in plan.edits if edit.path == sources[0].path), None)
        sys.stdout.buffer.write(edit.after if edit is not None else sources[0].data)
        return
    if diff:
        _print_patch(plan.edits)
        sys.stdout.buffer.write(
            b"".join(deleted(path, data) for path, data in plan.deletions)
        )
    else:
        write(plan.edits)
        for path, _ in plan.deletions:
            path.unlink()
    out = sys.stderr if diff else sys.stdout
    for edit in plan.edits:
        if edit.changes:
            out.write(f"restored {shown(edit.path)}\n")
    for path, _ in plan.deletions:
        out.write(f"removed {shown(path)}\n")
    for path, reason in plan.left:
        out.write(f"left {shown(path)}: {reason}\n")
    if not plan.changes:
        out.write("Nothing to undo.\n")
    if diff:
        sys.exit(WOULD_CHANGE if plan.changes else DONE)
