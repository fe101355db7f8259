"""Finds the files of a project that use an agent's functions, or define one.

The file that a user names often holds an LLM helper only: the function that starts the
conversation is in another one, which no import leads to.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from art_adapt.code.index import constructed
from art_adapt.code.nodes import dotted, last_name
from art_adapt.code.project import Project
from art_adapt.code.project_folder import project_root
from art_adapt.code.syntax import Syntax

MOST_FOUND = 40
MOST_DEFINING = 4  # files that are read for a function that the user names
TRAINS = re.compile(rb"^(from|import) art_adapt\b", re.MULTILINE)


def files_that_use(
    project: Project,
    functions: Iterable[tuple[Path, str]],
    constructed: Iterable[str] = (),
) -> list[Path]:
    """Find the files, not yet in the project, that mention one of ``functions``.

    A function counts where its name is called; a method where its class, or one that the
    class is derived from, is named as well. ``constructed``: classes that are made or
    derived from.
    """
    named = [m for path, name in functions for m in _mentions(project, path, name)]
    for each in constructed:
        made = rb"\b%s\(|class\s+\w+\(.*\b%s\b"
        named.append((_Said.of(made, [each.rpartition(".")[2]]),))
    wanted = list(dict.fromkeys(named))
    found: list[Path] = []
    for path, data in unread(project, project.given[0]):
        if TRAINS.search(data):
            continue  # a train module runs the agent, and is no part of it
        if any(all(each.is_in(data) for each in mention) for mention in wanted):
            found.append(path)
            if len(found) == MOST_FOUND:
                break
    return found


def files_that_define(project: Project, name: str) -> list[Path]:
    """Find the first files, not yet in the project, that define a function of this name."""
    line = rb"^[ \t]*(?:async[ \t]+)?def[ \t]+%s\b" % re.escape(
        name.rpartition(".")[2].encode()
    )
    defines = re.compile(line, re.MULTILINE)
    found = (p for p, data in unread(project, project.given[0]) if defines.search(data))
    return list(islice(found, MOST_DEFINING))


def unread(project: Project, beside: Path) -> Iterator[tuple[Path, bytes]]:
    """Read the files of the folder's project that the survey has not read."""
    session = project.session
    for path in session.below(project_root(beside)):
        if path not in project.files:
            yield path, session.text(path)


@dataclass(frozen=True)
class _Said:
    """What a file says of one of some names; most files have none of them."""

    pattern: re.Pattern[bytes]
    names: tuple[bytes, ...]

    @staticmethod
    def of(pattern: bytes, names: Iterable[str]) -> _Said:
        """Look for a pattern that has the names in each of its ``%s``."""
        encoded = tuple(dict.fromkeys(name.encode() for name in names if name))
        any_of = b"(?:%s)" % b"|".join(map(re.escape, encoded))
        return _Said(re.compile(pattern.replace(b"%s", any_of), re.MULTILINE), encoded)

    def is_in(self, data: bytes) -> bool:
        said = any(name in data for name in self.names)
        return said and self.pattern.search(data) is not None


_Mention = tuple[_Said, ...]  # all of them are in the file


def _mentions(project: Project, path: Path, qualname: str) -> Iterator[_Mention]:
    """Yield how a file mentions a function; a method also by a function that makes its object.

    A method whose name is of several words needs no class: ``service.extract_fields(text)``.
    """
    owner, _, name = qualname.rpartition(".")
    if not owner:
        yield _function(path, name)
        return
    syntax = project.files[path]
    definition = syntax.classes.get(owner)
    bases = definition.bases if definition is not None else []
    names = [owner, *map(last_name, bases)]
    named = _Said.of(rb"\b%s\b", names)
    called = _Said.of(rb"\.%s\(", [name, *_stored_as(syntax, f"self.{name}")])
    if "_" in name.strip("_"):
        yield (called,)
    yield (named,) if name == "__call__" else (called, named)
    declares = _Said.of(rb"^\w+[ \t]*:[^\n=]*\b%s\b", names)
    yield (declares,)  # MODEL: Model, which others use as common.MODEL
    if name != "__call__":  # of an object that this file gives, or one that declares it
        places = (p for p, f in project.files.items() if declares.is_in(f.source.data))
        homes = [home for place in (path, *places) for home in homes_of(place)]
        line = rb"^[ \t]*(?:from|import)[ \t][^\n]*\b%s\b"
        yield called, _Said.of(line, homes)
    made = rb"\b%s\(|[\"']\s*:\s*%s\b|\]\s*=\s*%s\b"  # also in a table of classes
    yield (_Said.of(made, [owner]),)
    for place, maker in _makers(project, syntax, owner):
        yield _function(place.source.path, maker)


def _makers(
    project: Project, syntax: Syntax, owner: str
) -> Iterator[tuple[Syntax, str]]:
    """Yield the functions that make an object of a class, and what calls them in their file."""
    found = {
        (place, place.owner(call)): None
        for place, call in constructed(project, syntax, owner)
    }
    left = list(found)
    while left:
        place, maker = left.pop()
        if maker not in place.functions or "." in maker:
            continue
        yield place, maker
        around = (
            (place, place.owner(node))
            for node in place.nodes
            if isinstance(node, ast.Call) and dotted(node.func) == maker
        )
        new = [each for each in around if each not in found]
        found |= dict.fromkeys(new)
        left += new


def _function(path: Path, name: str) -> _Mention:
    """Return how a file names a function: with its module, or the package that may hand it on."""
    return _Said.of(rb"\b%s\b", [name]), _Said.of(rb"\b%s\b", homes_of(path))


def homes_of(path: Path) -> list[str]:
    """Return the names of the module and of the package that a file is in, if it is in one."""
    package = path.parent
    if path.stem == "__init__":
        return [package.name]
    is_package = (package / "__init__.py").is_file()
    return [path.stem, *([package.name] if is_package else [])]


def _stored_as(syntax: Syntax, method: str) -> Iterator[str]:
    """Yield the names under which an object hands out a method of its own."""
    for node in syntax.nodes:
        if dotted(node) != method:
            continue
        holder = syntax.parents[node]
        if isinstance(holder, ast.keyword) and holder.arg:
            yield holder.arg
        elif isinstance(holder, ast.Assign):
            yield from map(last_name, holder.targets)
