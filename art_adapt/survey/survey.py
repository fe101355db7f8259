"""Surveys an agent: from its completion calls to the functions that lead to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from art_adapt.source import Source
from art_adapt.survey.agents_apart import apart_from, told_apart
from art_adapt.survey.call_graph import CallGraph
from art_adapt.survey.callers import files_that_use
from art_adapt.survey.classes import FunctionKey
from art_adapt.survey.effects import (
    LOADED,
    find_effects,
    find_hosted_tools,
    find_refusals,
)
from art_adapt.survey.entry_points import is_named
from art_adapt.survey.found import Found
from art_adapt.survey.hooks import local_names, recording_level
from art_adapt.survey.importable import module_at
from art_adapt.survey.instances import may_be_abstract
from art_adapt.survey.llm_helpers import (
    drivers_first,
    only_helps,
    tied,
)
from art_adapt.survey.loaders import find_loaders
from art_adapt.survey.model import (
    Effect,
    EntryPoint,
    FileSurvey,
    Harm,
    Survey,
    ThreadStart,
    ToolExecution,
)
from art_adapt.survey.obstacles import art_use, find_obstacles
from art_adapt.survey.outward import outward
from art_adapt.survey.packages import imports_relatively, may_be_of_package
from art_adapt.survey.project import Project
from art_adapt.survey.registrations import find_registering
from art_adapt.survey.roles import side_job_of
from art_adapt.survey.shared_instances import changed_by_itself
from art_adapt.survey.syntax import MODULE_LEVEL, Syntax
from art_adapt.survey.threads import find_thread_starts
from art_adapt.survey.tool_execution import find_tool_execution
from art_adapt.survey.usage import as_used
from art_adapt.survey.work_at_import import find_work_at_import


def survey(
    sources: Sequence[Source],
    instead: Mapping[Path, Source] | None = None,
    entry: str | None = None,
) -> Survey:
    """Survey the agent that consists of ``sources`` and what they import.

    ``sources`` are the files that the user named. A completion call in an imported file
    counts only if a named file can reach it. ``instead``: sources to read in place of files
    on disk. ``entry``: the function that the user says runs an episode, as ``name``,
    ``Class.name`` or ``module:name``; it needs no path to a completion call.

    Raises:
        Refusal: a named file cannot be read as Python.
    """
    project = Project.of(sources, instead or {})
    found = _with_implementations(Found.of(project))
    found = told_apart(tied(drivers_first(_with_derived(outward(found)))))
    if entry is not None:
        found = found.with_entry(entry)
    project = found.project
    module, _, name = (entry or "").rpartition(":")
    named = [each for each in found.entry_points if is_named(each, module, name)]
    likely = named or found.entry_points[:1]  # what else is searched for: it takes time
    entry_points = tuple(
        replace(
            found.as_started(
                as_used(
                    project,
                    found.graph,
                    each,
                    found.reaching,
                    everywhere=each in likely,
                ),
                importable=each in named and entry is not None,
            ),
            is_helper=entry is None and each in likely and only_helps(found, each),
            side_job="" if entry is not None else side_job_of(each.home, each.called),
        )
        for each in found.entry_points
    ) or tuple(found.scripts())
    entry_points = tuple(_each_file_once(entry_points))
    reaching = found.graph.reaching(found.policy, guess=True)
    starting = {entry.place.path for entry in entry_points[:1]}
    likely_first = [each for each in entry_points if is_named(each, module, name)] or [
        each for each in entry_points if each.score == entry_points[0].score
    ]
    run = found.run_by(likely_first)
    registering = _registering(found, likely_first, run)
    entry_points = tuple(
        _with_registering(found, each, registering) if each in likely_first else each
        for each in entry_points
    )
    found, handed = _with_handed_over(found, likely_first, registering)
    run, project = run | handed, found.project
    run_files = {path for path, _ in run}
    read = {path for key in run for path in found.graph.read.get(key, ())}
    at_import = found.graph.run_by((path, MODULE_LEVEL) for path in run_files | read)
    making_tools = {path for path, _ in run | at_import}
    homes = [entry.home for entry in likely_first] or project.given
    of_others = _of_other_agents(project, homes, entry_points)
    imported = project.imported_by([*homes, *_imported_with(project, likely_first)])
    effects = {
        path: (
            *_effects(found, run, syntax, imported),
            *_out_of_sight(project, syntax, run, at_import),
            *(find_hosted_tools(syntax) if path in making_tools else ()),
        )
        for path, syntax in project.files.items()
    }
    for entry_point in likely_first:
        path = entry_point.place.path
        effects[path] = (*effects[path], *_of_shared_object(project, entry_point, run))
    for script in (each.home for each in likely_first if each.is_script):
        effects[script] = tuple(e for e in effects[script] if not e.of_module)
    tools = {
        path: find_tool_execution(
            project,
            found.graph,
            syntax,
            found.asking,
            {name for where, name in run if where == path},
        )
        for path, syntax in project.files.items()
        if found.calls.get(path) or path in run_files
    }
    threads = {
        path: tuple(
            find_thread_starts(
                project,
                syntax,
                reaching,
                found.asking,
                local_names(found.hooks.get(path, {}), "carried"),
            )
        )
        for path, syntax in project.files.items()
        if path in project.given or found.calls.get(path) or path in run_files
    }
    files = tuple(
        _file_survey(
            project,
            syntax,
            found,
            threads.get(path, ()),
            effects[path],
            tools.get(path),
            edited=edited,
        )
        for path, syntax in project.files.items()
        if path not in of_others
        and (
            (
                edited := path in project.given
                or bool(found.calls.get(path))
                or path in starting
                or (path in run_files and bool(threads[path]))
            )
            or effects[path]
            or tools.get(path)
        )
    )
    return Survey(files, entry_points)


def _imported_with(project: Project, entries: Sequence[EntryPoint]) -> Iterator[Path]:
    """The files beside its agent that a train module imports, for what an agent is made of."""
    for entry in entries:
        agent = project.files[entry.home]
        for made in (part.made for part in entry.parts if part.made is not None):
            path = made.place.path
            module = module_at(project, agent, path)
            if any(module == each for each, _ in made.names):
                yield path


def _of_other_agents(
    project: Project, homes: Sequence[Path], entries: Sequence[EntryPoint]
) -> set[Path]:
    """The files of a folder's other agents: they have candidates of their own."""
    tests = [apart_from(project, home) for home in homes]
    return {
        each.home for each in entries if all(is_apart(each.home) for is_apart in tests)
    }


def _effects(
    found: Found, run: set[FunctionKey], syntax: Syntax, imported: set[Path]
) -> tuple[Effect, ...]:
    """What the functions of an episode do in a file, and what importing the file does.

    ``imported``: the files of the project that the train module imports.
    """
    path = syntax.source.path
    functions = {name for where, name in run if where == path}
    if not found.entry_points and path in found.project.given:
        functions = {MODULE_LEVEL, *syntax.functions}
    asks = bool(found.calls.get(path))
    importing: tuple[Effect, ...] = ()
    if path in imported or asks:
        importing = tuple(find_work_at_import(syntax, found.asking.asks))
    if path not in imported:  # nor can a train module leave anything out
        importing = tuple(replace(effect, calls=()) for effect in importing)
    if asks or path in imported.intersection(found.project.given):
        importing = (*importing, *find_refusals(syntax))[:1]
    return (*find_effects(syntax, functions), *importing)


def _of_shared_object(
    project: Project, entry: EntryPoint, run: set[FunctionKey]
) -> Iterator[Effect]:
    """Say how an episode changes the object that the next one runs as well."""
    if not entry.runs_shared_object or entry.instance is None:
        return
    assert entry.instance.made is not None
    path, owner = entry.place.path, entry.name.rpartition(".")[0]
    methods = [
        name
        for name in project.files[path].functions
        if (path, name) in run and name.rpartition(".")[0] == owner
    ]
    yield from changed_by_itself(
        project.files[path], methods, entry.instance.made.value
    )


def _out_of_sight(
    project: Project,
    syntax: Syntax,
    run: set[FunctionKey],
    at_import: set[FunctionKey],
) -> Iterator[Effect]:
    """Name what an episode may run and the survey could not read.

    That is a file of a newer Python, and modules that are loaded when the agent's are
    imported, as plugins.
    """
    path = syntax.source.path
    if any(where == path for where, _ in run):
        for node, other in project.unread.get(path, {}).items():
            what = f"{other.name}, which this Python cannot read,"
            yield Effect(syntax.place(node), Harm.UNKNOWN, what)
    loading = {name for where, name in at_import - run if where == path}
    for effect in find_effects(syntax, loading):
        if effect.what == LOADED:
            yield effect


def _registering(
    found: Found, entries: Sequence[EntryPoint], run: set[FunctionKey]
) -> dict[Path, list[FunctionKey]]:
    """The files to import for what they register, each with the functions and classes."""
    if any(each.is_script or each.route is not None for each in entries):
        return {}
    project = found.project
    homes = [each.home for each in entries]
    imported = project.imported_by([*homes, *_imported_with(project, entries)])
    objects = {
        (each.instance.made.place.path, each.instance.made.value)
        for each in entries
        if each.runs_shared_object and each.instance and each.instance.made
    }
    return find_registering(project, run, objects, imported)


def _with_registering(
    found: Found, entry: EntryPoint, registering: Iterable[Path]
) -> EntryPoint:
    agent = found.project.files[entry.home]
    modules = (module_at(found.project, agent, path) for path in registering)
    named = tuple(each for each in modules if each is not None)
    return replace(entry, registering=named)


def _with_handed_over(
    found: Found,
    entries: Sequence[EntryPoint],
    registering: Mapping[Path, list[FunctionKey]],
) -> tuple[Found, set[FunctionKey]]:
    """Find what runs of the objects that an agent is made with, as its tools.

    The file that makes it, or registers them, may be another one, which is then read for
    what its functions do, and given no hooks.
    """
    made = [part.made for entry in entries for part in entry.parts if part.made]
    keys = [key for each in made for key in each.functions]
    keys += [key for added in registering.values() for key in added]
    project = replace(found.project, files=dict(found.project.files))
    paths = [*(path for path, _ in keys), *(each.place.path for each in made)]
    if project.add([path for path in paths if path not in project.files]):
        graph = CallGraph.of(project)
        asking = found.asking.seen_in(graph, found.policy)
        found = replace(found, project=project, graph=graph, asking=asking)
    known = [
        (path, function)
        for path, name in keys
        if path in project.files
        for function in project.files[path].functions
        if function == name or function.startswith(f"{name}.")
    ]
    return found, found.graph.run_by(known)


def _each_file_once(entries: Sequence[EntryPoint]) -> Iterator[EntryPoint]:
    """Leave out that a file is run as a script where a likelier candidate says so."""
    scripts: set[Path] = set()
    for entry in entries:
        if not entry.is_script or entry.home not in scripts:
            yield entry
        if entry.is_script:
            scripts.add(entry.home)


def _with_implementations(found: Found) -> Found:
    """Add the files that implement what the agent only knows as an interface.

    Where no completion call was found, one of them may have it; else what those files
    give the agent that use it: ``Agent(llm=OpenAIProvider())``.
    """
    if any(found.calls.values()):
        return found
    interfaces = [
        name
        for syntax in found.project.files.values()
        for name in syntax.classes
        if may_be_abstract(found.project, syntax, name)
    ]
    named = [found.project.files[path] for path in found.project.given]
    functions = [
        (syntax.source.path, name)
        for syntax in named
        for name, function in syntax.functions.items()
        if not function.nested and "." not in name
    ]
    classes = [name for syntax in named for name in syntax.classes]
    for used, made in (([], interfaces), (functions, classes)):
        project = replace(found.project, files=dict(found.project.files))
        if (used or made) and project.add(files_that_use(project, used, made)):
            wider = Found.of(project)
            if any(wider.calls.values()):
                return wider
    return found


def _with_derived(found: Found) -> Found:
    """Add the files that implement the class of the likeliest entry point, if abstract."""
    first = found.entry_points[0] if found.entry_points else None
    if first is None or first.class_name is None:
        return found
    syntax = found.project.files[first.home]
    if not may_be_abstract(found.project, syntax, first.class_name):
        return found
    project = replace(found.project, files=dict(found.project.files))
    added = project.add(files_that_use(project, [], [first.class_name]))
    return Found.of(project) if added else found


def _file_survey(
    project: Project,
    syntax: Syntax,
    found: Found,
    threads: tuple[ThreadStart, ...],
    effects: tuple[Effect, ...],
    tools: ToolExecution | None,
    *,
    edited: bool,
) -> FileSurvey:
    path, package = syntax.source.path, project.package(syntax)
    calls, hooks = found.calls.get(path, []), found.hooks.get(path, {})
    return FileSurvey(
        source=syntax.source,
        given=syntax.source.path in project.given,
        edited=edited,
        package=package,
        calls=tuple(calls),
        threads=threads,
        effects=effects,
        obstacles=(
            *(find_obstacles(syntax) if calls or path in project.given else ()),
            *(find_loaders(project, path.parent) if edited else ()),
        ),
        names=syntax.names,
        hooks=hooks,
        recording_level=recording_level(syntax),
        imports_relatively=imports_relatively(syntax),
        may_be_of_package=edited and not package and may_be_of_package(syntax),
        tool_execution=tools,
        uses_art=art_use(syntax),
    )
