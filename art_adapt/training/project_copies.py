"""Gives an episode's process a copy of the project's folder, so that no other sees its files.

The process imports the project's modules anew: ``__file__`` and the working folder lead into
the copy, a database beside a module is the copy's. Their code still says the files of the
project, so that tracebacks and places in reports are those that you can open.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from typing import Any

from art_adapt.folders import SKIPPED, VIRTUAL_ENVIRONMENT
from art_adapt.recording import RecordingError
from art_adapt.recording.installed import is_installed
from art_adapt.training.importing import Finder

LARGEST = 64_000_000  # bytes of a file; a larger one is shared: a model, a data set
MOST = 10_000  # files of a copy
MOST_BYTES = 512_000_000


@dataclass(frozen=True)
class Copy:
    """A copy of a project's folder, for one episode."""

    project: Path
    folder: Path

    def inside(self, path: str) -> str:
        """Return the path in the copy of what it holds of the project; any other as it is."""
        if is_installed(path):
            return path
        below = _below(path, self.project)
        is_held = below is not None and SKIPPED.isdisjoint(below.parts)
        return f"{self.folder / below}" if below is not None and is_held else path

    def outside(self, path: str) -> str:
        """Return the path in the project of one in the copy; any other path as it is."""
        below = _below(path, self.folder)
        return path if below is None else f"{self.project / below}"


def _below(path: str, folder: Path) -> Path | None:
    is_below = Path(path).is_relative_to(folder)
    return Path(path).relative_to(folder) if is_below else None


def fill(copy: Copy) -> None:
    """Copy a project's files. What is installed, built or large is linked.

    Raises:
        RecordingError: the folder holds more than a project does.
    """
    left = _Left(MOST, MOST_BYTES)
    _fill(copy.project, copy.folder, left)
    if left.files < 0 or left.bytes < 0:
        raise RecordingError(
            f"{copy.project} is too large to copy for each episode: more than {MOST:,} files "
            f"or {MOST_BYTES // 1_000_000} MB. Set FOLDER in the train module to the folder "
            "that holds the agent and its data"
        )


@dataclass
class _Left:
    """How many files and bytes a copy may still take."""

    files: int
    bytes: int


def _fill(source: Path, target: Path, left: _Left) -> None:
    with os.scandir(source) as entries:
        for entry in entries:
            if left.files < 0 or left.bytes < 0:
                return
            into = target / entry.name
            if entry.is_symlink() or _is_shared(entry):
                into.symlink_to(entry.path)
            elif entry.is_dir():
                into.mkdir()
                _fill(Path(entry.path), into, left)
            elif entry.is_file():
                left.files -= 1
                left.bytes -= entry.stat().st_size
                try:
                    shutil.copy2(entry.path, into)
                except PermissionError:
                    into.symlink_to(entry.path)  # as the agent finds it: not to be read


def _is_shared(entry: os.DirEntry[str]) -> bool:
    """True if a folder or file is not of one episode: an environment, a build, large data."""
    if entry.is_dir():
        return entry.name in SKIPPED or Path(entry.path, VIRTUAL_ENVIRONMENT).exists()
    return entry.is_file() and entry.stat().st_size > LARGEST


def work_in(copy: Copy, started_as: Mapping[str, Any]) -> None:
    """Make this process work in a copy, as one that was started there.

    Modules of the project that it has imported are forgotten. ``started_as``: what
    ``multiprocessing.spawn.get_preparation_data`` says of the process that trains.
    """
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file is not None and copy.inside(file) != file and name != "__main__":
            del sys.modules[name]
    for name, value in os.environ.items():
        os.environ[name] = os.pathsep.join(map(copy.inside, value.split(os.pathsep)))
    sys.path[:] = map(copy.inside, started_as["sys_path"])
    sys.path_importer_cache.clear()
    sys.meta_path.insert(0, _Finder(copy))
    with suppress(FileNotFoundError):  # the folder may be gone
        os.chdir(copy.inside(started_as["dir"]))
    main = _main_of(started_as, copy)
    if main is not None and copy.outside(main.origin or "") != main.origin:
        _run_as_main(main)


def _main_of(started_as: Mapping[str, Any], copy: Copy) -> ModuleSpec | None:
    """Return where the main module of the process that trains is found now."""
    if "init_main_from_name" in started_as:
        return importlib.util.find_spec(started_as["init_main_from_name"])
    if "init_main_from_path" not in started_as:
        return None
    file = started_as["init_main_from_path"]
    loader = SourceFileLoader("__mp_main__", file)
    return importlib.util.spec_from_file_location(
        "__mp_main__", copy.inside(file), loader=loader
    )


def _run_as_main(spec: ModuleSpec) -> None:
    """Import the main module, but for what stands under its guard: that starts a training run."""
    assert isinstance(spec.loader, SourceFileLoader)
    code = spec.loader.get_code(spec.name)
    assert code is not None
    module = importlib.util.module_from_spec(spec)
    module.__name__ = "__mp_main__"
    sys.modules["__main__"] = sys.modules["__mp_main__"] = module
    exec(code, vars(module))


class _Finder(Finder):
    """Lets code of modules in the copy say where it is from, and takes its bytecode there."""

    def __init__(self, copy: Copy) -> None:
        self._copy = copy

    def loader(self, usual: SourceFileLoader) -> SourceFileLoader:
        return SourceFileLoader(usual.name, self._copy.outside(usual.path))
