"""Load modules in each way that Python has, and say which ways work.

``python ways_of_loading.py ROOT [FILE ...]`` prints one JSON object: for each of the files,
all Python files below ROOT where none is named, and each way, "" where it loads, else what
was raised.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import runpy
import sys
import warnings
from pathlib import Path


def script(file: Path, root: Path) -> None:
    sys.path.insert(0, str(file.parent))
    runpy.run_path(str(file), run_name="loaded_as_a_script")


def neighbour(file: Path, root: Path) -> None:
    _imported(file, file.parent)


def from_root(file: Path, root: Path) -> None:
    _imported(file, root)


def from_above(file: Path, root: Path) -> None:
    _imported(file, root.parent)


WAYS = (script, neighbour, from_root, from_above)


def _imported(file: Path, start: Path) -> None:
    sys.path.insert(0, str(start))
    parts = file.relative_to(start).with_suffix("").parts
    importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))


def _tried(way: object, file: Path, root: Path) -> str:
    """Return what came of a way, tried in a process forked from this one."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        os.close(reading)
        said = ""
        try:
            os.chdir(root)
            sys.stdin = io.StringIO()
            with contextlib.redirect_stdout(io.StringIO()):
                way(file, root)  # type: ignore[operator]
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode()[:4000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


def main(root: Path, files: list[Path]) -> None:
    for name in ("openai", "openai.types.chat", "pydantic", "requests"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    warnings.simplefilter("ignore")
    sys.stderr = io.StringIO()
    sys.path.pop(0)  # this file's folder
    found = {
        f"{file.relative_to(root)} {way.__name__}": _tried(way, file, root)
        for file in files or sorted(root.rglob("*.py"))
        if not file.name.endswith(("_train.py", "art_recording.py"))
        for way in WAYS
    }
    print(json.dumps(found))


if __name__ == "__main__":
    top, *named = (Path(name).resolve() for name in sys.argv[1:])
    main(top, named)
