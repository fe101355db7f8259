"""``art-adapt logs``: its options and exit codes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from art_adapt.commands import command_app
from art_adapt.commands.scenarios import needs_pydantic
from art_adapt.commands.train_module import (
    WITH_MODULE,
    ModuleOption,
    only_train_module,
)
from art_adapt.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from art_adapt.logs.read import Log
    from art_adapt.logs.rows import LoggedRows

NOTHING = 1
app = command_app()


@app.command()
def logs(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILES", help="Exports: JSON, JSON lines or CSV."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="A JSON lines file; by default the train module's."
        ),
    ] = None,
    module: ModuleOption = None,
    only: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Take requests whose system prompt begins with it, or that offer this tool.",
        ),
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD",
            help="A field to keep even if it looks like a secret; may be repeated.",
        ),
    ] = None,
) -> None:
    """Write scenarios from production logs.

    Reads exports of Langfuse and LangSmith, OpenAI's stored completions, and rows with
    messages. The fields of a scenario are the logged arguments of a traced function;
    otherwise the only text field is what the user said first. For a module with
    --single-turn each request is a scenario. Nothing is fetched, and no agent runs.

    Exit codes: 0 rows were written, or all were there; 1 none fits; 2 could not read.
    """
    path = module or only_train_module(WITH_MODULE)
    needs_pydantic()
    from art_adapt.json_lines import json_lines
    from art_adapt.logs.read import read_log
    from art_adapt.logs.rows import episode_rows, request_rows
    from art_adapt.scenarios.append import append_rows
    from art_adapt.scenarios.declared import declared_scenario
    from art_adapt.scenarios.rows import RecordedRequest

    scenario = declared_scenario(path)
    into = output or _own_file(path)
    if not into.absolute().parent.is_dir():
        raise Refusal(
            "the folder of this file does not exist", next_step="create it", path=into
        )
    try:
        log = read_log(files)
        known = (row for _, row in json_lines(into)) if into.exists() else ()
        earlier = [row for row in known if isinstance(row, dict)]
    except (OSError, ValueError) as error:
        raise Refusal(
            str(error), next_step="name exported files in JSON, JSON lines or CSV"
        ) from error
    if issubclass(scenario, RecordedRequest):
        made = request_rows(log.entries, earlier, only, allow or ())
    else:
        needed = [
            n for n, field in scenario.model_fields.items() if field.is_required()
        ]
        texts = [
            n for n, field in scenario.model_fields.items() if field.annotation is str
        ]
        text = texts[0] if len(texts) == 1 and {*needed} <= {*texts} else None
        made = episode_rows(
            log.entries, needed or texts, text, earlier, only, allow or ()
        )
    append_rows(into, made.rows)
    _say(log, made, into, sorted(scenario.model_fields))
    raise typer.Exit(0 if made.rows or made.known else NOTHING)


def _own_file(path: Path) -> Path:
    """Return the JSON lines that a train module reads.

    Raises:
        Refusal: it reads something else.
    """
    from art_adapt.commands.scenarios import own_source
    from art_adapt.scenarios.source_kind import SourceKind, source_kind

    source = own_source(path)
    if source_kind(source) is not SourceKind.JSONL:
        raise Refusal(
            f"this train module reads {source}, but rows are written as JSON lines",
            next_step="name a file with --output, and set SCENARIOS to it",
            path=path,
        )
    return Path(source)


def _say(log: Log, made: LoggedRows, into: Path, fields: list[str]) -> None:
    from art_adapt.paths import shown
    from art_adapt.printable import printable

    def say(text: str) -> None:
        sys.stdout.write(f"{printable(text)}\n")

    for name, rows in log.formats.items():
        say(f"{name}: {rows} rows")
    if log.unread:
        say(f"{len(log.unread)} rows of no known format, the first is {log.unread[0]}")
    if made.kinds:
        say("requests:")
    elif log.formats:
        say(
            "no row holds the messages of a request; OpenAI lists those of stored completions "
            'apart: put client.chat.completions.messages.list(id) under "messages"'
        )
    for kind, number in made.kinds.items():
        tools = f"tools: {', '.join(kind.tools)}" if kind.tools else "no tools"
        taken = "taken" if kind in made.taken else "not taken; --only takes it"
        prompt = f'"{kind.prompt}"' if kind.prompt else "no system prompt"
        say(f"  {number:5}  {prompt}  {tools}  ({taken})")
    for field, secrets in made.secrets.items():
        beginnings = ", ".join(dict.fromkeys(secrets))
        say(
            f"left out: {field} looks like a secret ({beginnings}); --allow {field} keeps it"
        )
    _say_rows(made, into, fields, say)
    if made.rows:
        say(f"next: art-adapt scenarios {shown(into)}")


def _say_rows(
    made: LoggedRows, into: Path, fields: list[str], say: Callable[[str], None]
) -> None:
    from art_adapt.paths import shown

    if made.from_arguments:
        say(f"{made.from_arguments} episodes by the arguments of a traced function")
    if made.from_messages:
        say(
            f"{made.from_messages} by what the user said first: if the agent adds words to "
            f"what it is given, take them out of {shown(into)}"
        )
    known = (
        f", {made.known} are there already, or start as an earlier one"
        if made.known
        else ""
    )
    if made.rows or made.known:
        say(f"{len(made.rows)} new rows in {shown(into)}{known}")
    elif not made.secrets:
        say(
            f"no row has what a scenario needs: {', '.join(fields)}. Trace the function that "
            "runs an episode, or train on single requests: art-adapt --single-turn"
        )
