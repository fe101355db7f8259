"""Tells how art-adapt and an agent are installed: from where, and under which Python."""

from __future__ import annotations

import json
import tomllib
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from shlex import quote
from typing import Any
from urllib.parse import unquote, urlsplit

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from art_adapt.code.project_folder import project_root
from art_adapt.paths import shown


def pip_install(extra: str) -> str:
    """Return the command that installs art-adapt with an extra.

    Of an installation from a folder, as a clone, it names that folder.
    """
    noted = _noted() or {}
    url = urlsplit(noted.get("url", ""))
    folder = Path(unquote(url.path))
    if url.scheme != "file" or not folder.is_dir():
        return f"pip install {quote(f'art-adapt[{extra}]')}"
    named = shown(folder)
    named = named if "/" in named else f"./{named}"  # else pip takes it for a package
    editable = "-e " * bool(noted.get("dir_info", {}).get("editable"))
    return f"pip install {editable}{quote(f'{named}[{extra}]')}"


def is_from_a_folder() -> bool:
    """True if this art-adapt was installed from a folder, such as a clone, and no index."""
    return _noted() is not None


def refused_python(module: Path, version: str) -> str | None:
    """Return what an agent's pyproject.toml requires of Python, if that leaves a version out."""
    file = project_root(module.resolve()) / "pyproject.toml"
    with suppress(OSError, ValueError, InvalidSpecifier):
        project = tomllib.loads(file.read_text("utf-8")).get("project", {})
        wanted = str(project.get("requires-python", ""))
        return None if SpecifierSet(wanted).contains(f"{version}.9") else wanted
    return None


def _noted() -> dict[str, Any] | None:
    """Return what pip notes of an installation that came from no index (PEP 610)."""
    try:
        said = distribution("art-adapt").read_text("direct_url.json")
    except PackageNotFoundError:  # it runs from its source
        return {}
    noted: dict[str, Any] | None = None if said is None else json.loads(said)
    return noted
