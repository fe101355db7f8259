"""Renders the imports of a train module, in the order of isort and ruff."""

from __future__ import annotations

import keyword
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence

from art_adapt.code.packages import is_own_module
from art_adapt.decisions import Training
from art_adapt.survey.model import EntryPoint
from art_adapt.train_module.layout import LINE_LENGTH, literal, render_call
from art_adapt.train_module.local_names import imported_name, local_name, record_class
from art_adapt.train_module.taken_over import taken_over

MODULE = re.compile(r"(?:from|import) ([\w.]+)")


def imports_of(
    entry: EntryPoint, training: Training, left_out: Sequence[str] = ()
) -> tuple[list[str], list[str]]:
    """Return the imports of the project's own modules, and those of others, as lines.

    ``left_out``: calls at module level that the agent is imported without.
    """
    imported: dict[str, set[str]] = {}
    if not entry.is_script and not training.single_turn:
        names = [imported_name(entry)[0]]
        if entry.is_abstract or entry.instance is not None:
            names = []
        if entry.route is not None:
            names = [entry.route.application]
        elif entry.class_name is None:
            names += [call.name for call in (*entry.setup, *entry.cleanup)]
        imported[entry.module] = {
            name if name == local_name(name) else f"{name} as {local_name(name)}"
            for name in names
        }
    for parameter in entry.parts:
        if parameter.made is not None:
            whole = parameter is entry.instance
            for module, used in taken_over(parameter.made, whole=whole).names:
                imported.setdefault(module, set()).add(used)
        elif parameter.is_record and entry.route is None:
            name = record_class(parameter).partition(".")[0]
            renamed = "" if name == local_name(name) else f" as {local_name(name)}"
            imported[entry.module].add(f"{name}{renamed}")
    width = LINE_LENGTH - (4 if left_out else 0)
    lines = [
        line
        for module, names in imported.items()
        for line in _import(module, sorted(names, key=_by_kind), width)
    ]
    lines += [f"{_import_of(each)}  # noqa: F401" for each in entry.registering]
    own = [line for line in lines if _is_own(entry, line)]
    others = [line for line in lines if line not in own]
    if training.reward:
        module, _, function = training.reward.partition(":")
        alias = "" if function == "score" else " as score"
        own.append(f"from {module} import {function}{alias}")

    def order(line: str) -> tuple[bool, bool, bool, str]:
        # Of other packages, of its own, and what no import statement can name.
        is_from = line.startswith("from ")
        return "importlib." in line, line.startswith("from ."), is_from, line

    own.sort(key=order)
    return (_without_runs(own, left_out) if left_out and own else own), others


def _import_of(module: str) -> str:
    """Import a module for what it registers, by its name as the train module says it."""
    package, _, name = module.rpartition(".")
    return (
        f"from {package or '.'} import {name}"
        if module[0] == "."
        else f"import {module}"
    )


def _without_runs(lines: Sequence[str], left_out: Sequence[str]) -> list[str]:
    """Render imports in a block that leaves out what the agent runs when it is imported."""
    given = list(map(literal, left_out))
    return [
        "# Importing the agent runs these, too: a train module needs the definitions only.",
        render_call("with ", "training.without_runs_of", given, ":"),
        *(textwrap.indent(line, "    ") for line in lines),
    ]


def _is_own(entry: EntryPoint, line: str) -> bool:
    """True if a line imports something of the project."""
    module = MODULE.match(line)
    if module is None or module[1].startswith("."):
        return True
    top = module[1].partition(".")[0]
    return top == entry.module.partition(".")[0] or is_own_module(entry.home, top)


def with_imports(text: str, lines: Sequence[str]) -> str:
    """Add imports of libraries to a module, where isort would put them."""
    for line in lines:
        top = line.split()[1].partition(".")[0]
        groups = [group.split("\n") for group in text.split("\n\n")]
        first = next(i for i, g in enumerate(groups) if g[0].startswith("import "))
        at = first if top in sys.stdlib_module_names else first + 1
        groups[at] = _with_line(groups[at], line)
        text = "\n\n".join("\n".join(group) for group in groups)
    return text


def _with_line(group: list[str], line: str) -> list[str]:
    """Add an import to a group, to the line of its module where there is one."""
    start, _, names = line.partition(" import ")
    for number, other in enumerate(group):
        if other == line:
            return group
        if (
            names
            and other.startswith(f"{start} import ")
            and " as " not in other + line
        ):
            both = f"{other.partition(' import ')[2]}, {names}".split(", ")
            merged = sorted(set(both), key=_by_kind)
            return [
                *group[:number],
                f"{start} import {', '.join(merged)}",
                *group[number + 1 :],
            ]
    return sorted(
        [*group, line], key=lambda each: (each.startswith("from "), each.split()[1])
    )


def _by_kind(name: str) -> tuple[int, str]:
    """Order imported names as isort and ruff do: constants, classes, others."""
    plain = name.partition(" ")[0]
    return (0 if plain.isupper() else 1 if plain[:1].isupper() else 2), name


def _import(module: str, names: list[str], width: int) -> Iterator[str]:
    """Render the import of ``names``, each given as ``name`` or ``name as other``.

    The name "" is the module itself. ``width``: of a line, at most.
    """
    if "" in names:
        yield f"import {module}"
        names = [name for name in names if name]
    if not names:
        return
    stem = module.removeprefix(".").rpartition(".")[2]
    line = f"from {module} import {', '.join(names)}"
    if stem and (not stem.isidentifier() or keyword.iskeyword(stem)):  # 1-agent.py
        package = ", __package__" if module.startswith(".") else ""
        for each in names:
            name, _, local = each.partition(" as ")
            given = f"{literal(module)}{package}"
            line = f"{local or name} = importlib.import_module({given}).{name}"
            if len(line) > width:
                line = line.replace(f"({given})", f"(\n    {given}\n)")
            yield line
    elif len(line) <= width:
        yield line
    else:
        several = [f"from {module} import (", *(f"    {n}," for n in names), ")"]
        yield "\n".join(several)
