"""``art-adapt rehearse``: its options and exit codes."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from art_adapt.commands import command_app
from art_adapt.commands.train_module import TrainModule, named_train_module
from art_adapt.errors import Refusal, missing
from art_adapt.terminal import ERASED

SCRIPTED_STEPS, TRAINED_STEPS = 2, 30
app = command_app()


@app.command()
def rehearse(
    module: TrainModule = None,
    steps: Annotated[
        int | None,
        typer.Option(min=1, help="Training steps to run: 2, and 30 with --train."),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="The seed of the scripted model's replies.")
    ] = 0,
    replies: Annotated[
        Path | None,
        typer.Option(
            help="What the model says, one JSON object a line: content, tool_calls or "
            "error, and when (a regex found in the last message)."
        ),
    ] = None,
    train: Annotated[
        bool,
        typer.Option(
            "--train",
            help="Also train a tiny model, whose rewards must rise. Takes a minute or two.",
        ),
    ] = False,
    engine: Annotated[
        Path | None,
        typer.Option(
            metavar="PYTHON",
            help="Also train on a real vLLM, on the CPU. PYTHON is the interpreter of the "
            "environment with vLLM. Takes a few minutes.",
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print everything as one JSON object.")
    ] = False,
    page: Annotated[
        Path | None,
        typer.Option("--html", help="Also write the report as an HTML page."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="With --train: write the reward curve as a PNG.")
    ] = None,
    gpu: Annotated[
        str | None,
        typer.Option(
            help="Compute the least time of a step on this GPU: B200, H200, H100, A100, "
            "L40S or L4."
        ),
    ] = None,
    gpu_price: Annotated[
        float | None,
        typer.Option(min=0, help="The price of the GPU, in dollars per hour."),
    ] = None,
    reply_tokens: Annotated[
        int | None,
        typer.Option(
            min=1, help="Tokens to assume for a reply; scripted replies are short."
        ),
    ] = None,
    stub: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=VALUE]",
            help="A function of the agent that is not to run, and what it returns "
            "(JSON); may be repeated.",
        ),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="An environment variable that the agent gets, whatever it holds; may "
            "be repeated.",
        ),
    ] = None,
    in_place: Annotated[
        bool,
        typer.Option(
            "--in-place",
            help="Let the agent work on your own files, and not on a copy of the project's "
            "folder.",
        ),
    ] = False,
    timeout: Annotated[
        float,
        typer.Option(min=1, help="Time limit of a run of the module, in seconds."),
    ] = 600,
    output: Annotated[
        bool, typer.Option("--output", help="Show what the train module printed.")
    ] = False,
) -> None:
    """Run a train module on this machine: no GPU, no key, no network.

    ART and the agent are the real ones. A scripted model answers each request with tool
    calls that fit the tools' schemas, wrong calls, refusals and failures. Gradient steps
    are left out: groups are counted instead. With --train, ART then trains a tiny model
    on this machine.

    Exit codes: 0 nothing found that would cost a run; 1 something found; 2 could not
    rehearse.
    """
    from art_adapt.printable import printable
    from art_adapt.project_copy import can_be_copied
    from art_adapt.rehearsal import Conditions, NotRehearsed
    from art_adapt.rehearsal import rehearse as run
    from art_adapt.rehearsal.child_process import copied_folder
    from art_adapt.rehearsal.cost import GPUS, Asked
    from art_adapt.rehearsal.stubs import parse_stub
    from art_adapt.report.curve import reward_curve
    from art_adapt.report.destination import check_report
    from art_adapt.report.rehearsal import (
        announce,
        rehearsal_as_json,
        rehearsal_as_page,
        show_rehearsal,
    )

    if gpu is not None and gpu.upper() not in GPUS:
        known = ", ".join(GPUS)
        raise typer.BadParameter(f"known are {known}", param_hint="--gpu")
    if gpu is None and (gpu_price or reply_tokens):
        hint = "--gpu-price" if gpu_price else "--reply-tokens"
        raise typer.BadParameter("name the GPU with --gpu", param_hint=hint)
    if plot is not None and not train:
        raise typer.BadParameter(
            "there is a curve with --train only", param_hint="--plot"
        )
    module = named_train_module(
        module, "name it: art-adapt rehearse path/to/agent_train.py"
    )
    if not module.is_file():
        raise missing(module)
    if module.suffix != ".py":
        raise Refusal(
            "not a train module: not a Python file",
            next_step="name the file that art-adapt has written, agent_train.py",
            path=module,
        )
    conditions = Conditions(
        timeout,
        tuple(env or ()),
        tuple(map(parse_stub, stub or ())),
        in_place=in_place or not can_be_copied(copied_folder(module)),
    )
    announce(module, conditions, sys.stderr)
    if sys.stderr.isatty():
        conditions = replace(conditions, tell=_show)
    for file in filter(None, (page, plot)):
        check_report(file)
        if not file.parent.is_dir():
            raise Refusal("no such folder", next_step="create it", path=file.parent)
    try:
        rehearsal = run(
            module,
            steps=SCRIPTED_STEPS if train or steps is None else steps,
            seed=seed,
            replies=replies,
            train=(steps or TRAINED_STEPS) if train else None,
            engine=engine,
            cost=Asked(gpu.upper(), gpu_price, reply_tokens) if gpu else None,
            conditions=conditions,
        )
    except NotRehearsed as refusal:
        if output:
            sys.stderr.write(printable(refusal.output))
        raise
    finally:
        conditions.tell("")
    if output:
        sys.stderr.write(printable(rehearsal.output))
    try:
        if page is not None:
            page.write_text(printable(rehearsal_as_page(rehearsal)), encoding="utf-8")
        if plot is not None and rehearsal.learning is not None:
            plot.write_bytes(reward_curve(rehearsal.learning))
    except OSError as error:
        path = Path(error.filename or page or plot or ".")
        what = f"cannot write the report: {error.strerror}"
        raise Refusal(what, path=path) from error
    if json:
        print(rehearsal_as_json(rehearsal))
    else:
        show_rehearsal(rehearsal, sys.stdout)
    raise typer.Exit(0 if rehearsal.passed else 1)


def _show(text: str) -> None:
    """Show how far it is, on one line of a terminal that is written again and again."""
    sys.stderr.write(f"\r{ERASED}{text}")
    sys.stderr.flush()
