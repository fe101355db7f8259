"""Tells the agents of a folder apart that have nothing to do with each other."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path

from art_adapt.code.callers import unread
from art_adapt.code.project import Project
from art_adapt.survey.calls.roles import side_job_of
from art_adapt.survey.candidates.found import Found
from art_adapt.survey.candidates.llm_helpers import is_helper
from art_adapt.survey.candidates.ranking import with_rivals
from art_adapt.survey.candidates.weights import NEAR
from art_adapt.survey.model import EntryPoint

IMPORTS = re.compile(rb"^[ \t]*(?:from|import)[ \t].*", re.MULTILINE)
WORD = re.compile(rb"\w+")
LEAST = 5  # the score of a function that may well be an agent


def apart_from(project: Project, home: Path) -> Callable[[Path], bool]:
    """Return whether a file that the user gave is of another agent than ``home`` is.

    Neither imports the other, and no file of the project imports both. What both import,
    as ``utils.py``, says nothing.
    """
    given = project.given
    imported = [project.imported_by([path]) for path in project.files]

    @functools.cache
    def imports() -> list[set[str]]:
        """Return the words in the import lines of files that the survey has not read."""
        return [
            {
                word.decode()
                for line in IMPORTS.findall(data)
                for word in WORD.findall(line)
            }
            for _, data in unread(project, home)
        ]

    def is_apart(path: Path) -> bool:
        if home not in given or path not in given:
            return False
        if any({home, path} <= each for each in imported):
            return False
        return not any({home.stem, path.stem} <= each for each in imports())

    return is_apart


def told_apart(found: Found) -> Found:
    """Give the best candidates of several agents in a folder the same score.

    Which of them is meant, the user has to say.
    """
    if len(found.project.given) < 2 or not found.entry_points:
        return found
    first, *others = found.entry_points
    is_apart = apart_from(found.project, first.home)
    least = LEAST if first.score >= LEAST else first.score - NEAR
    rivals: dict[Path, EntryPoint] = {}
    for each in others:
        if (
            each.score >= least
            and is_apart(each.home)
            and not side_job_of(each.home, each.called)
            and not is_helper(found, each)
        ):
            rivals.setdefault(each.home, each)
    return with_rivals(found, list(rivals.values()))
