"""Find the commands with which a project says that it runs its agent.

A README, a Makefile or a Dockerfile names them as they are typed; ``[project.scripts]`` names
what an installed project has; a file with a ``__main__`` block runs itself, and tests run it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice, takewhile
from pathlib import Path

from art_adapt.code.command_line import needs_arguments, reads_arguments
from art_adapt.code.packages import package_depth, package_of
from art_adapt.code.project_folder import project_root, python_files, root_around
from art_adapt.code.syntax import Syntax
from art_adapt.errors import Refusal
from art_adapt.pyproject import read_toml
from art_adapt.source import read_source

MOST = 4
LARGEST = 200_000  # bytes of a file that is searched
SAYING = ("README*", "Makefile", "Dockerfile", "docs/*.md")
OWN = "art-adapt"
RUNNERS = ("python", "python3", "uv", "poetry", "pdm", "uvicorn", "streamlit", "pytest")
LEADING = re.compile(r"^\s*(?:[$>@-]\s*|RUN\s+|CMD\s+|ENTRYPOINT\s+)*")
CODE = re.compile(r"    |\t|\s*[$>] ")  # a line that is indented, or after a prompt
CD = re.compile(r"cd ([\w./-]+)(?:\s*&&\s*|\s*;\s*|$)")
SET = re.compile(r"[A-Za-z_]\w*=.*")  # a variable before a command
OPEN = re.compile(r"[<>{}\[\]|]|\.\.\.|\bYOUR_|\$")  # what its reader has to fill in


def commands_of(agent: Path) -> list[str]:
    """Return command lines that run an agent, the likeliest first; none may be known."""
    root = project_root(agent.resolve())
    found = list(_scripts(root))
    scripts = {name: words for name, words, _ in found}
    around = dict.fromkeys((root, root_around(agent.resolve())))
    said = [each for folder in around for each in _said(agent, folder, root, scripts)]
    own = (shlex.join(words) for _, words, is_whole in found if is_whole)
    alone = () if said else (_from(root, each) for each in own)
    every = (*said, *alone, *_own(agent), *_tests(agent, root))
    return sorted(islice(dict.fromkeys(every), MOST), key=_is_absent)


def _is_absent(line: str) -> bool:
    """True if this machine has no program with which a line begins, such as ``uv``."""
    _, words = as_typed(line)
    program = next(each for each in words if each != "env" and not SET.fullmatch(each))
    return shutil.which(program) is None


def as_typed(line: str) -> tuple[Path, list[str]]:
    """Return the words of a command line, and the folder in which they are run.

    ``cd FOLDER &&`` and ``NAME=value`` may stand before them, as in a shell.

    Raises:
        ValueError: a quotation is not closed.
    """
    folder, words = Path(), shlex.split(line)
    while len(words) > 3 and words[0] == "cd" and words[2] == "&&":
        folder, words = folder / words[1], words[3:]
    is_set = bool(words) and SET.fullmatch(words[0]) is not None
    return folder, [*["env"] * is_set, *words]


def _from(folder: Path, command: str) -> str:
    """Return the line that runs a command in a folder."""
    there = os.path.relpath(folder)
    return command if there == "." else f"cd {shlex.quote(there)} && {command}"


def _said(
    agent: Path, folder: Path, root: Path, scripts: Mapping[str, list[str]]
) -> Iterator[str]:
    """Yield lines of a folder's documents that run the agent's file, module or script.

    So do those that run a file beside it which imports it, as the module of a web application.
    A line is run where its file is: in a folder that was entered before, as with ``cd backend``,
    in the one of the document, the project's, or the agent's own.
    """
    names: set[str] = set()
    near = (folder, root, agent.resolve().parent)
    for file in (agent.resolve(), *_importing(agent.resolve())):
        names.add(file.name)
        for each in near:
            relative = Path(os.path.relpath(file, each))
            names |= {relative.as_posix(), ".".join(relative.with_suffix("").parts)}
            if relative.parent.parts and (file.parent / "__main__.py").is_file():
                names.add(".".join(relative.parent.parts))  # python -m package
    for line, entered, is_code in _lines(folder):
        found = _command(line, names, scripts if is_code else {})
        if found is not None:
            command, named = found
            yield _from(_where(named, (entered, *near), root), command)


def _lines(folder: Path) -> Iterator[tuple[str, Path, bool]]:
    """Yield what the documents of a folder say, line by line, and what stands in backticks there.

    With each comes the folder that a line before it has entered, and whether it is code.
    """
    documents = (file for each in SAYING for file in sorted(folder.glob(each)))
    for file in documents:
        if not file.is_file() or file.stat().st_size > LARGEST:
            continue
        is_fenced, entered = False, folder
        text = file.read_text(encoding="utf-8", errors="replace")
        for line in text.splitlines():
            if line.lstrip().startswith("```"):
                is_fenced, entered = not is_fenced, folder
            is_code = is_fenced or CODE.match(line) is not None
            for part in (line, *line.split("`")[1::2]):
                bare = LEADING.sub("", part).strip().strip("`")
                while (moved := CD.match(bare)) is not None:
                    entered /= moved[1]
                    bare = bare[moved.end() :]
                yield bare, entered, is_code or part is not line


def _where(named: str, folders: Sequence[Path], root: Path) -> Path:
    """Return the first folder that has a file or module; the project's for its own commands."""
    module = named.replace(".", "/")
    for folder in folders if named else ():
        paths = (named, f"{module}.py", f"{module}/__main__.py")
        if any((folder / each).is_file() for each in paths):
            return folder
    return root


def _importing(agent: Path) -> Iterator[Path]:
    """Yield the files beside an agent that import it by its name."""
    for path in sorted(agent.parent.glob("*.py")):
        is_other = path != agent and not path.name.startswith("test_")
        if is_other and _imports(path, agent.stem):
            yield path


def _imports(path: Path, stem: str) -> bool:
    with suppress(Refusal, OSError):  # a folder, or a link to nothing
        if stem.encode() not in path.read_bytes():
            return False
        imports = Syntax.of(read_source(path)).imports.values()
        return any(stem in (i.module.rpartition(".")[2], i.attribute) for i in imports)
    return False


def _command(
    line: str, names: set[str], scripts: Mapping[str, list[str]]
) -> tuple[str, str] | None:
    """Return the command of a line, and the file or module that it runs; "" of a script."""
    if line.startswith("[") and line.endswith("]"):  # of a Dockerfile
        try:
            line = shlex.join(map(str, json.loads(line)))
        except ValueError:
            return None
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return None
    variables = list(takewhile(SET.fullmatch, words))
    run = words[len(variables) :]
    if not run or "install" in run or OPEN.search(line) or OWN in run:
        return None
    if run[0] in scripts and len(run) > 1:
        words = [*["env"] * bool(variables), *variables, *scripts[run[0]], *run[1:]]
        return shlex.join(words), ""
    if run[0] not in RUNNERS:
        return None
    told = (word.partition(":")[0] for word in run[1:])
    named = next((each for each in told if each in names), None)
    if named is None:
        return None
    return shlex.join([*["env"] * bool(variables), *words]), named


def _scripts(root: Path) -> Iterator[tuple[str, list[str], bool]]:
    """Yield the project's commands, with what runs each: itself, or its package if not installed.

    And whether that is a whole command line: argparse may need arguments that nobody has said.
    """
    file = root / "pyproject.toml"
    try:
        scripts = read_toml(file).get("project", {}).get("scripts", {})
    except Refusal:
        return
    for name, target in scripts.items():
        module, _, function = str(target).partition("[")[0].strip().partition(":")
        package, top = module.partition(".")[0], function.partition(".")[0]
        for folder, before in ((root, []), (root / "src", ["env", "PYTHONPATH=src"])):
            file = folder.joinpath(*module.split(".")).with_suffix(".py")
            main = folder / package / "__main__.py"
            is_whole = not any(_needs_arguments(each) for each in (file, main))
            if shutil.which(name):
                yield name, [name], is_whole
            elif main.is_file():
                yield name, [*before, python(), "-m", package], is_whole
            elif top and file.is_file():
                call = f"from {module} import {top}; {function}()"
                yield name, [*before, python(), "-c", call], is_whole


def _needs_arguments(file: Path) -> bool:
    with suppress(Refusal):
        return file.is_file() and needs_arguments(Syntax.of(read_source(file)))
    return False


def _own(agent: Path) -> Iterator[str]:
    """Yield the run of a file that runs itself, if its command line need say nothing."""
    try:
        syntax = Syntax.of(read_source(agent))
    except Refusal:
        return
    guarded = any(syntax.is_guarded(node) for node in syntax.nodes)
    if not guarded or any(reads_arguments(syntax, node) for node in syntax.nodes):
        return
    if not any(each.level for each in syntax.imports.values()):
        yield shlex.join([python(), os.path.relpath(agent)])
        return
    package = package_of(syntax)  # as a file it could not import relatively
    folder = os.path.relpath(agent.resolve().parents[package_depth(package)])
    path = [] if folder == "." else ["env", f"PYTHONPATH={folder}"]
    yield shlex.join([*path, python(), "-m", f"{package}.{agent.stem}"])


def _tests(agent: Path, root: Path) -> Iterator[str]:
    for path in python_files(root):
        if path.name.startswith("test_") and _imports(path, agent.stem):
            yield shlex.join([python(), "-m", "pytest", os.path.relpath(path)])


def python() -> str:
    """Return the Python that the user's shell would run."""
    return "python" if shutil.which("python") else sys.executable
