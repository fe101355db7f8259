"""Takes the function that the user names for a candidate, found or not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from art_adapt.code.callers import files_that_define
from art_adapt.code.classes import method_of
from art_adapt.survey.candidates.entry_points import (
    describe_entry,
    is_named,
    names_function,
)
from art_adapt.survey.candidates.found import Found
from art_adapt.survey.inputs.instances import as_method_of
from art_adapt.survey.model import EntryPoint


def with_entry(found: Found, wanted: str) -> Found:
    """Take the function that the user names for a candidate, found or not.

    Where no completion call can be reached from it, as far as can be seen, the user knows
    better: a registry or a framework may lead there.
    """
    module, _, name = wanted.rpartition(":")
    if any(is_named(each, module, name) for each in found.entry_points):
        return found
    project = found.project
    if module and (wider := found.wider(project.modules_named(module))):
        return with_entry(wider, wanted)
    named = [
        describe_entry(project, syntax, function, found.asking)
        for path, syntax in project.files.items()
        for function in syntax.functions.values()
        if names_function(path, function.qualname, module, name) and not function.nested
    ] or list(_inherited(found, module, name))
    unknown = not named and not module
    if unknown and (wider := found.wider(files_that_define(project, name))):
        return with_entry(wider, wanted)
    # Of several files that define the name, the user has to say which.
    return replace(found, entry_points=(*found.entry_points, *named))


def _inherited(found: Found, module: str, name: str) -> Iterator[EntryPoint]:
    """Yield the method that a class inherits, which the user names as its own."""
    _, _, method = name.rpartition(".")
    project = found.project
    for path, syntax in project.files.items():
        for owner in syntax.classes:
            if names_function(path, f"{owner}.{method}", module, name):
                for at, key in method_of(project, syntax, owner, method):
                    place = project.files[at]
                    entry = describe_entry(
                        project, place, place.functions[key], found.asking
                    )
                    yield as_method_of(project, entry, syntax, owner)
