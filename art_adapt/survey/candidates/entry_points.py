"""Finds the functions that run one episode, and puts the likeliest first."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from art_adapt.code.call_graph import CallGraph
from art_adapt.code.classes import FunctionKey
from art_adapt.code.click_commands import is_click_command, is_given_context
from art_adapt.code.nodes import Function, decorator_names
from art_adapt.code.project import Project
from art_adapt.code.syntax import MODULE_LEVEL, Syntax, return_values
from art_adapt.code.trials import is_collected
from art_adapt.source import Place
from art_adapt.survey.calls.asking import Asking, replying_sites
from art_adapt.survey.candidates.candidate import Candidate, driven_at_module_level
from art_adapt.survey.candidates.exits import (
    find_exits,
    printed_answers,
)
from art_adapt.survey.candidates.launches import is_discord_command
from art_adapt.survey.candidates.leads import Leads
from art_adapt.survey.candidates.no_answers import is_given, is_no_answer
from art_adapt.survey.candidates.rewards import find_rewards
from art_adapt.survey.candidates.taken import is_exit_code
from art_adapt.survey.candidates.weights import features_of, score_of
from art_adapt.survey.inputs.clients import with_clients
from art_adapt.survey.inputs.instances import implemented_by, with_instances
from art_adapt.survey.inputs.parameters import constructor_of, parameters_of
from art_adapt.survey.inputs.routes import with_route
from art_adapt.survey.model import EntryPoint, Terminal
from art_adapt.words import PLAIN_DECORATORS

UNSEEN = -100  # the score of a function from which no path to a call was found


def find_entry_points(
    project: Project,
    graph: CallGraph,
    policy: Sequence[FunctionKey],
    asking: Asking,
) -> tuple[EntryPoint, ...]:
    """Find every function that reaches a policy call, the likeliest entry point first.

    ``policy``: the functions with policy calls.
    """
    reaching = graph.reaching(policy)
    leads = Leads(project, graph, asking, reaching)
    replying = replying_sites(project, graph, asking, reaching)
    driven = driven_at_module_level(project, graph, asking)
    found: list[EntryPoint] = []
    for path, qualname in reaching:
        if qualname == MODULE_LEVEL:
            continue
        syntax = project.files[path]
        function = syntax.functions[qualname]
        name = function.node.name
        if function.nested or (name.startswith("__") and name != "__call__"):
            continue
        if path not in project.given and is_collected(path) and name[:4] == "test":
            continue  # pytest gives it fixtures
        entry = describe_entry(project, syntax, function, asking)
        candidate = Candidate(leads, entry, replying, driven)
        features = features_of(candidate)
        scored = replace(
            entry,
            features=features,
            score=score_of(features),
            feeds_back=candidate.feeds_back,
            goes_through_rows=candidate.goes_through_rows,
            led_to_by=frozenset(graph.reaching([entry.key], guess=True)),
        )
        found += [
            with_clients(project, each, asking.completions.values())
            for each in with_instances(project, scored)
        ]
    related = _related_to_given(project, graph)
    found = [replace(each, is_apart=each.key not in related) for each in found]
    return tuple(sorted(found, key=lambda each: (*likeliest_first(each), each.place)))


def likeliest_first(entry: EntryPoint) -> tuple[bool, int]:
    """Order what has to do with the named files before the rest, and each by its score."""
    return entry.is_apart, -entry.score


def _related_to_given(project: Project, graph: CallGraph) -> set[FunctionKey]:
    """Return the functions that those of the named files run, and that run them.

    What only shares a client with them is another feature of the project.
    """
    given = [
        (path, name)
        for path in project.given
        for name in (MODULE_LEVEL, *project.files[path].functions)
    ]
    return graph.reachable(given) | graph.reaching(given, guess=True)


def is_named(entry: EntryPoint, module: str, name: str) -> bool:
    """True if the user's ``module:name`` means this entry point."""
    named = names_function(entry.home, entry.called, module, name)
    return named or names_function(*entry.key, module, name)


def names_function(path: Path, qualname: str, module: str, name: str) -> bool:
    """True if the user's ``module:name`` means the function ``qualname`` in ``path``.

    The module may be a dotted name or a path; without one the name alone decides.
    """
    if qualname != name and not qualname.endswith(f".{name}"):
        return False
    if not module:
        return True
    dotted_name = module.removesuffix(".py").replace("/", ".").lstrip(".")
    place = ".".join(path.with_suffix("").parts)
    return f".{place}".endswith(f".{dotted_name}")


def describe_entry(
    project: Project,
    syntax: Syntax,
    function: Function,
    asking: Asking,
) -> EntryPoint:
    """Describe a function as an entry point, whether it is a likely one or not."""
    owner = function.qualname.rpartition(".")[0]
    decorators = decorator_names(function.node)
    static = "staticmethod" in decorators or "classmethod" in decorators
    entry = EntryPoint(
        place=syntax.place(function.node),
        name=function.qualname,
        called=function.qualname,
        home=syntax.source.path,
        package=project.package(syntax),
        parameters=parameters_of(project, syntax, function),
        constructor=()
        if function.class_name is None or static
        else constructor_of(project, syntax, owner),
        class_name=None if function.class_name is None or static else owner,
        is_async=isinstance(function.node, ast.AsyncFunctionDef),
        is_generator=any(
            isinstance(node, ast.Yield | ast.YieldFrom)
            for node in syntax.owned_by(function.qualname)
        ),
        returns=ast.unparse(function.node.returns)
        if function.node.returns is not None
        else None,
        exits=find_exits(project, syntax, function, asking),
        rewards=find_rewards(syntax, function),
        score=UNSEEN,
        decorated=not PLAIN_DECORATORS.issuperset(decorators),
        attribute=".callback"
        if is_click_command(syntax, function) or is_discord_command(syntax, function)
        else "",
        documentation=(ast.get_docstring(function.node) or "").partition("\n")[0],
        implements=implemented_by(project, syntax, function),
        returns_value=any(
            not (is_no_answer(value, asking) or is_given(syntax, function, value))
            for value in return_values(syntax, function.qualname)
        )
        and not is_exit_code(project, syntax, function),
    )
    if is_click_command(syntax, function) and is_given_context(function):
        by_command = Terminal(asks=False, reads_arguments=True)
        entry = replace(entry, parameters=(), attribute="", terminal=by_command)
    entry = with_clients(project, entry, asking.completions.values())
    return with_route(project, syntax, entry)


def script_entry(
    project: Project,
    syntax: Syntax,
    asking: Asking,
    terminal: Terminal,
) -> EntryPoint:
    """Describe a file that is itself the episode: it is run, not imported."""
    return EntryPoint(
        place=Place(syntax.source.path, 1),
        name=MODULE_LEVEL,
        called=MODULE_LEVEL,
        home=syntax.source.path,
        package=project.package(syntax),
        exits=tuple(printed_answers(syntax, MODULE_LEVEL, asking)),
        terminal=terminal,
    )
