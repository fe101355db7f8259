"""Surveys an agent: from its completion calls to the functions that lead to them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from art_adapt.code.classes import FunctionKey, method_of
from art_adapt.code.hooks import imported_hooks, present_hooks_place
from art_adapt.code.hooks_places import hooks_places
from art_adapt.code.project import Project
from art_adapt.code.session import Session
from art_adapt.code.syntax import MODULE_LEVEL, Syntax
from art_adapt.code.used_names import possible_names
from art_adapt.source import Place, Source
from art_adapt.survey.calls.completion_calls import find_lookalikes
from art_adapt.survey.calls.obstacles import art_use, find_obstacles
from art_adapt.survey.calls.other_clients import find_other_clients
from art_adapt.survey.calls.raw_http import find_raw_http
from art_adapt.survey.calls.roles import side_job_of
from art_adapt.survey.calls.said import NOTHING, Said
from art_adapt.survey.calls.threads import find_thread_starts
from art_adapt.survey.calls.tool_execution import find_tool_execution
from art_adapt.survey.candidates.agents_apart import apart_from, told_apart
from art_adapt.survey.candidates.entry_points import is_named
from art_adapt.survey.candidates.found import Found
from art_adapt.survey.candidates.helper_users import drivers_first, tied
from art_adapt.survey.candidates.implementations import (
    with_derived,
    with_implementations,
)
from art_adapt.survey.candidates.llm_helpers import only_helps
from art_adapt.survey.candidates.named import with_entry
from art_adapt.survey.candidates.one_turn import is_one_turn
from art_adapt.survey.candidates.outward import outward
from art_adapt.survey.candidates.ranking import used_first, where_they_meet
from art_adapt.survey.episodes import Episodes
from art_adapt.survey.inputs.clients import is_shared
from art_adapt.survey.making.classes_named import classes_named
from art_adapt.survey.making.usage import as_used
from art_adapt.survey.model import (
    CompletionCall,
    EntryPoint,
    FileSurvey,
    Survey,
    ThreadStart,
    ToolExecution,
)
from art_adapt.survey.side_effects.harm import Effect, Obstacle
from art_adapt.survey.side_effects.loaders import find_loaders


def survey(
    sources: Sequence[Source],
    instead: Mapping[Path, Source] | None = None,
    entry: str | None = None,
    session: Session | None = None,
    said: Said = NOTHING,
) -> Survey:
    """Survey the agent that consists of ``sources`` and what they import.

    ``sources`` are the files that the user named. A completion call in an imported file
    counts only if a named file can reach it. ``instead``: sources to read in place of files
    on disk. ``entry``: the function that the user says runs an episode, as ``name``,
    ``Class.name`` or ``module:name``; it needs no path to a completion call. ``session``: what
    earlier surveys have read. ``said``: which calls somebody says are trained, or are not.

    Raises:
        Refusal: a named file cannot be read as Python.
    """
    session = session or Session()
    try:
        return _surveyed(sources, instead or {}, entry, session, said)
    finally:
        session.notice(None)


def _surveyed(
    sources: Sequence[Source],
    instead: Mapping[Path, Source],
    entry: str | None,
    session: Session,
    said: Said,
) -> Survey:
    found = _ranked(_asking(Project.of(sources, instead, session), said), entry)
    # What runs an episode may ask in files that the named one does not lead to.
    if run := _run_apart(found, entry):
        wider = _ranked(Found.of(found.project, said, run), entry)
        policy = found.policy or wider.policy
        meant = _named(wider, entry)  # the user knows what leads to a request
        leading = [
            each
            for each in wider.entry_points
            if each in meant or not wider.run_by([each]).isdisjoint(policy)
        ]
        found = replace(wider, entry_points=tuple(leading))
    entry_points, episodes = _settled(found, entry)
    handed = _with_handed_calls(found, episodes.found.project, entry)
    if handed is not None:
        entry_points, episodes = _settled(handed, entry)
    project = episodes.found.project
    read = tuple(syntax.source for syntax in project.files.values())
    unread = tuple(session.unread.values()), project.broken
    files = tuple(_files(episodes, entry_points))
    return Survey(files, entry_points, read, found.unreached, said, *unread)


def _settled(
    found: Found, entry: str | None
) -> tuple[tuple[EntryPoint, ...], Episodes]:
    """Describe the candidates, and find what runs in the episodes of the likeliest."""
    named = _named(found, entry)
    entry_points = _as_used(found, named, entry)
    module, _, name = (entry or "").rpartition(":")
    likely = [each for each in entry_points if is_named(each, module, name)] or [
        each for each in entry_points if each.score == entry_points[0].score
    ]
    episodes = Episodes.of(found, likely)
    settled = iter(episodes.entries)
    return tuple(next(settled) if e in likely else e for e in entry_points), episodes


def _with_handed_calls(found: Found, wider: Project, entry: str | None) -> Found | None:
    """Find the completion calls of what the agent is made with, if there are any.

    The file that makes it may be another one than the agent's, as may those of its tools: a
    judge among them is asked in every episode.
    """
    known = found.project.files
    added = [file for path, file in wider.files.items() if path not in known]
    if not any(file.source.mentions_model for file in added):
        return None
    again = _ranked(Found.of(wider, found.said, found.run), entry)
    leading = [each.entry_points[:1] for each in (found, again)]
    is_same = [e.key for e in leading[0]] == [e.key for e in leading[1]]
    asks_more = sum(map(len, again.calls.values())) > sum(
        map(len, found.calls.values())
    )
    return again if is_same and asks_more else None


def _asking(project: Project, said: Said) -> Found:
    """Find the completion calls of an agent, further in where its nearest imports have none.

    What asks a model in another way near at hand is the agent: a helper far below is none.
    """
    found = Found.of(project, said)
    while not (any(found.calls.values()) or _asks_otherwise(found.project)):
        further = found.project.deeper()
        if further is None:
            break
        found = Found.of(further, said)
    return found


def _asks_otherwise(project: Project) -> bool:
    """True if a file has the client of another API, or posts to a model's address."""
    return any(
        True
        for syntax in project.files.values()
        for find in (find_other_clients, find_raw_http)
        for _ in find(syntax)
    )


def _ranked(found: Found, entry: str | None) -> Found:
    """Go outward to what runs an episode, and put the candidates into their order."""
    found = with_implementations(found)
    found = told_apart(tied(drivers_first(with_derived(outward(found)))))
    found = used_first(found)
    return where_they_meet(found) if entry is None else with_entry(found, entry)


def _named(found: Found, entry: str | None) -> list[EntryPoint]:
    module, _, name = (entry or "").rpartition(":")
    return [each for each in found.entry_points if is_named(each, module, name)]


def _run_apart(found: Found, entry: str | None) -> frozenset[FunctionKey]:
    """Return the functions with requests that each of the likeliest entry points runs as well."""
    every = found.entry_points
    likely = _named(found, entry) or [e for e in every if e.score == every[0].score]
    run = [found.run_by([each]) for each in likely] if found.apart else []
    return found.apart.intersection(*run) if run else frozenset()


def _as_used(
    found: Found, named: Sequence[EntryPoint], wanted: str | None
) -> tuple[EntryPoint, ...]:
    """Describe the candidates as the project uses them, or its scripts where there are none.

    ``named``: those that the user means by ``wanted``, which may be a file as a whole.
    """
    chosen = wanted is not None
    is_whole = (wanted or "").rpartition(":")[2] == MODULE_LEVEL
    likely = named or found.entry_points[:1]  # what else is searched for: it takes time

    def shares(entry: EntryPoint) -> bool:
        return entry in likely and is_shared(found.project, entry, found.side_jobs)

    def described(entry: EntryPoint) -> EntryPoint:
        started = found.as_started(
            _as_made(found, replace(entry, shares_client=shares(entry))),
            importable=entry in named and chosen,
        )
        if started.is_script:
            return started
        used = as_used(
            found.project,
            found.graph,
            started,
            found.reaching,
            found.policy,
            everywhere=entry in likely,
            chosen=chosen and entry in named,
        )
        # A command runs by itself: nothing can be awaited on its object before.
        waits = any(call.is_async for call in (*used.setup, *used.cleanup))
        used = replace(used, terminal=None) if waits else used
        return replace(used, classes=classes_named(found.project, used))

    entry_points = tuple(
        replace(
            described(each),
            is_helper=not chosen and each in likely and only_helps(found, each),
            is_turn=not chosen and each in likely and is_one_turn(found, each),
            side_job="" if chosen else side_job_of(each.home, each.called),
        )
        for each in found.entry_points
    )
    first = entry_points[0] if entry_points else None
    is_part = first is not None and (first.needs_its_module or found.is_composed(first))
    if first is None or is_whole or (is_part and not chosen):
        score = first.score + 1 if first is not None else 0
        scripts = (replace(each, score=score) for each in found.scripts())
        entry_points = (*scripts, *entry_points)
    return tuple(_each_file_once(entry_points))


def _as_made(found: Found, entry: EntryPoint) -> EntryPoint:
    """Describe a class as the episode if its constructor ends with it: ``self.start()``."""
    if entry.class_name is None or entry.parameters:
        return entry
    home = found.project.files[entry.home]
    makers = method_of(found.project, home, entry.class_name, "__init__")
    if not any(_ends_with(found, maker, entry.key) for maker in makers):
        return entry
    return replace(
        entry,
        called=entry.class_name,
        class_name=None,
        parameters=entry.constructor,
        constructor=(),
        returns="None",
    )


def _ends_with(found: Found, maker: FunctionKey, method: FunctionKey) -> bool:
    """True if the last statement of a constructor, under no condition, calls a method."""
    last = found.project.files[maker[0]].functions[maker[1]].node.body[-1]
    called = {node.func for node in ast.walk(last) if isinstance(node, ast.Call)}
    sites = found.graph.sites.get((maker, method), ())
    return isinstance(last, ast.Expr) and not called.isdisjoint(sites)


def _files(
    episodes: Episodes, entry_points: Sequence[EntryPoint]
) -> Iterator[FileSurvey]:
    """Survey the files that an agent consists of, or that its episodes do something in."""
    found, project = episodes.found, episodes.found.project
    reaching = found.graph.reaching(found.policy, guess=True)
    homes = [each.home for each in episodes.entries] or project.given
    of_others = _of_other_agents(project, homes, entry_points) - episodes.files
    starting = {entry.place.path for entry in entry_points[:1]}
    effects = episodes.effects()
    for path, syntax in project.files.items():
        if path in of_others:
            continue
        asks, runs = bool(found.calls.get(path)), path in episodes.files
        tools: ToolExecution | None = None
        threads: tuple[ThreadStart, ...] = ()
        if asks or runs:
            functions = episodes.functions_in(path)
            tools = find_tool_execution(
                project, found.graph, syntax, found.asking, functions
            )
        if path in project.given or asks or runs:
            threads = tuple(find_thread_starts(project, syntax, reaching, found.asking))
        edited = (
            path in project.given
            or asks
            or path in starting
            or (runs and bool(threads))
        )
        others = tuple(
            find_other_clients(syntax, episodes.functions_in(path)) if runs else ()
        )
        if edited or effects[path] or tools or others:
            yield _file_survey(
                syntax, episodes, threads, effects[path], tools, others, edited=edited
            )


def _of_other_agents(
    project: Project, homes: Sequence[Path], entries: Sequence[EntryPoint]
) -> set[Path]:
    """Return the files of a folder's other agents: they have candidates of their own."""
    tests = [apart_from(project, home) for home in homes]
    return {
        each.home for each in entries if all(is_apart(each.home) for is_apart in tests)
    }


def _each_file_once(entries: Sequence[EntryPoint]) -> Iterator[EntryPoint]:
    """Leave out that a file is run as a script where a likelier candidate says so."""
    scripts: set[Path] = set()
    for entry in entries:
        if not entry.is_script or entry.home not in scripts:
            yield entry
        if entry.is_script:
            scripts.add(entry.home)


def _of_lookalikes(project: Project, syntax: Syntax) -> Iterator[Obstacle]:
    """Find what is called like a client, and is a class of the project."""
    for callee, (path, method) in find_lookalikes(syntax, project):
        yield Obstacle(
            syntax.place(callee),
            f"{method}() of {path.name}, a class of yours that is no openai client",
            f"have {method}() call an openai client (base_url=...) or litellm.completion",
        )


def _unread(project: Project, syntax: Syntax) -> Iterator[Obstacle]:
    """Find the files that a file imports and that cannot be read: no train module can run it."""
    for refusal in project.unread.get(syntax.source.path, {}).values():
        if refusal.path is not None:
            yield Obstacle(
                Place(refusal.path, refusal.line or 1),
                "a file that could not be read",
                f"{refusal.what}: {refusal.next_step}",
                calls_model=False,
                fails_import=True,
            )


def _models_through(call: CompletionCall, episodes: Episodes) -> tuple[str, ...]:
    """Return the models that an episode's functions ask through a call, if there are several."""
    models = (
        each.asks
        for each in call.askers
        if each.function in episodes.functions_in(each.place.path)
    )
    found = tuple(dict.fromkeys(filter(None, models)))
    return found if len(found) > 1 else ()


def _file_survey(
    syntax: Syntax,
    episodes: Episodes,
    threads: tuple[ThreadStart, ...],
    effects: tuple[Effect, ...],
    tools: ToolExecution | None,
    others: tuple[Obstacle, ...],
    *,
    edited: bool,
) -> FileSurvey:
    found, project = episodes.found, episodes.found.project
    path, package = syntax.source.path, project.package(syntax)
    run = episodes.functions_in(path)
    calls = [
        replace(
            call,
            in_episode=call.function in run,
            loop=episodes.own_loop(call),
            several=call.several or _models_through(call, episodes),
        )
        if not episodes.run.isdisjoint(found.policy)
        else call
        for call in found.calls.get(path, [])
    ]
    return FileSurvey(
        source=syntax.source,
        given=path in project.given,
        edited=edited,
        package=package,
        calls=tuple(calls),
        threads=threads,
        effects=effects,
        obstacles=(
            *(find_obstacles(syntax) if calls or path in project.given else others),
            *(() if found.policy else _of_lookalikes(project, syntax)),
            *(find_loaders(project, path.parent) if edited else ()),
            *_unread(project, syntax),
        ),
        names=possible_names(syntax),
        hooks=dict(imported_hooks(syntax)),
        hooks_place=present_hooks_place(syntax),
        hooks_places=hooks_places(syntax) if edited else (),
        tool_execution=tools,
        uses_art=art_use(syntax),
    )
