"""Finds the files of a project that have been adapted, and what their code reaches."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from art_adapt import hooks_file
from art_adapt.code.hooks import HooksPlace, present_hooks_place
from art_adapt.code.project import Project
from art_adapt.code.project_folder import project_root, python_files
from art_adapt.code.syntax import Syntax
from art_adapt.errors import Refusal
from art_adapt.source import Source, read_source
from art_adapt.train_file import has_seal, standing_module


@dataclass(frozen=True)
class AdaptedFile:
    """A file that imports hooks, or has a train module, as a framework's agent does."""

    source: Source
    place: HooksPlace | None  # where it imports its hooks from
    is_trained: bool  # a train module stands beside it

    @property
    def path(self) -> Path:
        return self.source.path

    @cached_property
    def reached(self) -> frozenset[Path]:
        """The files of the project that its imports lead to, itself included."""
        return frozenset(Project.of([self.source], {}).files)


def adapted_files(sources: Sequence[Source]) -> dict[Path, AdaptedFile]:
    """Return the adapted files of the projects of ``sources``, which stand for their files.

    Raises:
        Refusal: one of ``sources`` imports hooks and is not readable as Python.
    """
    given = {source.path: source for source in sources}
    roots = dict.fromkeys(project_root(path) for path in given)
    paths = dict.fromkeys((*given, *(p for root in roots for p in python_files(root))))
    found: dict[Path, AdaptedFile] = {}
    for path in paths:
        try:
            file = _adapted(given.get(path) or read_source(path))
        except Refusal:
            if path in given:
                raise
            continue  # nothing of ours is in a file that cannot be read
        if file is not None:
            found[path] = file
    return found


def _adapted(source: Source) -> AdaptedFile | None:
    """Describe a file if it is adapted: most are told by a search through their bytes."""
    if source.path.name in hooks_file.NAMES or has_seal(source.data):
        return None
    is_trained = False
    with suppress(OSError):
        is_trained = standing_module(source.path) is not None
    place = None
    if hooks_file.MODULE.encode() in source.data:
        place = present_hooks_place(Syntax.of(source))
    is_adapted = is_trained or place is not None
    return AdaptedFile(source, place, is_trained) if is_adapted else None
