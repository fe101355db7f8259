"""Adapt each file of real agents by itself, and take it back: every byte, and every import, must hold.

python tests/corpus/undoing.py SOURCES [ID ...]

SOURCES has one folder an agent, as ``../shared/corpus/get.py`` makes it. For each file that
art-adapt adapts: the tree after ``--undo`` is the tree before, and in between each module
that was edited, or says the name of one, loads in each way in which it loads otherwise
(``tests/ways_of_loading.py``). A package that is installed here as well is loaded from
there in some ways, where its hooks are not: such files say nothing.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import agent_files
import pytest
from agent_files import art_adapt, files_of
from test_loaded_any_way import ways

MOST_LOADED = 20  # modules that say the name of an edited one
MOST_ADAPTED = 6  # files of one agent


def candidates(tree: Path) -> Iterator[Path]:
    for path in sorted(tree.rglob("*.py")):
        data = path.read_bytes()
        if any(word in data for word in (b"completions", b"responses", b"litellm")):
            yield path.relative_to(tree)


def near(tree: Path, before: dict[str, bytes]) -> list[Path]:
    """Return the modules that were edited, and some that say the name of one."""
    edited = [
        tree / name
        for name, data in before.items()
        if name.endswith(".py") and (tree / name).read_bytes() != data
    ]
    names = [path.stem.encode() for path in edited]
    users = [
        tree / name
        for name, data in before.items()
        if name.endswith(".py") and any(stem in data for stem in names)
    ]
    return list(dict.fromkeys([*edited, *users[:MOST_LOADED]]))


def loading(tree: Path, modules: list[Path]) -> dict[str, str]:
    """Load modules in a copy of the tree: an agent may make files when it is imported."""
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / tree.name
        shutil.copytree(tree, copy, symlinks=True)
        return ways(copy, *(copy / module.relative_to(tree) for module in modules))


def tried(source: Path) -> Iterator[str]:
    """Yield a line for each file of an agent that is adapted."""
    with tempfile.TemporaryDirectory() as temporary:
        tree = Path(temporary) / "project"
        shutil.copytree(source, tree, symlinks=True)
        before = files_of(tree)
        adapted = 0
        for file in candidates(tree):
            done = art_adapt("--isolated", "--yes", file, cwd=tree)
            if done.returncode:
                continue
            modules = near(tree, before)
            after = loading(tree, modules)
            undone = art_adapt("--isolated", "--undo", file, cwd=tree)
            left = files_of(tree)
            same = undone.returncode == 0 and left == before
            loaded = loading(tree, modules) if same else {}
            worse = [w for w, said in loaded.items() if not said and after.get(w)]
            wrong = [] if same else [f"left {sorted(left.keys() ^ before.keys())}"]
            wrong += [f"does not load any more: {way}" for way in worse]
            yield f"{'wrong' if wrong else 'right'} {source.name} {file} {'; '.join(wrong)}"
            if not same:
                shutil.rmtree(tree)
                shutil.copytree(source, tree, symlinks=True)
            if (adapted := adapted + 1) == MOST_ADAPTED:
                return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", type=Path)
    parser.add_argument("ids", nargs="*")
    given = parser.parse_args()
    ids = given.ids or sorted(path.name for path in given.sources.iterdir())
    counts = {"right": 0, "wrong": 0}
    for name in ids:
        try:
            for line in tried(given.sources / name):
                counts[line.split()[0]] += 1
                print(line, flush=True)
        except (subprocess.SubprocessError, OSError, pytest.fail.Exception) as error:
            agent_files._server.cache_clear()  # it may be busy with what took too long
            print(f"not tried {name}: {error}", flush=True)
    print(counts)


if __name__ == "__main__":
    main()
