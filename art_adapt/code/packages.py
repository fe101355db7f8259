"""Finds the file of a module, and the package that a file is imported from."""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from art_adapt.code.hooks import RECORDING_MODULE, is_of_hooks
from art_adapt.code.project_folder import project_root, python_files
from art_adapt.code.syntax import Import, Syntax

MOST_NEIGHBOURS = 80  # files of a folder that are read for their imports
WRITTEN = b"# Written by art-adapt "  # begins a train module, which follows the agent


def module_file(module: Path) -> Path | None:
    """Return the file of a module: ``a/b.py`` or ``a/b/__init__.py`` for ``a/b``."""
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
    """Yield the folders that absolute imports in ``path`` may start from.

    They are its own folder and those above it, up to the project's root: a package may have a
    ``pyproject.toml`` of its own, and is imported from the folder around it all the same.
    """
    folder, marked = path.parent, False
    for _ in range(6):
        yield folder
        marked |= any(
            (folder / each).exists() for each in ("pyproject.toml", "setup.py")
        )
        is_package = (folder / "__init__.py").is_file() and folder.name.isidentifier()
        is_root = (marked and not is_package) or (folder / ".git").exists()
        if is_root or folder == folder.parent:
            return
        folder = folder.parent


def module_roots(path: Path) -> tuple[Path, ...]:
    """Return the folders that an absolute import in ``path`` may find a project's module in.

    They are those of ``import_roots``, and the ``src`` folder of the project: installing
    the project makes what is below ``src`` importable from its examples and tests, too. It
    is none where it is a package itself, as a neighbour's ``from src.app import`` says.
    """
    roots = tuple(import_roots(path))
    folders = dict.fromkeys((roots[-1], project_root(path)))
    sources = tuple(
        source
        for source in (folder / "src" for folder in folders)
        if source.is_dir()
        and source not in roots
        and not (source / "__init__.py").exists()
    )
    if not sources or _imports_from_src(path.parent):
        return roots
    return (*roots, *sources)


@functools.lru_cache(maxsize=512)
def _imports_from_src(folder: Path) -> bool:
    """True if a file in a folder imports from ``src`` by that name."""
    line = re.compile(rb"^\s*(from|import)\s+src\b", re.MULTILINE)
    return any(line.search(data) is not None for _, data in _texts_of(folder))


def is_of_project(path: Path, module: str, name: str = "") -> bool:
    """True if a module is the project's own, as ``agents`` often is.

    ``path`` is the file that imports it, or ``name`` from it. A folder without an
    ``__init__.py`` gives no more than its modules, a package to its own modules no more
    than it has: what else they import from that name is a library's. So is what
    ``anthropic.py`` imports from anthropic.
    """
    top, *inside = f"{module}.{name}".rstrip(".").split(".")
    for folder in (root / top for root in module_roots(path)):
        found = module_file(folder)
        contains = folder in path.parents
        if found is not None and found != path and not contains:
            return True
        if not inside or (contains and found is None):
            continue
        part = folder / inside[0]
        if module_file(part) or part.is_dir():
            return True
        if contains and found is not None:
            named = re.escape(inside[0])
            text = found.read_text(encoding="utf-8", errors="replace")
            if re.search(rf"\b{named}\b", text):
                return True
    return False


def imports_relatively(syntax: Syntax) -> bool:
    """True if the file always imports relatively, so that it cannot be run by its path.

    One that may import otherwise, in ``try`` or in a function, may be run as a script.
    """
    return relative_depth(syntax) > 0


def relative_depth(syntax: Syntax) -> int:
    """Return the most dots of a relative import that the file always makes."""
    always = (n for n in _relative(syntax) if isinstance(syntax.parents[n], ast.Module))
    return max((node.level for node in always), default=0)


def _relative(syntax: Syntax) -> Iterator[ast.ImportFrom]:
    """Yield the relative imports of a file, but for that of its hooks."""
    for node in syntax.nodes:
        if isinstance(node, ast.ImportFrom) and node.level and not is_of_hooks(node):
            yield node


def package_of(syntax: Syntax) -> str:
    """Return the dotted package that a file is imported from; "" for a script.

    The imports of the file and its neighbours are the best evidence: scripts lie beside
    ``__init__.py`` too, and a package needs none.
    """
    path = syntax.source.path
    folder = path.parent
    always = imports_relatively(syntax)
    relative = always or (folder.name.isidentifier() and any(_relative(syntax)))
    if not relative and imports_neighbours_by_name(syntax):
        return ""
    package = _package_by_evidence(syntax) or (folder.name if relative else "")
    dots = relative_depth(syntax)
    if dots > package_depth(package):  # ``from ..utils`` leads through the folder above
        package = _dotted_below(path.parents[dots], folder) or package
    return package


def may_be_of_package(syntax: Syntax) -> bool:
    """True if something speaks for a package, though a file is one of a folder of scripts.

    Its hooks are then imported in a way that holds for both.
    """
    return bool(_package_by_evidence(syntax))


def _package_by_evidence(syntax: Syntax) -> str:
    path = syntax.source.path
    return (
        _package_by_imports(syntax)
        or _package_by_init(path.parent, relative_depth(syntax))
        or _namespace_package(syntax)
        or _package_by_siblings(syntax)
        or _package_of_importers(path)
    )


def imports_neighbours_by_name(syntax: Syntax) -> bool:
    """True if the file imports its neighbours by name, as scripts do.

    Those are modules beside it, and modules in folders beside it that are no packages of the
    folder above as well. Imports under ``if __name__ == "__main__":`` do not count.
    """
    path = syntax.source.path
    # A package with a module of its own name, bot/bot.py, is imported by that name, too.
    is_package = (path.parent / "__init__.py").is_file()
    others = {RECORDING_MODULE, path.stem, *sys.stdlib_module_names}
    others |= {path.parent.name} if is_package else set()
    for imported in syntax.imports.values():
        top, *inside = imported.module.split(".")
        if imported.level or top in others or syntax.is_guarded(imported.node):
            continue
        beside = path.parent / f"{top}.py"
        if beside.is_file() and not is_named_after_a_library(beside):
            return True
        folder = path.parent / top
        parts = [*inside, *([imported.attribute] if imported.attribute else [])]
        if (
            parts
            and module_file(folder / parts[0])
            and not is_module(path.parents[1] / top)
        ):
            return True
    return False


def is_named_after_a_library(file: Path) -> bool:
    """True if a file imports a library of its own name, as a provider's ``openai.py`` does."""
    text = file.read_text(encoding="utf-8", errors="replace")
    return re.search(rf"^\s*(from|import)\s+{file.stem}\b", text, re.M) is not None


def _package_by_imports(syntax: Syntax) -> str:
    """Return the package that a file's absolute imports of its own project start from.

    ``from app.tools import x`` in app/service/agent.py: it is app.service, also where
    the folder around app has an ``__init__.py``, or service has none.
    """
    path = syntax.source.path
    for depth, ancestor in enumerate(path.parents[:5]):
        names = [p.name for p in reversed(path.parents[: depth + 1])]
        if not all(name.isidentifier() for name in names):
            break
        if not module_file(path.parent / ancestor.name) and any(
            _leads_below(ancestor, imported, path)
            for imported in syntax.imports.values()
        ):
            return ".".join(names)
    return ""


def _namespace_package(syntax: Syntax) -> str:
    """Return the package of a file whose folder has no ``__init__.py``; "" if it is a script."""
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

    def is_package(file: Path, data: bytes) -> bool:
        # Of bot/bot.py, ``from bot import answer`` is the file to what lies beside it.
        is_of_file = (folder / f"{folder.name}.py").is_file()
        below = (
            folder / (sub or name).decode()
            for sub, name in by_name.findall(data)
            if sub or not is_of_file
        )
        return relative.search(data) is not None or any(
            is_module(module) and module_file(module) != file for module in below
        )

    if any(is_package(file, data) for file, data in _texts_of(folder)) or any(
        above.search(data) for _, data in _texts_of(folder.parent)
    ):
        return folder.name
    return ""


def _package_by_siblings(syntax: Syntax) -> str:
    """Return the package of a file that imports from folders beside its own, as ``utils.log``.

    Python then starts in the folder around both. A file that changes ``sys.path`` may be
    run from anywhere.
    """
    path = syntax.source.path
    _, *above = import_roots(path)
    if "sys.path" in syntax.source.text:
        return ""
    for imported in syntax.imports.values():
        top = imported.module.partition(".")[0]
        if (
            imported.level
            or top in sys.stdlib_module_names
            or is_module(path.parent / top)
            or syntax.is_guarded(imported.node)
        ):
            continue
        for root in above:
            module = root.joinpath(*imported.module.split("."))
            inside = module / imported.attribute if imported.attribute else module
            if (module_file(module) or module_file(inside)) not in (None, path):
                return _dotted_below(root, path.parent)
    return ""


def _package_of_importers(path: Path) -> str:
    """Return the package that other files of the project import a file from, or load it."""
    root = project_root(path)
    if path.parent == root or root not in path.parents or module_file(path.parent):
        return ""  # of app.py beside app/, Python takes the file
    texts = _texts_below(root)
    for above in path.parents[1:]:
        package = _dotted_below(above, path.parent)
        if package and _imports_from(package, path, texts):
            return package
        if above == root:
            break
    return ""


def _imports_from(package: str, path: Path, texts: bytes) -> bool:
    """True if something imports a file of a package from it, or may load it by its name.

    The package has no ``__init__.py``: ``from openai import OpenAI`` is the library's.
    """
    name, stem = re.escape(package.encode()), re.escape(path.stem.encode())
    line = re.compile(
        rb"[ \t]*(?:from|import)\s+%s(?:\.%s\b|\s+import\s*(?:\([^)]*|[^\n]*)\b%s\b)"
        rb"|.*[\"']%s\.(?:\{|[\"']|%s[\"'.:])" % (name, stem, stem, name, stem)
    )
    return any(  # to look for the name first is many times as fast
        line.match(texts, texts.rfind(b"\n", 0, said.start()) + 1)
        for said in re.finditer(name, texts)
    )


@functools.lru_cache(maxsize=2)
def _texts_below(root: Path) -> bytes:
    """Return the text of every Python file of a project."""
    texts = (path.read_bytes() for path in python_files(root))
    return b"\n".join(text for text in texts if not text.startswith(WRITTEN))


def _dotted_below(root: Path, folder: Path) -> str:
    """Return the dotted name of a folder below another one; "" where Python could not write it."""
    parts = folder.relative_to(root).parts
    return ".".join(parts) if all(map(str.isidentifier, parts)) else ""


def _leads_below(folder: Path, imported: Import, path: Path) -> bool:
    """True if an absolute import in ``path`` names another module below ``folder``.

    A folder may be called like a library, as ``openai`` and ``mcp`` are: its name alone
    says nothing, and ``from agno.agent import Agent`` nothing in agno/agent.py.
    """
    parts = [*imported.module.split("."), *filter(None, [imported.attribute])]
    if imported.level or parts[0] != folder.name:
        return False
    below = {folder.joinpath(*parts[1:]), folder.joinpath(*parts[1:-1])} - {folder}
    return any(is_module(each) and module_file(each) != path for each in below)


def is_module(module: Path) -> bool:
    """True if a module or a folder of modules is at this path without a suffix."""
    return module_file(module) is not None or module.is_dir()


def _texts_of(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield the Python files in a folder, as far as they can be read, with their contents.

    What art-adapt has written says nothing of the project.
    """
    try:
        for path in sorted(folder.iterdir())[:MOST_NEIGHBOURS]:
            if path.suffix == ".py" and path.is_file():
                text = path.read_bytes()
                if not text.startswith(WRITTEN):
                    yield path, text
    except OSError:
        return


@functools.lru_cache(maxsize=512)
def are_isolated(folder: Path) -> bool:
    """True if the train modules in a folder, or the nearest ones above it, run episodes apart."""
    for above in import_roots(folder / "agent.py"):
        written = [
            path.read_bytes()
            for path in sorted(above.glob("*_train.py"))[:MOST_NEIGHBOURS]
            if path.is_file()
        ]
        if modules := [each for each in written if each.startswith(WRITTEN)]:
            return all(b"\n@training.isolated(" in each for each in modules)
    return False


@functools.lru_cache(maxsize=4096)
def is_own_module(path: Path, module: str) -> bool:
    """True if a top-level module belongs to the project of a file."""
    return any(is_module(root / module) for root in module_roots(path))


def package_depth(package: str) -> int:
    """Return the number of folders that a package is deep; 0: a script's, "", is none."""
    return package.count(".") + 1 if package else 0


def _package_by_init(folder: Path, dots: int = 0) -> str:
    """Return the package that the ``__init__.py`` of a folder and those above make.

    A folder around one, with a name that no import can spell, is none of them, unless the
    ``dots`` of a relative import lead there.
    """
    parts: list[str] = []
    while (folder / "__init__.py").is_file() and folder != folder.parent:
        if parts and not folder.name.isidentifier() and dots <= len(parts):
            break
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)
