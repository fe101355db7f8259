"""openai or polars is not pinned, so ART 0.5.18 is installed with a breaking version

On Python 3.11 the newest ART is 0.5.18. It requires ``openai>=2.14`` and ``polars>=1.26``, so
pip installs openai 3 and polars 2. With openai 3, ``art.auto_trajectory`` sees no call, and from
openai 3.14.1 on ``model.openai_client()`` raises a TypeError at its first request. With polars 2
``model.delete_checkpoints()`` raises. All of it happens on a rented GPU.

Add ``openai<3`` and ``polars<2`` next to ``openpipe-art``. The rule reads ``pyproject.toml``,
``requirements*.txt`` and the ``# /// script`` block of a script, but not Poetry's own tables;
a lock file counts as pinning. Where no Python version is declared, it assumes the newest.

Evidence: the metadata of art 0.5.18 and 0.5.23 (0.5.23 requires ``openai<3`` and works with
polars 2); art 0.5.18, model.py:62-122 and 1186-1192; art 0.5.18, auto_trajectory.py, which
patches httpx (openai 3 asks through httpx2).
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from art_adapt.errors import Refusal
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity
from art_adapt.source import Source

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

RULE = Rule("ART520", "missing-pins", Severity.WASTE)
READS_DEPENDENCIES = True
BAD = (
    """\
# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "openpipe-art[backend]",  # <-
#     "openai>=2",
# ]
# ///
import art
""",
    """\
# /// script
# dependencies = ["openpipe-art==0.5.18", "openai<3"]  # <-
# ///
import art
""",
)
GOOD = (
    BAD[0].replace("  # <-", "").replace('"openai>=2"', '"openai>=2,<3", "polars<2"'),
    BAD[0].replace("  # <-", "").replace(">=3.11", ">=3.12"),
    BAD[0].replace("  # <-", "").replace(">=3.11", "<3.11"),
    BAD[0].replace("  # <-", "").replace('# requires-python = ">=3.11"\n', ""),
    BAD[0]
    .replace("  # <-", "")
    .replace("# ]\n", '# ]\n# [tool.uv]\n# exclude-newer = "2026-01-01T00:00:00Z"\n'),
    BAD[0].replace("openpipe-art[backend]", "art"),
    f"SCRIPT = '''\n{BAD[0]}'''\nimport art\n".replace("  # <-", ""),
)

# The versions that pip installs on each Python, newest first; each was installed and tried.
ARTS = {"3.11": ("0.5.18",), "3.12": ("0.5.23", "0.5.18")}
BREAKS = "0.5.18"
TOO_NEW = {
    "openai": (
        "3",
        "art.auto_trajectory sees no call; from 3.14.1 on model.openai_client() raises",
    ),
    "polars": ("2", "model.delete_checkpoints() raises"),
}
PATCHES = range(20)
LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "pixi.lock", "pylock.toml")
SCRIPT = re.compile(r"^# /// script\s*\n((?:#(?: .*)?\n)+?)# ///\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Declared:
    """The requirements that a file declares, as they are written."""

    requirements: tuple[str, ...] = ()
    python: str | None = None  # a specifier; None if it is not declared


def check(code: Code) -> Iterator[Found]:
    declared = _declared(code)
    art = next((each for each in declared.requirements if _is_art(each)), None)
    if art is None:
        return
    for python in _pythons(declared):
        try:
            missing = _missing(declared, python)
        except ValueError:
            return  # raised by packaging: pip cannot read it either
        if missing:
            pins = ", ".join(f"{name}<{TOO_NEW[name][0]}" for name in missing)
            harm = " and ".join(
                f"{name} {TOO_NEW[name][0]} ({TOO_NEW[name][1]})" for name in missing
            )
            message = f"on Python {python} this installs ART {BREAKS} with {harm}"
            yield _at(code.source, art, f"{message}; add {pins}")
            return


def _is_art(requirement: str) -> bool:
    return (
        re.match(r"openpipe[-_.]art(?![\w.-])", requirement, re.IGNORECASE) is not None
    )


def _pythons(declared: Declared) -> list[str]:
    """Return the Python versions that are supported, by default the newest."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    if declared.python is None:
        return [max(ARTS)]
    try:
        specifiers = SpecifierSet(declared.python)
    except InvalidSpecifier:
        return []
    return [
        python
        for python in ARTS
        if any(specifiers.contains(f"{python}.{patch}") for patch in PATCHES)
    ]


def _missing(declared: Declared, python: str) -> list[str]:
    """Return the packages of which pip installs a version too new for ART 0.5.18.

    Raises:
        ValueError: a requirement cannot be parsed.
    """
    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet
    from packaging.utils import canonicalize_name

    here = {"python_version": python, "python_full_version": f"{python}.9"}
    limits: dict[str, SpecifierSet] = {}
    for each in map(Requirement, declared.requirements):
        name = canonicalize_name(each.name)
        if name not in ("openpipe-art", *TOO_NEW):
            continue
        if each.marker is None or each.marker.evaluate(here):
            if each.url is not None:
                return []  # its version is not known
            limits[name] = limits.get(name, SpecifierSet()) & each.specifier
    art = limits.get("openpipe-art")
    if art is None or next(filter(art.contains, ARTS[python]), None) != BREAKS:
        return []
    return [
        name
        for name, (first, _) in TOO_NEW.items()
        if _allows(limits.get(name, SpecifierSet()), first)
    ]


def _allows(specifiers: SpecifierSet, first: str) -> bool:
    """Return whether ``first`` or a later version may be installed."""
    from packaging.version import Version

    named = (each.version.removesuffix(".*") for each in specifiers)
    return any(
        Version(each) >= Version(first) and specifiers.contains(each)
        for each in (f"{first}.0.0", *named)
    )


def _declared(code: Code) -> Declared:
    """Return the requirements of this file, or none if another file may pin them.

    Raises:
        Refusal: the pyproject.toml or the requirements file cannot be read.
    """
    path, text = code.source.path, code.source.text
    if path.name == "pyproject.toml":
        return Declared() if _is_locked(path) else _of_project(_project(path, text))
    if path.suffix == ".txt":
        return _of_requirements(text)
    script = SCRIPT.search(text)
    if script is None or _is_in_string(code, text[: script.start()].count("\n") + 1):
        return Declared()
    if path.with_name(f"{path.name}.lock").exists():
        return Declared()
    try:
        content = tomllib.loads(re.sub(r"^# ?", "", script[1], flags=re.MULTILINE))
    except tomllib.TOMLDecodeError:
        return Declared()  # the tool that runs the script reports it
    return _of_tables(content, _table(content, "tool", "uv"), content)


def _project(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        raise Refusal(
            f"not valid TOML: {error}",
            path=path,
            line=int(line[1]) if line else 1,
        ) from error


def _is_in_string(code: Code, line: int) -> bool:
    return any(
        isinstance(node, ast.Constant) and node.lineno < line <= (node.end_lineno or 0)
        for node in code.syntax.nodes
    )


def _of_project(content: dict[str, Any]) -> Declared:
    project = _table(content, "project")
    return _of_tables(project, _table(content, "tool", "uv"), content)


def _of_tables(
    project: dict[str, Any], uv: dict[str, Any], content: dict[str, Any]
) -> Declared:
    """Return the requirements of all groups and extras, as if all were installed."""
    if any(map(_is_art, _table(uv, "sources"))) or "exclude-newer" in uv:
        return Declared()  # another source, or versions of an earlier day
    lists = [
        project.get("dependencies"),
        *_table(project, "optional-dependencies").values(),
        *_table(content, "dependency-groups").values(),
        uv.get("constraint-dependencies"),
        uv.get("override-dependencies"),
        uv.get("dev-dependencies"),
    ]
    python = project.get("requires-python")
    return Declared(
        tuple(each for one in lists for each in _strings(one)),
        python if isinstance(python, str) else None,
    )


def _of_requirements(text: str) -> Declared:
    lines = [
        re.sub(r"(^|\s)#.*", "", line).strip()
        for line in text.replace("\\\n", " ").splitlines()
    ]
    if any(line.startswith(("-r", "-c", "--req", "--con")) for line in lines):
        return Declared()
    named = [
        line.split(" --")[0].strip() for line in lines if line[:1] not in ("", "-")
    ]
    return Declared(tuple(named))


def _is_locked(path: Path) -> bool:
    return any(
        (folder / lock).exists() for folder in path.absolute().parents for lock in LOCKS
    )


def _table(content: object, *keys: str) -> dict[str, Any]:
    for key in keys:
        content = content.get(key) if isinstance(content, dict) else None
    return content if isinstance(content, dict) else {}


def _strings(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else []
    return tuple(each for each in items if isinstance(each, str))


def _at(source: Source, requirement: str, message: str) -> Found:
    """Place the message at the first line that declares the requirement."""
    written = re.compile(rf"(?:[\"']|^\s*){re.escape(requirement)}(?:[\"']|\s|$)")
    for number, line in enumerate(source.lines, 1):
        match = written.search(line)
        if match is not None:
            start = len(line[: line.index(requirement, match.start())].encode())
            end = start + len(requirement.encode())
            return Found(message, number, start, number, end)
    return Found(message, 1, 0, 1, 0)
