"""Tells how somebody installs an extra of art-adapt: from where this one came."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from shlex import quote
from urllib.parse import unquote, urlsplit

from art_adapt.paths import shown


def pip_install(extra: str) -> str:
    """Return the command that installs art-adapt with an extra.

    Of an installation from a folder, as a clone, it names that folder (PEP 610).
    """
    try:
        said = json.loads(
            distribution("art-adapt").read_text("direct_url.json") or "{}"
        )
    except (PackageNotFoundError, ValueError):
        said = {}
    url = urlsplit(said.get("url", ""))
    folder = Path(unquote(url.path))
    if url.scheme != "file" or not folder.is_dir():
        return f"pip install {quote(f'art-adapt[{extra}]')}"
    named = shown(folder)
    named = named if "/" in named else f"./{named}"  # else pip takes it for a package
    editable = "-e " * bool(said.get("dir_info", {}).get("editable"))
    return f"pip install {editable}{quote(f'{named}[{extra}]')}"
