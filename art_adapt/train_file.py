"""The train module as a file: where it lies, how it is imported, whether somebody has edited it.

A hash in its first line tells.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from art_adapt.code.packages import WRITTEN, package_depth, package_of
from art_adapt.code.syntax import Syntax
from art_adapt.errors import Refusal
from art_adapt.source import read_source

ENDING = "_train.py"
SEAL = re.compile(WRITTEN + rb"[\w.]+ \(([0-9a-f]{12})\)[^\n]*\n")


def train_module_path(agent: Path) -> Path:
    """Return ``agent_train.py`` for ``agent.py``."""
    return agent.with_name(f"{agent.stem}{ENDING}")


def agent_path(train_module: Path) -> Path:
    """Return ``agent.py`` for ``agent_train.py``; another file is its own."""
    return train_module.with_name(
        f"{train_module.name.removesuffix(ENDING).removesuffix('.py')}.py"
    )


def import_name(path: Path) -> tuple[Path, str]:
    """Return the folder to import a train module from, and its dotted name.

    A train module that imports its agent relatively is in the agent's package, as is one that
    does not import its agent: a function in another file makes it.
    """
    path = path.absolute()  # a name alone has no folder above its own
    try:
        module = Syntax.of(read_source(path))
        named = agent_path(path)
        beside = [path.with_name(f"{n}.py") for n in _imported_beside(module)]
        # The file that it is named after tells more of the package than another part of it.
        beside.sort(key=lambda file: file != named)
        agent = next((file for file in beside if file.is_file()), None)
        if agent is not None:
            package = package_of(Syntax.of(read_source(agent))) or path.parent.name
            return path.parents[package_depth(package)], f"{package}.{path.stem}"
        if named != path and named.is_file() and named.stem not in _imported(module):
            package = package_of(Syntax.of(read_source(named)))
            if package:
                return path.parents[package_depth(package)], f"{package}.{path.stem}"
    except Refusal:
        pass  # whoever imports it will see what is wrong with it
    return path.parent, path.stem


def _imported(module: Syntax) -> set[str]:
    """Return the modules that a file imports by their whole names."""
    return {each.module for each in module.imports.values() if not each.level}


def _imported_beside(module: Syntax) -> Iterator[str]:
    """Yield the modules that a train module imports from its own package."""
    for imported in module.imports.values():
        if imported.level == 1 and imported.module:
            yield imported.module
    for node in module.nodes:
        if isinstance(node, ast.Call) and len(node.args) == 2:
            name = node.args[0]  # import_module(".1-agent", __package__)
            if isinstance(name, ast.Constant) and str(name.value).startswith("."):
                yield str(name.value)[1:]


def standing_module(agent: Path) -> bytes | None:
    """Return the train module beside an agent; None without one of art-adapt's."""
    path = train_module_path(agent)
    data = path.read_bytes() if path.is_file() else b""
    return data if has_seal(data) else None


def sealed(body: str, version: str) -> bytes:
    """Return the file's bytes: a first line that names its maker, then ``body``."""
    data = body.encode()
    digest = hashlib.sha256(data).hexdigest()[:12]
    return (
        f"# Written by art-adapt {version} ({digest}). Yours to edit: art-adapt keeps your edits.\n".encode()
        + data
    )


def has_seal(data: bytes) -> bool:
    """Tell whether art-adapt has written ``data``, whoever has edited it since."""
    return SEAL.match(data) is not None


def is_untouched(data: bytes) -> bool:
    """Tell whether ``data`` is a sealed file as it was written."""
    data = data.replace(b"\r\n", b"\n")  # git may have changed the line endings
    match = SEAL.match(data)
    return (
        match is not None
        and hashlib.sha256(data[match.end() :]).hexdigest()[:12].encode() == match[1]
    )


def is_made_of(data: bytes, content: bytes) -> bool:
    """Tell whether a sealed file, whoever has edited it since, was written with this content."""
    seals = [SEAL.match(each) for each in (data, content)]
    digests = {seal and seal[1] for seal in seals}
    return len(digests) == 1 and None not in digests


def is_former(data: bytes) -> bool:
    """Tell whether an older art-adapt wrote ``data`` for the recorder that it copied."""
    return SEAL.match(data) is not None and b"art_recording.rollout(" in data
