"""Whether the disk, and the number of open files, are enough."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from art_adapt.doctor.finding import Finding, Setup, failed, note, ok
from art_adapt.doctor.weights import gigabytes_of
from art_adapt.rehearsal.cost import BYTES, weights_of
from art_adapt.training.plan import gpus_of

GIGA = 1e9
OTHERS = 256  # files that a process has open besides those of its episodes
FILES = 8  # that an episode may have open: connections of its own and of its tools


def check(setup: Setup) -> Iterator[Finding]:
    yield from _open_files(setup.settings.get("CONCURRENCY", 1))
    if setup.is_local:
        yield from _disk(setup)
        yield from _memory(setup)


def _disk(setup: Setup) -> Iterator[Finding]:
    total, _ = weights_of(str(setup.settings["BASE_MODEL"]))
    folder, free = free_at(Path(os.environ.get("HF_HOME") or Path.home()))
    needed = 10 + (total or 0) * BYTES
    if free < needed:
        what = (
            f"{folder} needs {needed:.0f} GB for the base model, and has {free:.0f} GB"
        )
        remedy = "make room there, or set HF_HOME to a larger disk"
        yield failed("disk", what, remedy)
    else:
        yield ok(
            "disk",
            f"{free:.0f} GB free; the base model takes {needed - 10:.0f}",
        )


def free_at(path: Path) -> tuple[Path, float]:
    """Return the nearest folder of ``path`` that exists, and the gigabytes that are free there."""
    path = path.absolute()
    folder = next(each for each in (path, *path.parents) if each.exists())
    return folder, shutil.disk_usage(folder).free / GIGA


def _memory(setup: Setup) -> Iterator[Finding]:
    """Say whether the host holds the weights while vLLM sleeps, and ART trains on its GPU."""
    needed = gigabytes_of(str(setup.settings["BASE_MODEL"]))
    if needed is None or gpus_of(setup.settings) > 1 or not hasattr(os, "sysconf"):
        return
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIGA
    if there < needed:
        yield note(
            "RAM",
            f"{there:.0f} GB here, but {needed:.0f} GB of weights move there while vLLM sleeps "
            "(ART's enable_sleep_mode)",
            "use a machine with more memory, or a smaller model",
        )


def _open_files(concurrency: int) -> Iterator[Finding]:
    try:
        import resource
    except ImportError:  # Windows
        return
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = OTHERS + FILES * concurrency
    if soft != resource.RLIM_INFINITY and soft < needed:
        what = (
            f"at most {soft} may be open, but {concurrency} episodes may need {needed}"
        )
        yield note(
            "files", what, f"run ulimit -n {needed}, or set a smaller CONCURRENCY"
        )
    else:
        yield ok(
            "files",
            f"the limit of open files is enough for {concurrency} concurrent episodes",
        )
