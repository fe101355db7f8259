"""Tells generated files that nobody has edited by a hash in their first line."""

from __future__ import annotations

import hashlib
import re

SEAL = re.compile(rb"# Written by art-adapt [\w.]+ \(([0-9a-f]{12})\)[^\n]*\n")


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
