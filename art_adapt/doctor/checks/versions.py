"""Whether what a train module runs with is installed, in the versions that work."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib import metadata

from packaging.requirements import Requirement

from art_adapt.doctor.finding import Finding, Setup, failed, ok
from art_adapt.installing import pip_install


def check(setup: Setup) -> Iterator[Finding]:
    wrong = [
        said for line in metadata.requires("art-adapt") or () if (said := _wrong(line))
    ]
    versions = f"Python {platform.python_version()}, ART {_version('openpipe-art')}"
    if wrong:
        remedy = f"run {pip_install('train')}"
        yield failed("versions", f"{versions}; {', '.join(wrong)}", remedy)
    else:
        yield ok("versions", f"{versions}, openai {_version('openai')}")


def _wrong(line: str) -> str | None:
    """Say what does not meet a requirement of ``art-adapt[train]``."""
    wanted = Requirement(line)
    if wanted.marker is None or not wanted.marker.evaluate({"extra": "train"}):
        return None
    found = _version(wanted.name)
    if found is not None and wanted.specifier.contains(found, prereleases=True):
        return None
    return f"{wanted.name} {found or 'is missing'}, wanted {wanted.specifier or 'any'}"


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
