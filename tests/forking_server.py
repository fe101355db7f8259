"""Runs ``main()`` of a module, each time in a process forked from this one.

``forked`` of ``agent_files.py`` talks to it: a line of JSON for each run, with its folder,
arguments, environment and input; its answer is a line of JSON, too. Bytes are Latin-1 in
them. The arguments are the names of modules to import; the last one is run. Importing
openai, libcst or art takes more time than everything else in most tests.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
import traceback
from typing import Any


def run(module: Any, asked: dict[str, Any]) -> dict[str, Any]:
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as errors,
    ):
        given.write(asked.get("input", "").encode("latin-1"))
        given.seek(0)
        child = os.fork()
        if child == 0:
            files = (given.fileno(), out.fileno(), errors.fileno())
            _become(module, asked, files)
        _, status = os.waitpid(child, 0)
        said = {}
        for name, file in (("output", out), ("errors", errors)):
            file.seek(0)
            said[name] = file.read().decode("latin-1")
        return {"status": os.waitstatus_to_exitcode(status), **said}


def _become(module: Any, asked: dict[str, Any], files: tuple[int, int, int]) -> None:
    """Be the process that running the module would be; never returns."""
    status = 1
    try:
        for number, file in enumerate(files):
            os.dup2(file, number)
        os.environ.clear()
        os.environ.update(asked["environment"])
        os.chdir(asked["folder"])
        sys.path[:0] = [asked["folder"]]
        sys.dont_write_bytecode = True
        sys.argv = asked["arguments"]
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
        module.main()
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(bool(ended.code))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def main() -> None:
    *_, module = map(importlib.import_module, sys.argv[1:])
    for line in sys.stdin:
        answer = run(module, json.loads(line))
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
