"""``art-adapt capture``: its options and exit codes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from art_adapt.commands import HELP, command_app
from art_adapt.errors import Refusal, missing
from art_adapt.paths import shown

if TYPE_CHECKING:
    from art_adapt.capture.run import FieldSource
    from art_adapt.rehearsal.watched_command import Script
    from art_adapt.seen.decision import Seen
    from art_adapt.survey.model import EntryPoint

app = command_app()
LARGEST = 50_000_000  # bytes of notes, after which they begin anew


# What stands behind the command is the command's own.
@app.command(context_settings={"allow_interspersed_args": False, **HELP})
def capture(
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="-- COMMAND",
            help="The command that runs the agent: a script, tests, a server.",
        ),
    ],
    agent: Annotated[
        Path | None,
        typer.Option(help="The agent's file; by default the one in the command."),
    ] = None,
    entry: Annotated[
        str | None, typer.Option(help="The function that runs one episode.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="A JSON lines file; by default the train module's."
        ),
    ] = None,
    conversations: Annotated[
        Path | None,
        typer.Option(
            help="Also keep the conversations, as JSON lines, for references and warm "
            "starts."
        ),
    ] = None,
    scripted: Annotated[
        bool,
        typer.Option(
            "--scripted",
            help="Let a made-up model answer, without a key: nothing leaves this machine.",
        ),
    ] = False,
    env: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="With --scripted, an environment variable that the agent gets, whatever it "
            "holds; may be repeated.",
        ),
    ] = None,
    replies: Annotated[
        Path | None,
        typer.Option(
            help="With --scripted, what the model says, one JSON object a line, as for rehearse."
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
    """Run your agent's command, and write scenarios from its episodes.

    The agent runs unchanged, and nothing is sent anywhere. Before an agent is adapted, its run
    shows which function runs an episode and what that function is given, and adapting uses
    this. When the command has ended, each new start of an episode is a row of
    the scenarios, with its time, outcome and answer under "captured". For a module with
    --single-turn, each recorded conversation is a row.

    Exit code: that of the command; 2 if it could not be started, or shows no usable episode.
    """
    from art_adapt.capture.command import agent_of
    from art_adapt.capture.rows import kept_rows, rows_in
    from art_adapt.capture.run import episodes_of, read_notes, run_listening
    from art_adapt.logs.rows import requests_in
    from art_adapt.report.capture import say_kept
    from art_adapt.scenarios.append import append_rows

    ran = agent or agent_of(command)
    if agent is not None and not agent.is_file():
        raise missing(agent)
    is_adapted = conversations is not None or _is_adapted(ran)
    if scripted and conversations is not None:
        raise Refusal(
            "--scripted cannot be combined with --conversations: its replies are made up",
            next_step="leave out --scripted, or --conversations",
        )
    if scripted and ran is not None and _trains_single_turns(ran):
        raise Refusal(
            "--scripted makes replies up, and this train module trains on recorded requests",
            next_step="leave out --scripted, so that your own model answers; or read its logs, "
            "with art-adapt logs EXPORT",
        )
    known = not scripted and (is_adapted or entry is not None)
    if env and not scripted:
        raise Refusal(
            "--env is for --scripted: without it, the agent gets your whole environment",
            next_step="leave out --env, or add --scripted",
        )
    if replies is not None and not scripted:
        raise Refusal(
            "--replies is for --scripted: without it, your model answers",
            next_step="leave out --replies, or add --scripted",
        )
    if not known:
        script = _script(env or (), replies) if scripted else None
        raise _ended(watch(command, ran, output, allow or (), script, entry))
    if ran is None:
        raise Refusal(
            f"cannot find the agent's file in the command {' '.join(command)}",
            next_step="name it: art-adapt capture --agent agent.py -- "
            + " ".join(command),
        )
    point, scenarios, _ = _episode([ran], entry)
    path = output or point.home.parent / scenarios
    single = _trains_single_turns(point.home)
    fields = [] if single else _fields(point)
    log = path.with_name(f".{path.name}.capturing")  # of a run that was killed, too
    earlier = rows_in(path)
    listened = episodes_of(
        point, log, conversations=single or conversations is not None
    )
    code = run_listening(command, listened)
    names = [source.name for source in fields]
    kept = kept_rows(read_notes(log), names, earlier, allow or ())
    if single:
        made = requests_in(kept.conversations, earlier, allow or ())
        kept.rows, kept.known = made.rows, made.known
        kept.secrets |= made.secrets
    append_rows(path, kept.rows)
    if conversations is not None:
        append_rows(conversations, kept.conversations)
        sys.stderr.write(
            f"\n{len(kept.conversations)} conversations in {conversations}\n"
        )
    log.unlink(missing_ok=True)
    say_kept(kept, path, point, code, f"art-adapt scenarios {quote(shown(path))}")
    raise _ended(code)


def _ended(code: int) -> typer.Exit:
    """Exit as a shell says that a command ended: 143 of SIGTERM."""
    return typer.Exit(128 - code if code < 0 else code)


def _script(let_through: Sequence[str], replies: Path | None) -> Script:
    from art_adapt.rehearsal.replies import replies_in
    from art_adapt.rehearsal.watched_command import Script

    return Script(let_through, () if replies is None else replies_in(replies))


def _trains_single_turns(agent: Path) -> bool:
    """True if the train module of an agent trains on recorded requests."""
    from art_adapt.recorded_requests import trains_on_requests
    from art_adapt.train_file import standing_module, train_module_path

    is_there = standing_module(agent) is not None
    return is_there and trains_on_requests(train_module_path(agent))


def watch(
    command: Sequence[str],
    agent: Path | None,
    output: Path | None = None,
    allowed: Sequence[str] = (),
    script: Script | None = None,
    entry: str | None = None,
    *,
    guided: bool = False,
) -> int:
    """Run a command, see which function runs the episodes, and keep their rows.

    ``script``: a made-up model answers, as it says. ``entry``: the function to take.
    ``guided``: somebody is asked next, and needs no command. The other parameters are those of
    ``capture``. Returns the command's exit code.

    Raises:
        Refusal: it cannot be started, or shows nothing that rows could be made of.
    """
    from art_adapt.capture.rows import CAPTURED, is_of_row, kept_rows, rows_in
    from art_adapt.capture.run import append_notes
    from art_adapt.capture.watched import make_folder, notes_of
    from art_adapt.code.project_folder import root_around
    from art_adapt.entry_decision import UnclearEntry
    from art_adapt.rehearsal.watched_command import run_scripted
    from art_adapt.report.capture import (
        say_episode,
        say_kept,
        say_open,
        say_seen,
        say_stale,
    )
    from art_adapt.scenarios.append import append_rows
    from art_adapt.seen.episodes import seen_episodes
    from art_adapt.seen.notes import note_of_taken, read_runs, seen_file
    from art_adapt.train_file import train_module_path

    near = (agent or Path("agent.py")).resolve()
    file = seen_file(near)
    try:
        make_folder(file)
        if file.exists() and file.stat().st_size > LARGEST:
            file.unlink()  # its runs have shown what they could
        known = file.stat().st_size if file.exists() else 0
    except OSError as error:
        raise Refusal(f"cannot create {file.parent}: {error.strerror}") from error
    made_up: frozenset[str] = frozenset()
    withheld: tuple[str, ...] = ()
    if script is not None:
        code, made_up, withheld = run_scripted(command, near, file, script)
    else:
        code = _run(command, near, file)
    runs = read_runs(file, known)
    say_seen(runs, code, withheld, scripted=script is not None)
    outermost = next((call for run in runs for call in run.calls.values()), None)
    possible = seen_episodes(runs)
    if outermost is None:
        if any(run.requests for run in runs):
            raise Refusal(
                f"no file below {shown(root_around(near))} asked the model",
                why="only the project's own files are watched, and the agent is in another folder",
                next_step="name a file of the agent, with --agent PATH",
            )
        return code or 2
    asking = [call.path for run in runs for call in run.calls.values()]
    seen = [each.key[0] for each in possible] or asking
    if (own := seen_file(seen[0])) != file:
        make_folder(own)  # adapting the agent looks there
        append_notes(own, file.read_bytes()[known:])
        file = own
    files = [*filter(None, [agent]), *map(_shown, seen)]
    try:
        point, scenarios, seen_as = _episode(files, entry)
    except UnclearEntry as refusal:
        raise replace(
            refusal,
            next_step="choose one of them, and watch the run again with --entry NAME before the "
            "command: its rows come with it",
        ) from refusal
    say_episode(point, None if entry else seen_as)
    path = output or point.home.parent / scenarios
    fields = _fields(point)
    key = Path(point.key[0]).resolve(), point.key[1]
    if entry is None and seen_as is not None:
        append_notes(file, note_of_taken(key))  # adapting takes it, too
    names = [source.name for source in fields]
    earlier = rows_in(path)

    def is_stale(row: dict[str, Any]) -> bool:
        return CAPTURED in row and not row.keys() >= {*names}

    stale = [row for row in earlier if is_stale(row)]
    by_command = point.program is not None and point.program.arguments
    if stale or by_command:  # another run has shown that the scenario has more fields
        runs = read_runs(file, 0)
        earlier = [row for row in earlier if not is_stale(row)]
    notes = notes_of(runs, key, fields)
    if script is not None:  # what came of it is made up
        # Nor is a row kept whose task it is.
        said = (each for each in notes if not each["is_said"])
        notes = ({**each, "outcome": "scripted", "answer": None} for each in said)
    kept = kept_rows(notes, names, earlier, allowed, made_up)
    replaced = [row for row in stale if any(is_of_row(row, new) for new in kept.rows)]
    append_rows(path, kept.rows, replaced)
    module = train_module_path(point.home)
    is_ready = module.is_file() and _is_adapted(point.home)
    named = quote(shown(_shown(module if is_ready else point.home)))
    flag = f"--entry {quote(entry)} " if entry and not is_ready else ""
    then = f"art-adapt {'rehearse ' * is_ready}{flag}{named}"
    say_kept(kept, path, point, code, "" if guided else then)
    if stale and kept.rows:
        say_stale(stale, replaced, names, path)
    if len(earlier) + len(kept.rows) == 1 and len(names) > 1:
        say_open([*dict.fromkeys(names)])
    return code


def _run(command: Sequence[str], agent: Path, file: Path) -> int:
    from art_adapt.capture.run import activity_in, run_listening
    from art_adapt.code.project_folder import root_around

    return run_listening(command, activity_in(root_around(agent), file))


def _shown(path: Path) -> Path:
    """Return a path as somebody would type it here."""
    here = Path.cwd().resolve()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _is_adapted(agent: Path | None) -> bool:
    from art_adapt.hooks_file import MODULE
    from art_adapt.train_file import standing_module

    if agent is None or not agent.is_file():
        return False
    hooked = MODULE.encode() in agent.read_bytes()
    return hooked or standing_module(agent) is not None


def _fields(point: EntryPoint) -> list[FieldSource]:
    """Return the fields of an entry point's scenario.

    Raises:
        Refusal: it has none.
    """
    from art_adapt.capture.run import field_sources

    if fields := field_sources(point):
        return fields
    raise Refusal(
        f"no scenario fields: {point.called} takes no argument that a scenario could hold",
        next_step="run it once more with other arguments, if its command line says the task; or "
        f"use it unchanged, with art-adapt --entry {point.called} "
        f"{quote(shown(_shown(point.home)))}; or name another function with --entry",
        path=point.place.path,
        line=point.place.line,
    )


def _episode(
    agents: Iterable[Path], name: str | None
) -> tuple[EntryPoint, str, Seen | None]:
    """Return the entry point of an agent, the file of its scenarios, and the runs that show it.

    ``agents`` are its files, likeliest first. A file from which no call of the model can be
    read is left out if there is another: its client may ask over HTTP.

    Raises:
        Refusal: it is unclear, or nothing that can be called.
    """
    from art_adapt.answers import configured, decided_before
    from art_adapt.code.session import Session
    from art_adapt.decisions import nothing_to_record, said_in
    from art_adapt.discovery import named_sources, with_entry_file
    from art_adapt.entry_decision import UnclearEntry, decide_entry
    from art_adapt.scenarios.source_kind import SourceKind, source_kind
    from art_adapt.seen.choice import key_of
    from art_adapt.seen.surveyed import surveyed_as_seen
    from art_adapt.settings import Options, Origin, TrainingOptions
    from art_adapt.survey.survey import survey

    options = Options()
    if name is not None:
        options = replace(options, entry=name, origins={"entry": Origin.FLAG})
    session = Session()
    given, unread = options, None
    refused: Refusal | None = None
    for agent in dict.fromkeys(agents):
        sources = named_sources([str(agent)])
        own = sources[0].path
        options = decided_before(own) if name is None else configured(given, own)
        options = replace(options, single_turn=False)
        sources = with_entry_file(sources, options.entry)
        said = said_in(options)
        read = survey(sources, entry=options.entry, session=session, said=said)
        try:
            # What led from this file to the model, reading may not have found.
            read, options, seen = surveyed_as_seen(read, sources, options, session)
            if not read.calls:
                unread = unread or read
                continue
            found = decide_entry(read, options).entry
        except UnclearEntry:
            raise
        except Refusal as refusal:  # another file of the run may lead to it
            refused = refused or refusal
            continue
        break
    else:
        if refused is not None:
            raise refused
        assert unread is not None
        raise nothing_to_record(unread)
    assert found is not None  # a train module needs one
    if name is None and seen is not None and seen.shows_part(found):
        raise Refusal(
            "an error ended the run: it shows no whole episode, and no row was written",
            next_step="fix the error, or supply replies in the form that the agent reads "
            "(--scripted --replies FILE.jsonl), and watch it again",
        )
    is_file = source_kind(options.scenarios) is SourceKind.JSONL
    function = None if seen is None else seen.function
    is_seen = function is not None and function.key == key_of(found)
    path = options.scenarios if is_file else TrainingOptions.scenarios
    return found, path, seen if is_seen else None
