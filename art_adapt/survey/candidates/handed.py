"""What an entry point has to be given: a task, or a conversation, a prompt, an agent's parts."""

from __future__ import annotations

import ast
import re

from art_adapt.code.command_line import argument_readers, reads_arguments
from art_adapt.code.nodes import argument_of
from art_adapt.code.project import Project
from art_adapt.code.resolution import resolve
from art_adapt.code.syntax import Syntax
from art_adapt.survey.calls.asking import Asking
from art_adapt.survey.candidates.leads import Leads
from art_adapt.survey.inputs.parameters import record_fields
from art_adapt.survey.model import EntryPoint
from art_adapt.words import OWN_PARTS, PROMPTS

# What limits or reads an answer, and is no task: n_retry: int, parser: Callable.
NO_TASK = re.compile(r"^(int|float|bool)\b|\b[Cc]allable\b")
SETTING = re.compile(r"^(True|False|\d[\d._]*)$")


def is_handed_an_agent(entry: EntryPoint) -> bool:
    """True if an entry point has to be given several things that are an agent's own."""
    required = [each.name for each in entry.parameters if each.default is None]
    return sum(OWN_PARTS.search(each) is not None for each in required) > 1


def is_handed_a_prompt(entry: EntryPoint) -> bool:
    """True if an entry point has to be given the system prompt: ``ask(system, user)``."""
    return any(p.default is None and PROMPTS.search(p.name) for p in entry.parameters)


def is_only_given(project: Project, entry: EntryPoint, asking: Asking) -> bool:
    """True if all that tells an entry point its task is a conversation: ``run(messages)``."""
    syntax = project.files[entry.place.path]
    given = asking.is_given(syntax, syntax.functions[entry.name])
    others = (
        each
        for each in entry.parameters
        if each.default is None
        and not (each.is_client or each.is_object or each.supplied)
        and each.name not in given
        and not NO_TASK.search(each.annotation or "")
    )
    return bool(given) and all(OWN_PARTS.search(each.name) for each in others)


def is_handed_arguments(leads: Leads, entry: EntryPoint) -> bool:
    """True if a function hands an entry point the command line that it parsed, whole.

    That is ``chat(parser.parse_args())``, or ``args = read_arguments()`` and ``chat(args)``.
    """
    function = leads.syntax(entry.key).functions[entry.name]
    required = [each.name for each in entry.parameters if each.default is None]
    given = (
        (place, argument_of(call, name, function.positional))
        for place, call in leads.graph.calls_of(leads.project, entry.key)
        if place.owner(call) in place.functions
        for name in required
    )
    return any(
        _parses(leads.project, place, value)
        for place, argument in given
        if argument is not None
        for value in _values(place, argument)
    )


def _values(place: Syntax, given: ast.expr) -> list[ast.expr]:
    if isinstance(given, ast.Name):
        return place.origins(place.owner(given), given.id)
    return [given]


def _parses(project: Project, place: Syntax, value: ast.expr) -> bool:
    """True if a call parses the command line, itself or in a function of the project."""
    if not isinstance(value, ast.Call):
        return False
    return reads_arguments(place, value) or any(
        name in argument_readers(project.files[path])
        for path, name in resolve(project, place, value.func)
    )


def takes_anything(entry: EntryPoint) -> bool:
    """True if an entry point takes anything that JSON could hold, beside switches and limits."""
    required = [p for p in entry.constructor if p.default is None]
    return any(
        not (each.is_client or each.is_object or SETTING.search(each.default or ""))
        for each in (*entry.parameters, *required)
    )


def is_handed_objects(project: Project, entry: EntryPoint) -> bool:
    """True if an entry point takes nothing but objects that only its callers could make.

    A record of the project, ``run(task: TaskSpec)``, tells the task; so does what a platform
    hands the handler that it decorates, of which episodes have a stand-in.
    """
    if entry.decorated:
        return False
    syntax = project.files[entry.place.path]
    required = [each for each in entry.parameters if each.default is None]
    return (
        all(each.is_object for each in required)
        and any(record_fields(project, syntax, p.annotation) is None for p in required)
        and not takes_anything(entry)
    )
