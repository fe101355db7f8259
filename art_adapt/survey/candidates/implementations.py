"""Reads the files that implement what an agent only knows as an interface."""

from __future__ import annotations

from art_adapt.code.callers import files_that_use
from art_adapt.survey.candidates.found import Found
from art_adapt.survey.inputs.instances import may_be_abstract


def with_implementations(found: Found) -> Found:
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
        users = files_that_use(found.project, used, made) if used or made else []
        wider = found.wider(users)
        if wider is not None and any(wider.calls.values()):
            return wider
    return found


def with_derived(found: Found) -> Found:
    """Add the files that implement the class of the likeliest entry point, if abstract."""
    first = found.entry_points[0] if found.entry_points else None
    if first is None or first.class_name is None:
        return found
    syntax = found.project.files[first.home]
    if not may_be_abstract(found.project, syntax, first.class_name):
        return found
    derived = files_that_use(found.project, [], [first.class_name])
    return found.wider(derived) or found
