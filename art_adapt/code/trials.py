"""Tells which files of a project only try or show it: its tests and demos."""

from __future__ import annotations

from pathlib import Path

from art_adapt.code.project_folder import project_root
from art_adapt.words import COLLECTED, DEMOS, TESTS


def is_test(path: Path) -> bool:
    """True if a file belongs to tests; ``path`` is as it is named in its project."""
    return any(map(TESTS.fullmatch, (*path.parts[:-1], path.stem)))


def is_collected(path: Path) -> bool:
    """True if pytest looks for tests in a file, or for what its tests share."""
    return COLLECTED.fullmatch(path.stem) is not None


def is_demo(path: Path) -> bool:
    """True if a file shows how something is used; ``path`` is as it is named in its project."""
    return any(map(DEMOS.search, (*path.parts[:-1], path.stem)))


def is_trial(path: Path, agent: Path) -> bool:
    """True if a file is a test or a demo, as it is named in the project of an agent."""
    named = within_project(path, agent)
    return is_test(named) or is_demo(named)


def within_project(path: Path, agent: Path) -> Path:
    """Name a file as in the project of an agent; alone, where it belongs to no such project."""
    root = project_root(agent)
    return path.relative_to(root) if path.is_relative_to(root) else Path(path.name)
