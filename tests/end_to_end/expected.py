"""Writes what every fixture agent becomes into its ``adapted`` folder: read the diff before you commit it.

python tests/end_to_end/expected.py
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from agent_files import AGENTS, NAMES, agent_file, art_adapt, copy_of

from art_adapt import hooks_file


def adapted_files(name: str, into: Path) -> dict[str, bytes]:
    """The files that adapting a fixture changes or writes, by path; the hooks file is the same for all,
    and train modules have expected files of their own (tests/train_module)."""
    folder = copy_of(name, into)
    before = {path: path.read_bytes() for path in folder.rglob("*.py")}
    done = art_adapt("--isolated", agent_file(folder).relative_to(folder), cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*.py"))
        if path.name != hooks_file.NAME
        and not path.name.endswith("_train.py")
        and before.get(path) != path.read_bytes()
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        for name in NAMES:
            target = AGENTS / name / "adapted"
            shutil.rmtree(target, ignore_errors=True)
            for path, data in adapted_files(name, Path(temporary)).items():
                (target / path).parent.mkdir(parents=True, exist_ok=True)
                (target / path).write_bytes(data)


if __name__ == "__main__":
    main()
