"""Collects the files of an agent: those that the user named, and their imports."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from art_adapt.code.hooks import RECORDING_MODULE
from art_adapt.code.nodes import decorator_names, dotted
from art_adapt.code.packages import import_roots, module_file, package_of
from art_adapt.code.protocols import fits, is_protocol
from art_adapt.code.syntax import Import, Syntax
from art_adapt.errors import Refusal
from art_adapt.source import Source, read_source

MOST_FILES = 80  # beyond these, the imports are a library and not the agent
DEPTH = 3  # imports of imports of imports


@dataclass
class Project:
    """The syntax of every file, in the order found.

    ``given`` are the files that the user named; ``instead`` are sources to read in place of
    files on disk.
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
    _derived: dict[tuple[Path, str], list[tuple[Syntax, str]]] | None = field(
        default=None, init=False
    )
    _protocols_here: list[tuple[Syntax, str, ast.ClassDef]] | None = field(
        default=None, init=False
    )
    _made: dict[tuple[Path, str], list[tuple[Syntax, ast.Call]]] | None = field(
        default=None, init=False
    )
    _calls: dict[str, list[tuple[Syntax, ast.Call]]] | None = field(
        default=None, init=False
    )
    _decorated: dict[str, list[tuple[Path, str]]] | None = field(
        default=None, init=False
    )
    # What was found by lookups.once; an empty list while it is looked for: the functions
    # that attributes hold, and that a value is another name for; what containers hold, and
    # the containers that a value is taken from, with the files that it stands in.
    stored: dict[ast.expr, list[tuple[Path, str]]] = field(
        default_factory=dict, init=False
    )
    meant: dict[ast.expr, list[tuple[Path, str]]] = field(
        default_factory=dict, init=False
    )
    elements: dict[ast.expr, list[tuple[Syntax, ast.expr]]] = field(
        default_factory=dict, init=False
    )
    taken_from: dict[ast.expr, list[tuple[Syntax, ast.expr]]] = field(
        default_factory=dict, init=False
    )
    looking: int = field(default=0, init=False)  # how deep classes_of() is
    # The imports of a file that lead to others which cannot be read.
    unread: dict[Path, dict[ast.stmt, Path]] = field(default_factory=dict, init=False)
    # The classes whose fields are being read.
    expanding: list[tuple[Syntax, str]] = field(default_factory=list, init=False)
    # What classes_of() has found; an empty list while it still looks.
    instances: dict[ast.expr, list[tuple[Syntax, str]]] = field(
        default_factory=dict, init=False
    )

    @staticmethod
    def of(sources: Sequence[Source], instead: Mapping[Path, Source]) -> Project:
        project = Project(tuple(source.path for source in sources), instead)
        for source in sources:
            project.files[source.path] = Syntax.of(source)
        project._follow_imports(list(project.files.values()))
        return project

    def add(self, paths: Sequence[Path]) -> bool:
        """Add files and what they import; tell whether any of them could be read."""
        added = []
        for path in paths:
            if path in self.files:
                continue
            try:
                found = Syntax.of(self.instead.get(path) or read_source(path))
            except Refusal:
                continue  # written for a newer Python, or not readable
            self.put(found)
            added.append(found)
        self._follow_imports(added)
        return bool(added)

    def put(self, syntax: Syntax) -> None:
        """Add a file that has been read; what was found without it is found anew."""
        self.files[syntax.source.path] = syntax
        self._made = self._derived = self._calls = self._decorated = None
        self._protocols_here = None
        for known in (self.stored, self.meant, self.elements, self.taken_from):
            known.clear()
        self.instances.clear()

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
                    self.files[located[0]] = found = Syntax.of(
                        self.instead.get(located[0]) or read_source(located[0])
                    )
                except Refusal:  # named by nobody, as by this Python it cannot be read
                    self.unread.setdefault(syntax.source.path, {})[imported.node] = (
                        located[0]
                    )
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
        """What a file of the project assigns to a module-level name that is imported."""
        found = self._imported(syntax, name)
        if not isinstance(found, tuple):
            return syntax, []
        place, attribute = found
        return place, place.values_at_top(attribute)

    def variable_named(self, syntax: Syntax, name: str) -> tuple[Syntax, str] | None:
        """The file that an imported name is defined in, and its name there."""
        found = self._imported(syntax, name)
        return found if isinstance(found, tuple) else None

    def _imported(
        self, syntax: Syntax, name: str
    ) -> Syntax | tuple[Syntax, str] | None:
        """The module that an imported name is, or the one that defines it, with the name."""
        seen: set[tuple[Path, str]] = set()
        while name in syntax.imports and (syntax.source.path, name) not in seen:
            seen.add((syntax.source.path, name))
            imported = syntax.imports[name]
            located = self._locate(syntax.source.path, imported)
            target = self.files.get(located[0]) if located is not None else None
            if located is None or target is None:
                return None
            if not located[1] or imported.attribute is None:
                return target
            syntax, name = target, imported.attribute
            if name in syntax.functions or name in syntax.classes:
                break
        return (syntax, name) if seen else None

    def imported_by(self, paths: Iterable[Path]) -> set[Path]:
        """The files that importing some imports, these included."""
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
        """The file that an imported name comes from or is; None for a library's."""
        found = self._locate(syntax.source.path, syntax.imports[name])
        return None if found is None else found[0]

    def modules_named(self, module: str) -> list[Path]:
        """Find the file of a dotted module name or path, as the given files import it."""
        parts = module.removesuffix(".py").replace("/", ".").strip(".").split(".")
        roots = [root for path in self.given for root in import_roots(path)]
        files = (module_file(root.joinpath(*parts)) for root in roots)
        return [path for path in dict.fromkeys(files) if path is not None][:1]

    def class_named(self, syntax: Syntax, name: str) -> tuple[Syntax, str] | None:
        """Find the class ``name`` in a file, among its imports, or in an imported module."""
        if name in syntax.classes:
            return syntax, name
        head, _, rest = name.partition(".")
        target = self.imported(syntax, head) if head in syntax.imports else None
        if isinstance(target, Syntax):
            return (target, rest) if rest in target.classes else None
        if target is None or rest:
            return None
        return target if target[1] in target[0].classes else None

    def constructed(
        self, syntax: Syntax, class_name: str | None
    ) -> Sequence[tuple[Syntax, ast.Call]]:
        """The calls that make an instance of a class, with the files that they stand in."""
        return self._constructions().get((syntax.source.path, class_name or ""), ())

    def _constructions(self) -> dict[tuple[Path, str], list[tuple[Syntax, ast.Call]]]:
        if self._made is None:
            self._made = {}
            for place in self.files.values():
                for node in place.nodes:
                    if not isinstance(node, ast.Call):
                        continue
                    found = self.class_named(place, dotted(node.func) or "")
                    if found is not None:
                        key = (found[0].source.path, found[1])
                        self._made.setdefault(key, []).append((place, node))
        return self._made

    def calls_of_only(self, name: str) -> Sequence[tuple[Syntax, ast.Call]]:
        """The calls by a name that one function of the project has; else none."""
        if self._calls is None:
            self._calls = {name: [] for name in self._only_names()}
            for place in self.files.values():
                for node in place.nodes:
                    if isinstance(node, ast.Call):
                        called = node.func
                        attribute = isinstance(called, ast.Attribute) and called.attr
                        calls = self._calls.get(attribute or dotted(called) or "")
                        if calls is not None:
                            calls.append((place, node))
        return self._calls.get(name, ())

    def decorated_with_only(self, name: str) -> Sequence[tuple[Path, str]]:
        """The functions below a decorator that one function of the project has the name of."""
        if self._decorated is None:
            self._decorated = {name: [] for name in self._only_names()}
            for place in self.files.values():
                for function in place.functions.values():
                    for decorator in decorator_names(function.node):
                        if decorator in self._decorated:
                            key = (place.source.path, function.qualname)
                            self._decorated[decorator].append(key)
        return self._decorated.get(name, ())

    def classes_below(self, decorator: str) -> Iterator[tuple[Syntax, str]]:
        """The classes below a decorator with this name."""
        for place in self.files.values():
            for name, definition in place.classes.items():
                if decorator in decorator_names(definition):
                    yield place, name

    def _only_names(self) -> Iterator[str]:
        """The names that one function of the project has, and no other."""
        every = [f for each in self.files.values() for f in each.functions.values()]
        names = Counter(function.node.name for function in every)
        return (name for name, found in names.items() if found == 1)

    def derived(self, syntax: Syntax, class_name: str) -> list[tuple[Syntax, str]]:
        """Find the classes derived from one, directly or not; what fits a Protocol, too."""
        found: list[tuple[Syntax, str]] = []
        left = [(syntax.source.path, class_name)]
        while left:
            for place, name in self._subclasses().get(left.pop(), ()):
                if (place, name) not in found:
                    found.append((place, name))
                    left.append((place.source.path, name))
        return found

    def _subclasses(self) -> dict[tuple[Path, str], list[tuple[Syntax, str]]]:
        if self._derived is None:
            self._derived = {}
            for syntax in self.files.values():
                for name, definition in syntax.classes.items():
                    for base in definition.bases:
                        found = self.class_named(syntax, dotted(base) or "")
                        if found is not None:
                            key = (found[0].source.path, found[1])
                            self._derived.setdefault(key, []).append((syntax, name))
            for place, name, protocol in self._protocols():
                self._derived.setdefault((place.source.path, name), []).extend(
                    (syntax, fitting)
                    for syntax in self.files.values()
                    for fitting, definition in syntax.classes.items()
                    if not is_protocol(definition) and fits(definition, protocol)
                )
        return self._derived

    def _protocols(self) -> Sequence[tuple[Syntax, str, ast.ClassDef]]:
        if self._protocols_here is None:
            self._protocols_here = [
                (syntax, name, definition)
                for syntax in self.files.values()
                for name, definition in syntax.classes.items()
                if is_protocol(definition)
            ]
        return self._protocols_here

    def protocols_of(self, syntax: Syntax, class_name: str) -> list[tuple[Syntax, str]]:
        """Find the Protocols that a class fits without naming them."""
        return [
            (place, name)
            for place, name, _ in self._protocols()
            if (syntax, class_name) in self.derived(place, name)
        ]

    def package(self, syntax: Syntax) -> str:
        """The result of ``package_of``, which reads the neighbours, kept for each file."""
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
        """Whether a package has a name of its own, which goes before a module's.

        ``from .search import search`` in its ``__init__.py`` makes it a function;
        ``from . import search`` leaves it the module.
        """
        try:
            syntax = Syntax.of(self.instead.get(package) or read_source(package))
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
            self._roots[folder] = tuple(import_roots(importer))
        return self._roots[folder]

    def _module_file(self, module: Path) -> Path | None:
        if module not in self._modules:
            self._modules[module] = module_file(module)
        return self._modules[module]
