"""Find the parts of a train module and of its agent, for findings to point at."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from art_adapt.code.nodes import FunctionNode, dotted
from art_adapt.code.resolution import resolve
from art_adapt.code.syntax import MODULE_LEVEL, Syntax
from art_adapt.rehearsal.environment import files_of, project_of
from art_adapt.rehearsal.surveyed import surveyed
from art_adapt.source import Place
from art_adapt.survey.calls.completion_calls import find_completion_calls
from art_adapt.survey.calls.tool_execution import answers_a_call, names_its_call
from art_adapt.survey.side_effects.harm import Harm

Part = Callable[[ast.AST], bool]


def defines(*names: str) -> Part:
    """Return the part that defines a function of one of these names."""
    return lambda node: isinstance(node, FunctionNode) and node.name in names


def calls(*names: str) -> Part:
    """Return the part that calls a function of one of these names, or of such dotted ones."""

    def is_it(node: ast.AST) -> bool:
        name = dotted(node.func) if isinstance(node, ast.Call) else None
        return name is not None and any(f".{name}".endswith(f".{n}") for n in names)

    return is_it


def sets(*names: str) -> Part:
    """Return the part that assigns to one of these names or attributes."""

    def is_it(node: ast.AST) -> bool:
        if not isinstance(node, ast.Name | ast.Attribute):
            return False
        name = node.id if isinstance(node, ast.Name) else node.attr
        return name in names and isinstance(node.ctx, ast.Store)

    return is_it


def reads(name: str) -> Part:
    """Return the part that reads an attribute of this name."""
    return lambda node: isinstance(node, ast.Attribute) and node.attr == name


def passes(*keywords: str) -> Part:
    """Return the part that passes an argument by one of these keywords."""
    return lambda node: isinstance(node, ast.keyword) and node.arg in keywords


EPISODE = defines("episode")
ROLLOUT = defines("rollout")
RECORDS = calls("training.record", "rollout")
ANSWERS = sets("final_answer")
TRAINS = calls("backend.train")
REWARDS = (sets("reward"), calls("reward", "scored"))


def line_of(syntax: Syntax, *parts: Part) -> int:
    """Return the line of the first of ``parts`` that a file has; 1 if it has none."""
    for part in parts:
        for node in syntax.nodes:
            if part(node):
                return int(getattr(node, "lineno", 1))
    return 1


@dataclass(frozen=True)
class AgentParts:
    """What the source of a train module's agent has, and where.

    ``answers_tools``: where a tool call is answered, in the function ``answering``.
    ``hooked``: the functions that have a hooked call, with its place. ``loops`` call the model
    turn after turn. ``shared``: what outlives an episode, by its name. ``reward``: the function
    that scores an episode, or the statement of the agent that does.
    """

    answers_tools: Place | None = None
    answering: str = ""
    hooked: tuple[tuple[str, Place], ...] = ()
    loops: tuple[Place, ...] = ()
    shared: tuple[tuple[str, Place], ...] = ()
    reward: Place | None = None


NOT_READ = AgentParts()


def agent_parts(train_module: Path) -> AgentParts:
    """Read the parts of the agent that a train module runs."""
    files, survey = files_of(train_module), surveyed(train_module)
    answering, answers_tools = _answers_tools(files)
    loops = (each.loop for each in survey.calls if each.recorded) if survey else ()
    shared = survey.effects(Harm.SHARED) if survey else ()
    return AgentParts(
        answers_tools,
        answering,
        tuple(_hooked(files)),
        tuple(dict.fromkeys(loop.place for loop in loops if loop is not None)),
        tuple((each.what, each.place) for each in shared),
        _reward(train_module),
    )


def _answers_tools(files: list[Syntax]) -> tuple[str, Place | None]:
    """Find the function of an agent that answers a tool call, and where."""
    for syntax in files:
        for node in syntax.nodes:
            if answers_a_call(node) and names_its_call(node):
                return syntax.owner(node), syntax.place(node)
    return "", None


def _hooked(files: list[Syntax]) -> Iterator[tuple[str, Place]]:
    """Yield the functions of an agent that have a hooked call, with the call's place."""
    for syntax in files:
        for call in find_completion_calls(syntax):
            if call.recorded and call.function != MODULE_LEVEL:
                yield call.function, syntax.place(call.callee)


def _reward(train_module: Path) -> Place | None:
    """Find the function that a train module scores episodes with, or the agent's own reward."""
    project = project_of(train_module)
    syntax = project.files.get(train_module.resolve())
    is_scored = calls("training.scored")
    for node in syntax.nodes if syntax is not None else ():
        if syntax is not None and isinstance(node, ast.Call) and is_scored(node):
            for path, name in resolve(project, syntax, node.args[0]):
                file = project.files[path]
                return file.place(file.functions[name].node)
    survey = surveyed(train_module)
    entry = survey.entry_points[0] if survey and survey.entry_points else None
    return entry.rewards[0].place if entry and entry.rewards else None
