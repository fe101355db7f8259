"""Keeps what has been read, and what was found out, for every project that is made of it.

An answer rests on facts of its project: what a file is, which calls make a class, which
functions have a name. It holds in each project in which these facts hold. So a project
with more files, or with edited ones, only looks again for what these change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from art_adapt.code.project_folder import python_files
from art_adapt.source import Source

MOST_BESIDE = 200  # files of one folder that are looked through
IMPORTS = re.compile(rb"^[ \t]*(?:from|import)[ \t][^#\n]*", re.MULTILINE)
WORDS = re.compile(rb"[^\s.,()]+")

if TYPE_CHECKING:
    from art_adapt.code.syntax import Syntax
    from art_adapt.errors import Refusal

VERSIONS = 4  # of one answer: for the projects that are looked at by turns

Look = Callable[[Any, Any], Hashable]  # at a project, for a fact about something
Facts = int  # a set: one bit for each fact


@dataclass(frozen=True)
class Answer:
    """What was found, and the facts that it rests on."""

    found: list[Any]
    facts: Facts


def _say_nothing(files: int | None) -> None:
    pass


@dataclass(frozen=True)
class Shown:
    """What a run of the project has shown of how its agent is made, as files and functions.

    ``makers`` are the functions that made it and its parts, or called it; ``parts`` the names
    by which each made them: a class's, or a factory's. ``factories`` are the functions that
    returned it, the outermost first. ``openers`` returned what the episode's function is
    given by a parameter and what no request holds: the key of a conversation. ``model`` is the
    one name that its requests asked, or "". ``classes`` are those of what each function was given
    by a parameter: of the project, as file and name, or standard ones, as module and name.
    ``calls`` led to the model: each is a caller, the called function, and the line; 0 where a
    library stood between them. ``objects`` are the parameters, by file, function and name, that
    functions were given live objects by, such as an open index.
    """

    makers: frozenset[tuple[str, str]] = frozenset()
    factories: tuple[tuple[str, str], ...] = ()
    openers: tuple[tuple[str, tuple[str, str]], ...] = ()
    model: str = ""
    parts: frozenset[tuple[str, str, str]] = frozenset()
    classes: Mapping[tuple[str, str, str], tuple[str, str]] = field(
        default_factory=dict
    )
    calls: frozenset[tuple[tuple[Path, str], tuple[Path, str], int]] = frozenset()
    objects: frozenset[tuple[str, str, str]] = frozenset()

    def class_given(
        self, path: Path, function: str, parameter: str
    ) -> tuple[str, str] | None:
        """Return the class that a function was given by a parameter, as its file and name."""
        return self.classes.get((str(path), function, parameter))


@dataclass(eq=False)
class Session:
    """The files that were read, each once, and the answers about them.

    ``notice`` is told how many files were read, as it goes, and None when that has ended.
    ``shown`` is what somebody let it watch. ``unread`` are the files that could not be read
    and may say how the agent is used, with why.
    """

    notice: Callable[[int | None], None] = _say_nothing
    shown: Shown = Shown()
    unread: dict[Path, Refusal] = field(default_factory=dict)

    _syntaxes: dict[tuple[Path, bytes], Syntax] = field(default_factory=dict)
    _below: dict[Path, list[Path]] = field(default_factory=dict)
    _texts: dict[Path, bytes] = field(default_factory=dict)
    _beside: dict[Path, tuple[tuple[Path, bytes, frozenset[bytes]], ...]] = field(
        default_factory=dict
    )
    _facts: list[tuple[Look, Any, Hashable]] = field(default_factory=list)
    _bits: dict[tuple[Look, Any, Hashable], Facts] = field(default_factory=dict)
    _sets: dict[Facts, Facts] = field(default_factory=dict)  # equal ones are the same
    _answers: dict[Hashable, tuple[Answer, ...]] = field(default_factory=dict)

    @property
    def files(self) -> int:
        """Return how many files it has read, edited ones apart from what they were."""
        return len(self._syntaxes)

    def syntax(self, source: Source) -> Syntax:
        """Return the index of a file.

        Raises:
            Refusal: it cannot be read as Python.
        """
        from art_adapt.code.syntax import Syntax  # check reads few of its files

        key = (source.path, source.data)
        if key not in self._syntaxes:
            self._syntaxes[key] = Syntax.of(source)
            self.notice(self.files)
        return self._syntaxes[key]

    def below(self, root: Path) -> list[Path]:
        """Return every Python file below a folder, which is listed once."""
        if root not in self._below:
            self._below[root] = list(python_files(root))
        return self._below[root]

    def text(self, path: Path) -> bytes:
        """Return what is in a file that is only searched, which is read once."""
        if path not in self._texts:
            self._texts[path] = path.read_bytes()
        return self._texts[path]

    def beside(self, folder: Path) -> tuple[tuple[Path, bytes, frozenset[bytes]], ...]:
        """Return the Python files of a folder, each with its text and the words that it imports."""
        if folder not in self._beside:
            found = []
            for path in sorted(folder.glob("*.py"))[:MOST_BESIDE]:
                with suppress(OSError):  # a folder, or a link to nothing
                    text = self.text(path)
                    lines = IMPORTS.findall(text)
                    words = frozenset(w for line in lines for w in WORDS.findall(line))
                    found.append((path, text, words))
            self._beside[folder] = tuple(found)
        return self._beside[folder]

    def fact(self, look: Look, about: Hashable, value: Hashable) -> Facts:
        """Return the set that holds one fact: what ``look`` finds about something."""
        key = (look, about, value)
        if key not in self._bits:
            self._bits[key] = 1 << len(self._facts)
            self._facts.append(key)
        return self._bits[key]

    def first_of(self, facts: Facts) -> tuple[Look, Any, Hashable]:
        """Return one fact of a set that is not empty."""
        return self._facts[(facts & -facts).bit_length() - 1]

    def answers(self, question: Hashable) -> tuple[Answer, ...]:
        """Return what was found, in this project or in others, the latest first."""
        return self._answers.get(question, ())

    def keep(self, question: Hashable, found: list[Any], facts: Facts) -> None:
        """Keep an answer for the projects in which its facts hold."""
        answer = Answer(found, self._sets.setdefault(facts, facts))
        earlier = self._answers.get(question, ())[: VERSIONS - 1]
        self._answers[question] = (answer, *earlier)
