"""Lets an episode's process work in a copy of the project's folder, so that no other sees its files.

The process imports the project's modules anew: ``__file__`` and the working folder lead into
the copy, a database beside a module is the copy's. Their code still says the files of the
project, so that tracebacks and places in reports are those that you can open.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from art_adapt.project_copy import MOST, MOST_BYTES, Copy, TooLarge, fill
from art_adapt.recording import RecordingError
from art_adapt.recording.installed import is_installed
from art_adapt.training.importing import Finder

TEMPORARY = "temporary"  # beside the folder of a copy


def filled(copy: Copy) -> None:
    """Copy a project's files for an episode.

    Raises:
        RecordingError: the folder holds more than a project does.
    """
    try:
        fill(copy)
    except TooLarge:
        raise RecordingError(
            f"{copy.project} is too large to copy for each episode: more than {MOST:,} files "
            f"or {MOST_BYTES // 1_000_000} MB. Set FOLDER in the train module to the folder "
            "that holds the agent and its data"
        ) from None


def work_in(copy: Copy, started_as: Mapping[str, Any]) -> None:
    """Make this process work in a copy, as one that was started there.

    Modules of the project that it has imported are forgotten. ``started_as``: what
    ``multiprocessing.spawn.get_preparation_data`` says of the process that trains.
    """
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file is None or is_installed(file) or name == "__main__":
            continue
        if copy.inside(file) != file:
            del sys.modules[name]
    os.environ.update(copy.environment(os.environ))
    _have_own_temporary_files(copy.folder.parent.with_name(TEMPORARY))
    sys.path[:] = map(copy.inside, started_as["sys_path"])
    sys.path_importer_cache.clear()
    sys.meta_path.insert(0, _InCopy(copy))
    with suppress(FileNotFoundError):  # the folder may be gone
        os.chdir(copy.inside(started_as["dir"]))
    if "init_main_from_name" in started_as:
        _run_as_main(importlib.util.find_spec(started_as["init_main_from_name"]), copy)
    elif (file := started_as.get("init_main_from_path")) is not None:
        inside = copy.inside(file)
        loader = _Loader("__mp_main__", inside, copy.outside(inside))
        spec = importlib.util.spec_from_file_location(
            "__mp_main__", inside, loader=loader
        )
        main = _run_as_main(spec, copy)
        if main is not None:
            main.__spec__ = None  # as of a script: its processes start by path


def _have_own_temporary_files(folder: Path) -> None:
    """Let this process, and those that it starts, write temporary files where no other looks.

    An agent that names such a file itself, after its task, would share it with its group.
    """
    folder.mkdir(exist_ok=True)
    os.environ.update(dict.fromkeys(("TMPDIR", "TEMP", "TMP"), f"{folder}"))
    tempfile.tempdir = None  # it is looked up again


def _run_as_main(spec: ModuleSpec | None, copy: Copy) -> ModuleType | None:
    """Import the main module, but for what stands under its guard: that starts a training run.

    None: it is not of the project.
    """
    loader = None if spec is None else spec.loader
    if spec is None or not isinstance(loader, _Loader):
        return None
    code = loader.get_code(spec.name)
    module = importlib.util.module_from_spec(spec)
    module.__name__ = "__mp_main__"
    sys.modules["__main__"] = sys.modules["__mp_main__"] = module
    exec(code, vars(module))
    return module


class _InCopy(Finder):
    """Finds modules of the project in its copy, also those that are installed as editable."""

    def __init__(self, copy: Copy) -> None:
        self._copy = copy

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        found = super().find_spec(fullname, path, target)
        if found is not None and found.origin is not None and found.has_location:
            found.origin = self._copy.inside(found.origin)
            folders = found.submodule_search_locations
            if folders is not None:
                found.submodule_search_locations = [*map(self._copy.inside, folders)]
        return found

    def loader(self, usual: SourceFileLoader) -> SourceFileLoader:
        inside = self._copy.inside(usual.path)
        outside = self._copy.outside(inside)
        return usual if outside == inside else _Loader(usual.name, inside, outside)


class _Loader(SourceFileLoader):
    """Loads a module of the copy, whose code says that it is of the project's file."""

    def __init__(self, name: str, path: str, code_file: str) -> None:
        super().__init__(name, path)
        self.code_file = code_file

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.code_file)
