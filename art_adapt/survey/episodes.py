"""Finds what runs in the likely episodes, and what that does beyond them.

Likely are the entry point that was chosen, or the several that are equally likely.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from art_adapt.code.call_graph import CallGraph
from art_adapt.code.classes import FunctionKey
from art_adapt.code.importable import module_at
from art_adapt.code.nodes import dotted
from art_adapt.code.project import Project
from art_adapt.code.syntax import MODULE_LEVEL, Syntax
from art_adapt.survey.candidates.found import Found
from art_adapt.survey.making.dependencies import dependencies_of
from art_adapt.survey.making.registrations import find_registering
from art_adapt.survey.model import CompletionCall, Construction, EntryPoint, ToolLoop
from art_adapt.survey.side_effects.effects import (
    LOADED,
    find_effects,
    find_hosted_tools,
    find_refusals,
)
from art_adapt.survey.side_effects.harm import Effect, Harm
from art_adapt.survey.side_effects.reply_caches import find_reply_caches
from art_adapt.survey.side_effects.shared_instances import (
    changed_by_itself,
    kept_by_caches,
)
from art_adapt.survey.side_effects.work_at_import import find_work_at_import


@dataclass(frozen=True)
class Episodes:
    """The likely entry points, and the functions that their episodes run.

    ``found`` has the files of what they are handed as well. ``imported``: the files that a
    train module imports. ``at_import``: the functions that run when those are imported.
    """

    found: Found
    entries: tuple[EntryPoint, ...]
    run: frozenset[FunctionKey]
    imported: frozenset[Path]
    at_import: frozenset[FunctionKey]

    @classmethod
    def of(cls, found: Found, entries: Sequence[EntryPoint]) -> Episodes:
        """Find what the episodes of some entry points run, and import for what it registers."""
        run = found.run_by(entries)
        registering = _registering(found, entries, run)
        wider, handed = _with_handed_over(found, entries, registering)
        if served := _serving(wider, entries, registering):
            registering = {p: k for p, k in registering.items() if p not in served}
            wider, handed = _with_handed_over(found, entries, registering)
        # The files that make an agent show what its table of tools holds.
        if wider.project is not found.project:
            run |= wider.run_by(entries)
        found = wider
        entries = tuple(_with_registering(found, e, registering) for e in entries)
        run |= {key for key in handed if not found.gives_way(key)}
        read = {path for key in run for path in found.graph.read.get(key, ())}
        files = {path for path, _ in run} | read
        homes = [entry.home for entry in entries] or found.project.given
        with_them = _imported_with(found.project, entries)
        return cls(
            found,
            entries,
            frozenset(run),
            frozenset(found.project.imported_by([*homes, *with_them])),
            frozenset(found.graph.run_by((path, MODULE_LEVEL) for path in files)),
        )

    @property
    def files(self) -> set[Path]:
        """Return the files with functions that the episodes run."""
        return {path for path, _ in self.run}

    def functions_in(self, path: Path) -> set[str]:
        """Return the functions of a file that the episodes run."""
        return {name for where, name in self.run if where == path}

    def own_loop(self, call: CompletionCall) -> ToolLoop | None:
        """Return the loop of turns around a call, if the episodes run it: no scheduler's."""
        loop = call.loop
        is_own = loop is not None and (loop.place.path, loop.function) in self.run
        return loop if is_own else None

    def effects(self) -> dict[Path, tuple[Effect, ...]]:
        """Find what the episodes do beyond themselves, by the file that does it."""
        making_tools = {path for path, _ in self.run | self.at_import}
        effects = {
            path: (
                *_effects(self, syntax),
                *_out_of_sight(self, syntax),
                *(find_hosted_tools(syntax) if path in making_tools else ()),
            )
            for path, syntax in self.found.project.files.items()
        }
        for entry in self.entries:
            path = entry.place.path
            effects[path] = (*effects[path], *_of_shared_object(self, entry))
        parts = [part.made for each in self.entries for part in each.parts if part.made]
        for path, effect in _of_handed_objects(self, parts):
            effects[path] = (*effects[path], effect)
        makers = dict.fromkeys(key for made in parts for key in made.functions)
        for path, effect in kept_by_caches(self.found.project, makers):
            effects[path] = (*effects[path], effect)
        always = all(each.is_script for each in self.entries)
        for script in (each.home for each in self.entries if each.is_script):
            effects[script] = tuple(
                effect
                for effect in effects[script]
                # It is run anew in each episode, and never imported.
                if not effect.of_module and not (always and effect.harm is Harm.IMPORT)
            )
        return effects


def _registering(
    found: Found, entries: Sequence[EntryPoint], run: set[FunctionKey]
) -> dict[Path, list[FunctionKey]]:
    """Return the files to import for what they register, each with the functions and classes."""
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


def _serving(
    found: Found,
    entries: Sequence[EntryPoint],
    registering: Mapping[Path, list[FunctionKey]],
) -> set[Path]:
    """Return the files that register what runs the agent, as handlers of a server: no tools."""
    starting = found.graph.reaching(each.key for each in entries)
    return {
        path
        for path, keys in registering.items()
        if any(key in starting for key in keys)
    }


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
    what its functions do, and whose calls are not recorded.
    """
    made = [part.made for entry in entries for part in entry.parts if part.made]
    keys = [key for each in made for key in each.functions]
    keys += [key for added in registering.values() for key in added]
    keys += [
        key
        for entry in entries
        if entry.route is not None  # whose framework makes what it depends on
        for key in dependencies_of(found.project, entry.key)
    ]
    paths = [*(path for path, _ in keys), *(each.place.path for each in made)]
    if (project := found.project.with_files(paths)) is not None:
        graph = CallGraph.of(project)
        asking = found.asking.seen_in(graph, found.policy)
        found = replace(found, project=project, graph=graph, asking=asking)
    known = [
        (path, function)
        for path, name in keys
        if path in found.project.files
        for function in found.project.files[path].functions
        if function == name or function.startswith(f"{name}.")
    ]
    return found, found.graph.run_by(known)


def _imported_with(project: Project, entries: Sequence[EntryPoint]) -> Iterator[Path]:
    """Yield the files beside its agent that a train module imports, for what an agent is made of."""
    for entry in entries:
        agent = project.files[entry.home]
        for made in (part.made for part in entry.parts if part.made is not None):
            path = made.place.path
            module = module_at(project, agent, path)
            if any(module == each.module for each in made.imports):
                yield path


def _effects(episodes: Episodes, syntax: Syntax) -> tuple[Effect, ...]:
    """Return what the functions of an episode do in a file, and what importing the file does."""
    found, imported = episodes.found, episodes.imported
    path = syntax.source.path
    functions = episodes.functions_in(path)
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
    caches = find_reply_caches(syntax, functions, found.asking.is_site)
    return (*find_effects(syntax, functions), *caches, *importing)


def _of_handed_objects(
    episodes: Episodes, parts: Sequence[Construction]
) -> Iterator[tuple[Path, Effect]]:
    """Say how episodes change a module's object that each of them is given.

    Of an object whose class is in its own file, that file says so itself.
    """
    project = episodes.found.project
    named = {(made.place.path, each.name) for made in parts for each in made.imports}
    for path, name in sorted(named):
        shown = project.files.get(path)
        if shown is None:
            continue
        home, own = project.variable_named(shown, name) or (shown, name)
        for value in home.values_at_top(own):
            called = dotted(value.func) if isinstance(value, ast.Call) else None
            found = project.class_named(home, called) if called is not None else None
            if found is None or found[0] is home:
                continue
            place, owner = found
            run = episodes.functions_in(place.source.path)
            methods = [m.qualname for _, m in place.methods_of(owner)]
            used = [each for each in methods if each in run] or methods
            for effect in changed_by_itself(place, used, own):
                yield place.source.path, effect


def _of_shared_object(episodes: Episodes, entry: EntryPoint) -> Iterator[Effect]:
    """Say how an episode changes the object that the next one runs as well."""
    if not entry.runs_shared_object or entry.instance is None:
        return
    assert entry.instance.made is not None
    path, owner = entry.place.path, entry.name.rpartition(".")[0]
    syntax, run = episodes.found.project.files[path], episodes.functions_in(path)
    every = (method.qualname for _, method in syntax.methods_of(owner))
    methods = [each for each in every if each in run]
    name = entry.instance.made.value
    changed = list(changed_by_itself(syntax, methods, name))
    yield from changed or _changed_through(entry, name)


def _changed_through(entry: EntryPoint, name: str) -> Iterator[Effect]:
    """Say that what an episode's object is given holds it, and so may change it."""
    for each in entry.parameters:
        held = () if each.made is None else each.made.imports
        if each.made is not None and name in {imported.bound for imported in held}:
            what = f"the module-level {name}, which {each.name} holds and may change"
            yield Effect(each.made.place, Harm.SHARED, what, of_module=True)
            return


def _out_of_sight(episodes: Episodes, syntax: Syntax) -> Iterator[Effect]:
    """Name what an episode may run and the survey could not read.

    That is a file of a newer Python, and modules that are loaded when the agent's are
    imported, as plugins.
    """
    path, run = syntax.source.path, episodes.run
    if path in episodes.files:
        for node, refusal in episodes.found.project.unread.get(path, {}).items():
            name = refusal.path.name if refusal.path is not None else "a file"
            what = f"{name}, which could not be read,"
            yield Effect(syntax.place(node), Harm.UNKNOWN, what)
    loading = {name for where, name in episodes.at_import - run if where == path}
    for effect in find_effects(syntax, loading):
        if effect.what == LOADED:
            yield effect
