"""Collects the files of an agent: those that the user named, and their imports."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from art_adapt.code.hooks import RECORDING_MODULE
from art_adapt.code.packages import module_file, module_roots, package_of
from art_adapt.code.questions import Search
from art_adapt.code.session import Facts, Look, Session
from art_adapt.code.syntax import Import, Syntax
from art_adapt.errors import Refusal
from art_adapt.source import Source, read_source

K = TypeVar("K", bound=Hashable)
V = TypeVar("V", bound=Hashable)
T = TypeVar("T")

MOST_FILES = 80  # beyond these, the imports are a library and not the agent
DEPTH = 3  # imports of imports of imports


@dataclass
class Project:
    """The syntax of every file, in the order found.

    ``given`` are the files that the user named; ``instead`` are sources to read in place of
    files on disk. With ``on_demand``, files are read when an import of one is asked about.
    """

    given: tuple[Path, ...]
    instead: Mapping[Path, Source]  # read in place of what is on disk
    files: dict[Path, Syntax] = field(default_factory=dict)
    _located: dict[tuple[Path, str, str | None, int], tuple[Path, bool] | None] = field(
        default_factory=dict
    )
    _modules: dict[Path, Path | None] = field(default_factory=dict)
    _roots: dict[Path, tuple[Path, ...]] = field(default_factory=dict)
    _packages: dict[Path, str] = field(default_factory=dict)
    session: Session = field(default_factory=Session)
    on_demand: bool = False
    search: Search = field(default_factory=Search, init=False)
    # What was found out about this project, and the facts that hold in it, or do not.
    _known: dict[tuple[Look, Any], tuple[Any, Facts]] = field(
        default_factory=dict, init=False
    )
    _tables: dict[Callable[[Project], Any], Any] = field(
        default_factory=dict, init=False
    )
    _unreadable: set[Path] = field(default_factory=set, init=False)
    _true: Facts = field(default=0, init=False)
    _false: Facts = field(default=0, init=False)
    # The imports of a file that lead to others which cannot be read.
    unread: dict[Path, dict[ast.stmt, Refusal]] = field(default_factory=dict)
    # The classes whose fields are being read.
    expanding: list[tuple[Syntax, str]] = field(default_factory=list, init=False)

    @staticmethod
    def of(
        sources: Sequence[Source],
        instead: Mapping[Path, Source],
        session: Session | None = None,
    ) -> Project:
        """Read the files that the user named, and what they import."""
        given = tuple(source.path for source in sources)
        project = Project(given, instead, session=session or Session())
        for source in sources:
            project.files[source.path] = project.session.syntax(source)
        project._follow_imports(list(project.files.values()))
        return project

    def with_files(self, paths: Sequence[Path]) -> Project | None:
        """Return a project with more files, and what they import; None if none can be read."""
        wider = self._copy()
        return wider if wider._add(paths) else None

    def deeper(self) -> Project | None:
        """Return a project with what its files import further in; None if that is nothing."""
        further = self._copy()
        further._follow_imports(list(self.files.values()))
        return further if len(further.files) > len(self.files) else None

    @property
    def broken(self) -> tuple[Refusal, ...]:
        """Return why files that others import cannot be read."""
        return tuple(r for refusals in self.unread.values() for r in refusals.values())

    def _copy(self) -> Project:
        unread = {path: dict(found) for path, found in self.unread.items()}
        return replace(self, files=dict(self.files), unread=unread)

    def _add(self, paths: Sequence[Path]) -> bool:
        added = []
        for path in paths:
            if path in self.files:
                continue
            try:
                found = self._read(path)
            except Refusal as refusal:  # written for a newer Python, or not readable
                self.session.unread[path] = refusal
                continue
            self.files[path] = found
            added.append(found)
        self._follow_imports(added)
        return bool(added)

    def _read(self, path: Path) -> Syntax:
        source = self.instead.get(path) or replace(read_source(path), path=path)
        return self.session.syntax(source)

    def _read_on_demand(self, path: Path) -> Syntax | None:
        """Read one more file; what was found without it is looked up anew."""
        if not self.on_demand or path in self._unreadable:
            return None
        try:
            found = self._read(path)
        except (Refusal, RecursionError):
            self._unreadable.add(path)
            return None
        self.files = {**self.files, path: found}  # what goes through them goes on
        self._known.clear()
        self._tables.clear()
        self._true = self._false = 0
        return found

    def know(self, look: Callable[[Project, K], V], about: K) -> V:
        """Return what ``look`` finds in this project about something, looked up once.

        It is a fact on which the answer rests that is being looked for.
        """
        value, facts = self._looked_up(look, about)
        self.search.facts |= facts
        return value

    def _looked_up(self, look: Callable[[Project, K], V], about: K) -> tuple[V, Facts]:
        known = self._known.get((look, about))
        if known is None:
            around, self.search = self.search, Search()
            try:
                value = look(self, about)
            finally:
                self.search = around
            known = value, self.session.fact(look, about, value)
            self._known[look, about] = known
            self._true |= known[1]
        return known

    def table(self, make: Callable[[Project], T]) -> T:
        """Return what ``make`` puts together from all files, made once; it is no fact."""
        if make not in self._tables:
            self._tables[make] = self.settled(lambda: make(self))
        found: T = self._tables[make]
        return found

    def settled(self, look: Callable[[], T]) -> T:
        """Return what ``look`` finds in all files, with those that it has read on demand."""
        while True:
            files = self.files
            found = look()
            if self.files is files:
                return found

    def holds(self, facts: Facts) -> bool:
        """True if each of some facts is true of this project."""
        while unsure := facts & ~self._true:
            if unsure & self._false:
                return False
            look, about, value = self.session.first_of(unsure)
            if self._looked_up(look, about)[0] != value:
                self._false |= unsure & -unsure
        return True

    def file(self, path: Path) -> Syntax | None:
        """Return a file of the project."""
        return self.know(_file_at, path)

    def home(self, path: Path) -> Syntax:
        """Return a file that the project is known to have."""
        syntax = self.file(path)
        assert syntax is not None
        return syntax

    def _follow_imports(self, level: list[Syntax]) -> None:
        for _ in range(DEPTH):
            level = list(self._imported_by(level))
        for _ in range(DEPTH):  # what one imports by a star may come by a star itself
            for syntax in self.files.values():
                self._name_stars(syntax)

    def _name_stars(self, syntax: Syntax) -> None:
        """Import by name what ``from module import *`` brings from a file of the project."""
        stars = [i for i in syntax.imports.values() if i.attribute == "*"]
        own = syntax.defined if stars else set()
        for imported in stars:
            located = self._locate(syntax.source.path, imported)
            target = self.files.get(located[0]) if located is not None else None
            for name in target.defined if target is not None else ():
                if name not in own:
                    found = replace(imported, attribute=name)
                    syntax.imports.setdefault(name, found)

    def _imported_by(self, level: Sequence[Syntax]) -> Iterator[Syntax]:
        for syntax in level:
            for imported in syntax.imports.values():
                if RECORDING_MODULE in (
                    imported.module.split(".")[-1],
                    imported.attribute,
                ):
                    continue  # written by art-adapt; it must not count towards MOST_FILES
                located = self._locate(syntax.source.path, imported)
                if (
                    located is None
                    or located[0] in self.files
                    or len(self.files) >= MOST_FILES
                ):
                    continue
                try:
                    self.files[located[0]] = found = self._read(located[0])
                except Refusal as refusal:  # nobody has named it: the others are read
                    refusal = replace(refusal, path=located[0])
                    unread = self.unread.setdefault(syntax.source.path, {})
                    unread[imported.node] = refusal
                    continue
                yield found

    def imported(self, syntax: Syntax, name: str) -> Syntax | tuple[Syntax, str] | None:
        """Resolve an imported name to a module of the project, or a function or class in one.

        Re-exports are followed; None for anything else.
        """
        found = self._imported(syntax, name)
        if isinstance(found, tuple):
            place, attribute = found
            if attribute not in place.functions and attribute not in place.classes:
                return None
        return found

    def variable(self, syntax: Syntax, name: str) -> tuple[Syntax, list[ast.expr]]:
        """Return what a file of the project assigns to a module-level name that is imported."""
        found = self._imported(syntax, name)
        if not isinstance(found, tuple):
            return syntax, []
        place, attribute = found
        return place, place.values_at_top(attribute)

    def variable_named(self, syntax: Syntax, name: str) -> tuple[Syntax, str] | None:
        """Return the file that an imported name is defined in, and its name there."""
        found = self._imported(syntax, name)
        return found if isinstance(found, tuple) else None

    def variable_at(self, syntax: Syntax, value: ast.expr) -> tuple[Syntax, str] | None:
        """Return the other file whose name an expression is, and the name: ``tools.TOOLS``."""
        if isinstance(value, ast.Name):
            return self.variable_named(syntax, value.id)
        if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
            module = self.imported(syntax, value.value.id)
            return (module, value.attr) if isinstance(module, Syntax) else None
        return None

    def _imported(
        self, syntax: Syntax, name: str
    ) -> Syntax | tuple[Syntax, str] | None:
        """Return the module that an imported name is, or the one that defines it, with the name."""
        seen: set[tuple[Path, str]] = set()
        while self._imports(syntax, name) and (syntax.source.path, name) not in seen:
            seen.add((syntax.source.path, name))
            imported = syntax.imports[name]
            located = self._locate(syntax.source.path, imported)
            target = self.file(located[0]) if located is not None else None
            if located is None or target is None:
                return None
            if not located[1] or imported.attribute is None:
                return target
            syntax, name = target, imported.attribute
            if name in syntax.functions or name in syntax.classes:
                break
        return (syntax, name) if seen else None

    def _imports(self, syntax: Syntax, name: str) -> bool:
        """True if a file imports a name: others say what an ``import *`` brings."""
        if syntax.imports_all:
            self.know(_names_imported, syntax)
        return name in syntax.imports

    def imported_by(self, paths: Iterable[Path]) -> set[Path]:
        """Return the files that importing some imports, these included."""
        found: set[Path] = set()
        left = list(paths)
        while left:
            path = left.pop()
            if path not in found and path in self.files:
                found.add(path)
                syntax = self.files[path]
                located = (self.located(syntax, name) for name in syntax.imports)
                left += [each for each in located if each is not None]
        return found

    def located(self, syntax: Syntax, name: str) -> Path | None:
        """Return the file that an imported name comes from or is; None for a library's."""
        found = self._locate(syntax.source.path, syntax.imports[name])
        return None if found is None else found[0]

    def modules_named(self, module: str) -> list[Path]:
        """Find the file of a dotted module name or path, as the given files import it."""
        parts = module.removesuffix(".py").replace("/", ".").strip(".").split(".")
        roots = [root for path in self.given for root in module_roots(path)]
        files = (module_file(root.joinpath(*parts)) for root in roots)
        return [path for path in dict.fromkeys(files) if path is not None][:1]

    def class_named(self, syntax: Syntax, name: str) -> tuple[Syntax, str] | None:
        """Find the class ``name`` in a file, among its imports, or in an imported module."""
        if name in syntax.classes:
            return syntax, name
        head, _, rest = name.partition(".")
        target = self.imported(syntax, head) if head in syntax.imports else None
        if isinstance(target, Syntax):  # which may have it from another one
            return self.class_named(target, rest) if target is not syntax else None
        if target is None or rest:
            return None
        return target if target[1] in target[0].classes else None

    def package(self, syntax: Syntax) -> str:
        """Return the result of ``package_of``, which reads the neighbours, kept for each file."""
        path = syntax.source.path
        if path not in self._packages:
            self._packages[path] = package_of(syntax)
        return self._packages[path]

    def _locate(self, importer: Path, imported: Import) -> tuple[Path, bool] | None:
        """Find the file of an import, and whether the name is an attribute in it."""
        key = (importer.parent, imported.module, imported.attribute, imported.level)
        if key not in self._located:
            self._located[key] = self._search(importer, imported)
        return self._located[key]

    def _search(self, importer: Path, imported: Import) -> tuple[Path, bool] | None:
        parts = imported.module.split(".") if imported.module else []
        for base in self._bases(importer, imported.level):
            module = base.joinpath(*parts)
            package = self._module_file(module)
            if (
                imported.attribute is not None
                and (path := self._module_file(module / imported.attribute)) is not None
                and not (package and self._binds(package, imported.attribute))
            ):
                return path, False
            if package is not None:
                return package, imported.attribute is not None
        return None

    def _binds(self, package: Path, name: str) -> bool:
        """True if a package has a name of its own, which goes before a module's.

        ``from .search import search`` in its ``__init__.py`` makes it a function;
        ``from . import search`` leaves it the module.
        """
        try:
            syntax = self._read(package)
        except Refusal:
            return False
        imported = syntax.imports.get(name)
        own = ("", package.parent.name)  # from . import search, from pkg import search
        if imported is not None and imported.attribute == name:
            return imported.module.rpartition(".")[2] not in own
        return name in syntax.defined

    def _bases(self, importer: Path, level: int) -> tuple[Path, ...]:
        if level:
            return tuple(importer.parents[level - 1 : level])
        folder = importer.parent
        if folder not in self._roots:
            self._roots[folder] = module_roots(importer)
        return self._roots[folder]

    def _module_file(self, module: Path) -> Path | None:
        if module not in self._modules:
            self._modules[module] = module_file(module)
        return self._modules[module]


def _file_at(project: Project, path: Path) -> Syntax | None:
    return project.files.get(path) or project._read_on_demand(path)


def _names_imported(_: Project, syntax: Syntax) -> frozenset[str]:
    return frozenset(syntax.imports)
