"""Collects the files of an agent: those that the user named, and their imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from art_adapt.errors import Refusal
from art_adapt.source import Source, read_source
from art_adapt.survey.hooks import RECORDING_MODULE
from art_adapt.survey.syntax import Import, Syntax, dotted

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
    _made: dict[tuple[Path, str], list[tuple[Syntax, ast.Call]]] | None = field(
        default=None, init=False
    )
    looking: int = field(default=0, init=False)  # how deep classes_of() is
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
        level = list(project.files.values())
        for _ in range(DEPTH):
            level = list(project._imported_by(level))
        return project

    def add(self, paths: Sequence[Path]) -> bool:
        """Add files and what they import; tell whether any of them could be read."""
        self._made = self._derived = None
        added = []
        for path in paths:
            try:
                source = self.instead.get(path) or read_source(path)
            except Refusal:
                continue
            if path not in self.files:
                self.files[path] = Syntax.of(source)
                added.append(self.files[path])
        for _ in self._imported_by(added):
            pass
        return bool(added)

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
                except Refusal:
                    continue  # not named by the user, and not readable: not part of the agent
                yield found

    def imported(self, syntax: Syntax, name: str) -> Syntax | tuple[Syntax, str] | None:
        """Resolve an imported name to a module of the project or a name in one; else None.

        Re-exports are followed.
        """
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
            if (
                imported.attribute in target.functions
                or imported.attribute in target.classes
            ):
                return target, imported.attribute
            syntax, name = target, imported.attribute
        return None

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

    @property
    def constructions(self) -> dict[tuple[Path, str], list[tuple[Syntax, ast.Call]]]:
        """The calls that make an instance of a class, by its file and name."""
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

    def derived(self, syntax: Syntax, class_name: str) -> list[tuple[Syntax, str]]:
        """Find the classes derived from one, directly or not."""
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
        return self._derived

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
            if (
                imported.attribute is not None
                and (path := self._module_file(module / imported.attribute)) is not None
            ):
                return path, False
            if (path := self._module_file(module)) is not None:
                return path, imported.attribute is not None
        return None

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


def module_file(module: Path) -> Path | None:
    """The file of a module: ``a/b.py`` or ``a/b/__init__.py`` for ``a/b``."""
    if not module.name:
        return None
    return next(
        (
            path
            for path in (module.with_name(module.name + ".py"), module / "__init__.py")
            if path.is_file()
        ),
        None,
    )


def import_roots(path: Path) -> Iterator[Path]:
    """The folders that absolute imports in ``path`` may start from.

    They are its own folder and those above it, up to the project's root.
    """
    folder = path.parent
    for _ in range(6):
        yield folder
        if (
            any(
                (folder / marker).exists()
                for marker in ("pyproject.toml", "setup.py", ".git")
            )
            or folder == folder.parent
        ):
            return
        folder = folder.parent


def imports_relatively(syntax: Syntax) -> bool:
    """Whether the file uses relative imports, so that it cannot be run by its path."""
    return any(
        i.level and i.module.split(".")[-1] != RECORDING_MODULE
        for i in syntax.imports.values()
    )


def package_of(syntax: Syntax) -> str:
    """The dotted package that a file is imported from; "" for a script.

    The imports of the file and its neighbours are the best evidence: scripts lie beside
    ``__init__.py`` too, and a package needs none.
    """
    path = syntax.source.path
    folder = path.parent
    if not imports_relatively(syntax) and _imports_neighbours_by_name(syntax):
        return ""
    package = (
        _package_by_imports(syntax)
        or _package_by_init(folder)
        or _namespace_package(syntax)
    )
    return package or (folder.name if imports_relatively(syntax) else "")


def _imports_neighbours_by_name(syntax: Syntax) -> bool:
    """Whether the file imports its neighbours by name, as scripts do.

    Imports under ``if __name__ == "__main__":`` do not count.
    """
    path = syntax.source.path
    tops = {
        imported.module.split(".")[0]
        for imported in syntax.imports.values()
        if imported.level == 0 and not syntax.is_guarded(imported.node)
    }
    return any(
        (path.parent / f"{top}.py").is_file()
        for top in tops - {RECORDING_MODULE, path.stem}
    )


def _package_by_imports(syntax: Syntax) -> str:
    """The package that a file's absolute imports of its own project start from.

    ``from app.tools import x`` in app/service/agent.py: it is app.service, also where
    the folder around app has an ``__init__.py``, or service has none.
    """
    path = syntax.source.path
    for depth, ancestor in enumerate(path.parents[:5]):
        names = [p.name for p in reversed(path.parents[: depth + 1])]
        if not all(name.isidentifier() for name in names):
            break
        if not module_file(path.parent / ancestor.name) and any(
            _leads_below(ancestor, imported) for imported in syntax.imports.values()
        ):
            return ".".join(names)
    return ""


def _namespace_package(syntax: Syntax) -> str:
    """The package of a file whose folder has no ``__init__.py``; "" if it is a script."""
    path = syntax.source.path
    folder = path.parent
    if not folder.name.isidentifier():
        return ""
    if (folder.parent / "__init__.py").is_file():
        return f"{_package_by_init(folder.parent)}.{folder.name}"
    name, stem = re.escape(folder.name.encode()), re.escape(path.stem.encode())
    relative = re.compile(rb"^\s*from\s+\.(?!art_recording)", re.MULTILINE)
    by_name = re.compile(
        rb"^\s*from\s+%s(?:\.(\w+)\S*)?\s+import\s+\(?\s*(\w+)" % name, re.MULTILINE
    )
    above = re.compile(
        rb"^\s*(from|import)\s+([\w.]+\.)?%s\.%s\b"
        rb"|^\s*from\s+([\w.]+\.)?%s\s+import\s.*\b%s\b" % (name, stem, name, stem),
        re.MULTILINE,
    )

    def is_package(data: bytes) -> bool:
        below = (folder / (sub or name).decode() for sub, name in by_name.findall(data))
        return relative.search(data) is not None or any(map(is_module, below))

    if any(map(is_package, _texts_of(folder))) or any(
        map(above.search, _texts_of(folder.parent))
    ):
        return folder.name
    return ""


def _leads_below(folder: Path, imported: Import) -> bool:
    """Whether an absolute import names a module below ``folder``.

    A folder may be called like a library, as ``openai`` and ``mcp`` are: its name alone
    says nothing.
    """
    parts = [*imported.module.split("."), *filter(None, [imported.attribute])]
    if imported.level or parts[0] != folder.name:
        return False
    below = {folder.joinpath(*parts[1:]), folder.joinpath(*parts[1:-1])} - {folder}
    return any(map(is_module, below))


def is_module(module: Path) -> bool:
    """Whether a module or a folder of modules is at this path without a suffix."""
    return module_file(module) is not None or module.is_dir()


def _texts_of(folder: Path) -> Iterator[bytes]:
    """The contents of the Python files in a folder, as far as they can be read."""
    try:
        for path in sorted(folder.iterdir())[:MOST_FILES]:
            if path.suffix == ".py" and path.is_file():
                yield path.read_bytes()
    except OSError:
        return


def import_name(path: Path) -> tuple[Path, str]:
    """Return the folder to import a train module from, and its dotted name.

    A train module that imports its agent relatively is in the agent's package.
    """
    try:
        beside = [path.with_name(f"{n}.py") for n in _imported_beside(path)]
        agent = next((file for file in beside if file.is_file()), None)
        if agent is not None:
            package = package_of(Syntax.of(read_source(agent))) or path.parent.name
            return path.parents[package_depth(package)], f"{package}.{path.stem}"
    except Refusal:
        pass  # whoever imports it will see what is wrong with it
    return path.parent, path.stem


def _imported_beside(path: Path) -> Iterator[str]:
    """The modules that a train module imports from its own package."""
    for node in ast.walk(read_source(path).tree):
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            yield node.module
        elif isinstance(node, ast.Call) and len(node.args) == 2:
            name = node.args[0]  # import_module(".1-agent", __package__)
            if isinstance(name, ast.Constant) and str(name.value).startswith("."):
                yield str(name.value)[1:]


def package_depth(package: str) -> int:
    """The number of folders that a package is deep."""
    return package.count(".") + 1


def _package_by_init(folder: Path) -> str:
    parts: list[str] = []
    while (folder / "__init__.py").is_file() and folder != folder.parent:
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)
