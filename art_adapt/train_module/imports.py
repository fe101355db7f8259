"""Renders the imports of a train module, in the order of isort and ruff."""

from __future__ import annotations

import keyword
import os
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from art_adapt.code.importable import ImportedName
from art_adapt.code.packages import (
    imports_neighbours_by_name,
    is_own_module,
    package_depth,
)
from art_adapt.code.syntax import Syntax
from art_adapt.recipe.model import Recipe
from art_adapt.reward_function import imported_reward
from art_adapt.source import Source
from art_adapt.survey.model import EntryPoint
from art_adapt.train_module.layout import LINE_LENGTH, literal, render_call

UNUSED = "noqa: F401"
PATH = (ImportedName("sys"), ImportedName("pathlib", "Path"))  # for folders


@dataclass(frozen=True, order=True)
class _Line:
    """A rendered import; the order of its fields is that of the lines."""

    by_name: bool
    is_relative: bool
    is_from: bool
    text: str


def is_standard(imported: ImportedName) -> bool:
    """True if an import is of the standard library."""
    return imported.module.partition(".")[0] in sys.stdlib_module_names


def needs_importlib(imported: ImportedName) -> bool:
    """True if no statement can spell a module's name: ``1-agent``."""
    stem = imported.module.removeprefix(".").rpartition(".")[2]
    return bool(stem) and (not stem.isidentifier() or keyword.iskeyword(stem))


def is_own(imported: ImportedName, entry: EntryPoint) -> bool:
    """True if an import is of the agent's project."""
    top = imported.module.partition(".")[0]
    is_beside = top in ("", entry.module.partition(".")[0])
    return is_beside or needs_importlib(imported) or is_own_module(entry.home, top)


def render_imports(
    imports: Iterable[ImportedName],
    comments: Mapping[ImportedName, str],
    width: int = LINE_LENGTH,
) -> list[str]:
    """Render imports as one group of lines, at most ``width`` wide.

    An import with a comment has a line of its own.
    """
    groups: dict[tuple[str, str], list[ImportedName]] = {}
    for each in dict.fromkeys(imports):
        groups.setdefault((each.module, comments.get(each, "")), []).append(each)
    lines = (
        replace(line, text=f"{line.text}  # {comment}") if comment else line
        for (module, comment), names in groups.items()
        for line in _lines(module, names, width)
    )
    rendered: list[str] = []
    before: _Line | None = None
    for line in sorted(lines):
        if before is not None and line.is_relative and not before.is_relative:
            rendered.append("")
        rendered.append(line.text)
        before = line
    return rendered


def own_imports(
    recipe: Recipe, entry: EntryPoint, reward: str | None, left_out: Sequence[str]
) -> list[str]:
    """Render the imports of the agent's project, and of the ``reward`` function.

    ``left_out``: calls at module level that the agent is imported without.
    """
    registering = [_registering(module) for module in recipe.registering]
    imports = [each for each in recipe.imports if is_own(each, entry)] + registering
    if reward:
        module, function = imported_reward(reward, entry.home, entry.package)
        imports.append(
            ImportedName(module, function, "" if function == "score" else "score")
        )
    width = LINE_LENGTH - (4 if left_out else 0)
    lines = render_imports(imports, dict.fromkeys(registering, UNUSED), width)
    if not (left_out and lines):
        return lines
    given = list(map(literal, left_out))
    return [
        "# Importing the agent runs these, too: a train module needs the definitions only.",
        render_call("with ", "training.without_runs_of", given, ":"),
        *(textwrap.indent(line, "    ") for line in lines),
    ]


def script_folders(
    recipe: Recipe, entry: EntryPoint, sources: Sequence[Source]
) -> dict[str, str]:
    """Return the folders of scripts that are imported and import their neighbours by name.

    Each with the name of such a script: Python looked into its folder when it ran it.
    """
    files = {os.path.realpath(each.path): each for each in sources}
    root = entry.home.resolve().parents[package_depth(entry.package)]
    found: dict[str, str] = {}
    for module in dict.fromkeys(each.module for each in recipe.imports):
        path = root.joinpath(*module.split(".")).with_suffix(".py")
        source = files.get(os.path.realpath(path))
        if "." not in module.strip(".") or source is None or module.startswith("."):
            continue
        if imports_neighbours_by_name(Syntax.of(source)):
            folder = path.parent.relative_to(root).as_posix()
            found.setdefault(folder, path.name)
    return found


def render_folders(folders: Mapping[str, str], depth: int) -> list[str]:
    """Render that Python also looks into folders, from a module ``depth`` packages deep."""
    lines = []
    for folder, name in folders.items():
        path = f"str(Path(__file__).resolve().parents[{depth}] / {literal(folder)})"
        lines.append(f"# {name} imports what is in its own folder.")
        lines.append(render_call("", "sys.path.append", [path]))
    return [*lines, ""] if lines else []


def _registering(module: str) -> ImportedName:
    """ImportedName a module for what it registers, by its name as the train module says it."""
    package, _, name = module.rpartition(".")
    return (
        ImportedName(package or ".", name) if module[0] == "." else ImportedName(module)
    )


def _lines(module: str, imports: Sequence[ImportedName], width: int) -> Iterator[_Line]:
    """Render what is imported from one module."""
    is_relative = module.startswith(".")
    names = sorted((each for each in imports if each.name), key=_by_kind)
    for each in imports:
        if not each.name:
            alias = f" as {each.alias}" if each.alias else ""
            yield _Line(False, False, False, f"import {module}{alias}")
    if not names:
        return
    if needs_importlib(names[0]):
        given = literal(module) + ", __package__" * is_relative
        for each in names:
            line = f"{each.bound} = importlib.import_module({given}).{each.name}"
            if len(line) > width:
                line = line.replace(f"({given})", f"(\n    {given}\n)")
            yield _Line(True, False, False, line)
        return
    spelled = [f"{i.name} as {i.alias}" if i.alias else i.name for i in names]
    line = f"from {module} import {', '.join(spelled)}"
    if len(line) > width:
        listed = (f"    {each}," for each in spelled)
        line = "\n".join([f"from {module} import (", *listed, ")"])
    yield _Line(False, is_relative, True, line)


def _by_kind(imported: ImportedName) -> tuple[int, str, str]:
    """Order imported names as isort and ruff do: constants, classes, others."""
    name = imported.name
    rank = 0 if name.isupper() else 1 if name[:1].isupper() else 2
    return rank, name, imported.alias
