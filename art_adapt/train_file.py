"""The train module as a file: where it lies, and whether somebody has edited it.

A hash in its first line tells.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

ENDING = "_train.py"
SEAL = re.compile(rb"# Written by art-adapt [\w.]+ \(([0-9a-f]{12})\)[^\n]*\n")


def train_module_path(agent: Path) -> Path:
    """Return ``agent_train.py`` for ``agent.py``."""
    return agent.with_name(f"{agent.stem}{ENDING}")


def agent_path(train_module: Path) -> Path:
    """Return ``agent.py`` for ``agent_train.py``; another file is its own."""
    return train_module.with_name(
        f"{train_module.name.removesuffix(ENDING).removesuffix('.py')}.py"
    )


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
        f"# Written by art-adapt {version} ({digest}). Yours to edit: then it stays as it is.\n".encode()
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


def is_former(data: bytes) -> bool:
    """Tell whether an older art-adapt wrote ``data`` for the recorder that it copied."""
    return SEAL.match(data) is not None and b"art_recording.rollout(" in data
