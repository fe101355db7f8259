"""What follows from the completion calls of a project: its loops, roles, entry points."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from art_adapt.code.call_graph import CallGraph
from art_adapt.code.classes import FunctionKey, annotated, stand_ins_of
from art_adapt.code.command_line import argument_readers
from art_adapt.code.nodes import Function, dotted
from art_adapt.code.project import Project
from art_adapt.code.syntax import LOOPS, MODULE_LEVEL, Syntax
from art_adapt.source import Place
from art_adapt.survey.calls.asides import askers_of
from art_adapt.survey.calls.asking import Asking
from art_adapt.survey.calls.completion_calls import FoundCall, find_completion_calls
from art_adapt.survey.calls.create_aliases import uses_of
from art_adapt.survey.calls.frameworks import find_framework_calls
from art_adapt.survey.calls.going_on import keeping_sites
from art_adapt.survey.calls.growth import changing_sites, growing_sites
from art_adapt.survey.calls.roles import Role, roles_of
from art_adapt.survey.calls.said import NOTHING, Said, with_named
from art_adapt.survey.calls.tool_loops import find_tool_loop
from art_adapt.survey.candidates.entry_points import (
    find_entry_points,
    script_entry,
)
from art_adapt.survey.candidates.leads import Leads
from art_adapt.survey.candidates.reached import of_this_agent
from art_adapt.survey.inputs.instances import implemented_by
from art_adapt.survey.model import CompletionCall, EntryPoint, Span, Terminal
from art_adapt.survey.side_effects.effects import asks_a_person, waits_for_a_person
from art_adapt.survey.side_effects.typed_keys import asks_for_keys_only
from art_adapt.survey.side_effects.work_at_import import find_work_at_import


@dataclass(frozen=True)
class Found:
    """What follows from the completion calls of a project.

    ``unreached``: calls in imported files that nothing in the named ones leads to, and
    ``apart`` their functions; ``run``: functions that an episode runs all the same.
    """

    project: Project
    graph: CallGraph
    calls: dict[Path, list[CompletionCall]]
    policy: list[FunctionKey]
    asking: Asking
    entry_points: tuple[EntryPoint, ...]
    unreached: tuple[Place, ...] = ()
    said: Said = NOTHING
    apart: frozenset[FunctionKey] = frozenset()
    run: frozenset[FunctionKey] = frozenset()

    @staticmethod
    def of(
        project: Project,
        said: Said = NOTHING,
        run: frozenset[FunctionKey] = frozenset(),
    ) -> Found:
        found = {
            path: list(find_completion_calls(syntax, project))
            for path, syntax in project.files.items()
            if syntax.source.mentions_model
        }
        every = [call for calls in found.values() for call in calls]
        graph = CallGraph.of(project).with_tables(map(_key, every))
        found = of_this_agent(project, graph, found, run)
        reached = {call for calls in found.values() for call in calls}
        others = [call for call in every if call not in reached]
        unreached = tuple(call.syntax.place(call.callee) for call in others)
        elsewhere = frozenset(map(_key, others))
        if not any(call.supported for calls in found.values() for call in calls):
            for syntax, started in find_framework_calls(project).items():
                path = syntax.source.path
                found[path] = [*found.get(path, ()), *started]
            found = of_this_agent(project, graph, found, run)
        every = [call for calls in found.values() for call in calls]
        aliased = uses_of(project, every)
        growing = growing_sites(project, graph)
        changing = changing_sites(project, graph)
        loops = {
            call: loop
            for call in every
            if (loop := find_tool_loop(project, graph, growing, changing, call))
        }
        roles = roles_of(every, loops, _in_tools(project, graph, every))
        calls = {
            path: [
                said.of(
                    CompletionCall.of(
                        project,
                        call,
                        loops.get(call),
                        *roles[call],
                        askers_of(project, graph, call, in_loop=call in loops),
                    )
                )
                for call in found.get(path, ())
            ]
            for path in project.files
        }
        calls = with_named(project, graph, calls, said)
        trained = [c for each in calls.values() for c in each if c.role is Role.POLICY]
        # What can't be recorded leads to an episode only where nothing else does.
        trained = [call for call in trained if call.supported] or trained
        policy: list[FunctionKey] = [(c.place.path, c.function) for c in trained]
        spans = {(call.place.path, call.span) for call in trained}
        by_alias = [
            use
            for call, uses in aliased.items()
            if (call.syntax.source.path, Span.of(call.callee)) in spans
            for use in uses
        ]
        policy += [key for key, _ in by_alias]
        asking = Asking.of(every, graph, policy, growing, [at for _, at in by_alias])
        nodes = asking.sites.union(asking.completions)
        keeping = keeping_sites(project, graph, nodes, growing)
        asking = replace(asking, keeping=keeping, changing=changing)
        entries = find_entry_points(project, graph, policy, asking)
        return Found(
            project,
            graph,
            calls,
            policy,
            asking,
            entries,
            unreached,
            said,
            elsewhere,
            run,
        )

    @property
    def side_jobs(self) -> Iterator[FoundCall]:
        """Yield the completion calls beside the policy's, or through which others ask, too."""
        aside = {
            (call.place.path, call.span)
            for calls in self.calls.values()
            for call in calls
            if call.role is Role.AUXILIARY or call.asides
        }
        for found in self.asking.completions.values():
            if (found.syntax.source.path, Span.of(found.callee)) in aside:
                yield found

    def as_started(self, entry: EntryPoint, *, importable: bool) -> EntryPoint:
        """Say what an entry point that need not be given anything reads from a terminal.

        One with a choice of arguments, or of a class that has to be given something, has
        to ask in its own class: what else it runs may ask beside the task. One that has to
        be given something has to chat: what it asks for may be a word beside its task.
        Where importing its file runs it already, or waits for a person, the file itself is
        the episode. A command that only the command line can call stays so.
        ``importable``: the user says that the entry point can be imported.
        """
        home = self.project.files[entry.home]
        if entry.terminal is not None:
            found = self._terminal(self.graph.run_by([entry.key]))
            asks = found is not None and found.asks
            return replace(entry, terminal=replace(entry.terminal, asks=asks))
        if not importable and self._waits_when_imported(home):
            terminal = self._terminal(self.graph.run_by([(entry.home, MODULE_LEVEL)]))
            if terminal is not None:
                return self._in_place_of(entry, terminal)
        is_given = any(p.default is None for p in entry.parameters)
        chats = self._chats(entry)
        if entry.is_generator or (is_given and not chats):
            return entry
        may_be_given = entry.parameters or entry.constructor
        if may_be_given and not (chats or self._asks_itself(entry)):
            return entry
        terminal = self._terminal(self.graph.run_by([entry.key]))
        runs = any(find_work_at_import(home, self.asking.asks))
        if terminal is None or not runs:
            return replace(entry, terminal=terminal)
        return self._in_place_of(entry, terminal)

    def _in_place_of(self, entry: EntryPoint, terminal: Terminal) -> EntryPoint:
        """Describe the file of an entry point as the episode."""
        script = self._script(self.project.files[entry.home], terminal)
        return replace(script, exits=entry.exits or script.exits, score=entry.score)

    def _waits_when_imported(self, syntax: Syntax) -> bool:
        """True if importing a file that the user named waits for somebody at a terminal."""
        path = syntax.source.path
        if path not in self.project.given:
            return False
        at_import = (path, MODULE_LEVEL)
        called = [
            callee
            for callee in self.graph.certain.get(at_import, ())
            if not all(map(syntax.is_guarded, self.graph.sites[at_import, callee]))
        ]
        terminal = self._terminal(self.graph.run_by(called))
        return (terminal is not None and terminal.asks) or any(
            isinstance(node, ast.Call)
            and not syntax.is_guarded(node)
            and asks_a_person(syntax, node)
            for node in syntax.owned_by(MODULE_LEVEL)
        )

    def _asks_itself(self, entry: EntryPoint) -> bool:
        own = {name for _, name in self.own(entry.key)}
        return waits_for_a_person(self.project.files[entry.place.path], own)

    def _chats(self, entry: EntryPoint) -> bool:
        """True if a loop that an entry point runs asks a person and a model by turns."""
        return any(
            isinstance(loop, LOOPS)
            and self.asking.asks(loop)
            and self._asks_within(self.project.files[path], name, loop)
            for path, name in self.graph.run_by([entry.key])
            for loop in self.project.files[path].owned_by(name)
        )

    def _asks_within(self, syntax: Syntax, name: str, loop: ast.AST) -> bool:
        """True if a loop of a function waits for a person, itself or in what it calls."""
        inside = set(ast.walk(loop))
        key = syntax.source.path, name
        return asks_a_person(syntax, loop) or any(
            not inside.isdisjoint(self.graph.sites[key, callee])
            and callee not in self.reaching
            and waits_for_a_person(self.project.files[callee[0]], {callee[1]})
            for callee in self.graph.certain.get(key, ())
        )

    def own(self, key: FunctionKey) -> set[FunctionKey]:
        """Return a function, and the methods of its own class that it calls."""
        owner = key[1].rpartition(".")[0]
        found, left = {key}, [key]
        while owner and left:
            for path, name in self.graph.certain.get(left.pop(), set()) - found:
                if path == key[0] and name.rpartition(".")[0] == owner:
                    found.add((path, name))
                    left.append((path, name))
        return found

    def _terminal(self, run: Iterable[FunctionKey]) -> Terminal | None:
        by_file: dict[Path, set[str]] = {}
        for path, name in run:
            if not self.gives_way((path, name)):
                by_file.setdefault(path, set()).add(name)
        asks = reads = more = False
        for path, names in by_file.items():
            syntax = self.project.files[path]
            waits = waits_for_a_person(syntax, names)
            asks = asks or waits
            more = more or (waits and not asks_for_keys_only(syntax, names))
            reads = reads or not names.isdisjoint(argument_readers(syntax))
        only_keys = asks and not (more or reads)
        return Terminal(asks, reads, only_keys) if asks or reads else None

    def gives_way(self, key: FunctionKey) -> bool:
        """True if a method asks no model, and another class of its family has one that does.

        Of a person, a random player and a model behind ``Player.move``, episodes need the model.
        What that runs itself, as by ``super().move()``, stays.
        """
        others = () if key in self.reaching else stand_ins_of(self.project, key)
        asking = [each for each in others if each in self.reaching]
        runs_it = (key in self.graph.certain.get(each, ()) for each in asking)
        return bool(asking) and not any(runs_it)

    def is_composed(self, entry: EntryPoint) -> bool:
        """True if the module of a named file hands on what a function gave, or gives it that.

        What drives a loop of its own is whole: a summary of its answer is no part of it.
        """
        key = entry.key
        if not self._has(key) or self.asking.drives(*self.function_of(entry)):
            return False
        return any(
            not self.asking.composed_at_top(self.project.files[path]).isdisjoint(
                self.graph.sites.get(((path, MODULE_LEVEL), key), ())
            )
            for path in self.project.given
        )

    def scripts(self) -> Iterator[EntryPoint]:
        """Yield the named files that drive a conversation, and ask a person, at module level."""
        for path in self.project.given:
            asks = (path, MODULE_LEVEL) in self.policy
            drives = self.asking.driving_loops(self.project.files[path], MODULE_LEVEL)
            composes = self.asking.composed_at_top(self.project.files[path])
            sets = self.leads.sets_what_it_runs((path, MODULE_LEVEL))
            if not (asks or composes or sets or any(True for _ in drives)):
                continue
            run = self.graph.run_by([(path, MODULE_LEVEL)])
            terminal = self._terminal(run)
            if terminal is not None:
                yield self._script(self.project.files[path], terminal)

    def _script(self, syntax: Syntax, terminal: Terminal) -> EntryPoint:
        return script_entry(self.project, syntax, self.asking, terminal)

    def run_by(self, entries: Iterable[EntryPoint]) -> set[FunctionKey]:
        """Return the functions that episodes may run, with what makes and sets up the agent."""
        starts = [
            key
            for entry in entries
            for key in (
                entry.key,
                (entry.home, f"{entry.class_name}.__init__"),
                *(call.key for call in (*entry.setup, *entry.cleanup)),
                *(each.opened.key for each in entry.parameters if each.opened),
                *self._making(entry),
            )
            if entry.is_script or self._has(key)
        ]
        run = self.graph.run_by(starts)
        # What sets up the attributes that an episode uses runs before it: connect().
        every = self.graph.run_by([*run, *self._setting_up(run)])
        return {key for key in every if not self.gives_way(key)}

    def _making(self, entry: EntryPoint) -> Iterator[FunctionKey]:
        """Yield the constructors of what an episode has to be given, by their annotations."""
        place = self.project.files[entry.place.path]
        for parameter in entry.needs:
            annotation = ast.Constant(parameter.annotation or "")
            for syntax, name in annotated(self.project, place, annotation):
                for method in ("__init__", "__post_init__"):
                    yield syntax.source.path, f"{name}.{method}"

    def _has(self, key: FunctionKey) -> bool:
        syntax = self.project.files.get(key[0])
        return syntax is not None and key[1] in syntax.functions

    def _setting_up(self, run: set[FunctionKey]) -> Iterator[FunctionKey]:
        for path, syntax in self.project.files.items():
            own = {name for where, name in run if where == path}
            classes = {name.rpartition(".")[0] for name in own}
            for target, values in syntax.assignments.items():
                if not target.startswith("self."):
                    continue
                setters = {
                    where
                    for where, value in values
                    if where.rpartition(".")[0] in classes
                    and where not in own
                    and any(isinstance(each, ast.Await) for each in ast.walk(value))
                }
                if setters and any(
                    isinstance(node, ast.Attribute)
                    and isinstance(node.ctx, ast.Load)
                    and dotted(node) == target
                    for name in own
                    for node in syntax.owned_by(name)
                ):
                    yield from ((path, where) for where in setters)

    @cached_property
    def reaching(self) -> set[FunctionKey]:
        return self.graph.reaching(self.policy)

    @cached_property
    def leads(self) -> Leads:
        return Leads(self.project, self.graph, self.asking, self.reaching)

    def related(self, entry: EntryPoint) -> set[FunctionKey]:
        """Return what runs an entry point, and what it runs."""
        return self.graph.reaching([entry.key]) | self.graph.run_by([entry.key])

    def wider(self, paths: Sequence[Path]) -> Found | None:
        """Return what follows with more files; None if none can be read."""
        project = self.project.with_files(paths)
        return None if project is None else Found.of(project, self.said, self.run)

    def function_of(self, entry: EntryPoint) -> tuple[Syntax, Function]:
        syntax = self.project.files[entry.place.path]
        return syntax, syntax.functions[entry.name]


def _key(call: FoundCall) -> FunctionKey:
    return call.syntax.source.path, call.function


def _in_tools(
    project: Project, graph: CallGraph, calls: Sequence[FoundCall]
) -> set[FoundCall]:
    """Return the calls that only a table leads to, as tools.

    A provider in a table is no tool where another implementation of its interface is
    asked directly.
    """

    def interface(call: FoundCall) -> FunctionKey | None:
        function = call.syntax.functions.get(call.function)
        if function is None:
            return None
        return implemented_by(project, call.syntax, function)

    handed = graph.only_in_tables
    asked = {interface(call) for call in calls if _key(call) not in handed} - {None}
    return {c for c in calls if _key(c) in handed and interface(c) not in asked}
