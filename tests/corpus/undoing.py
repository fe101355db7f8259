"""Adapt each file of real agents by itself, and take it back: every byte, and every import, must hold.

python tests/corpus/undoing.py SOURCES [ID ...]

SOURCES has one folder an agent, as ``../shared/corpus/get.py`` makes it. For each file that
art-adapt adapts: the tree after ``--undo`` is the tree before, and in between each module of
the tree loads in each way in which it loaded before (``tests/ways_of_loading.py``).
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

from agent_files import art_adapt
from test_loaded_any_way import ways

MOST_LOADED = 150  # files of a tree whose imports are tried


def contents(tree: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(tree)): path.read_bytes()
        for path in tree.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def candidates(tree: Path) -> Iterator[Path]:
    for path in sorted(tree.rglob("*.py")):
        data = path.read_bytes()
        if any(word in data for word in (b"completions", b"responses", b"litellm")):
            yield path.relative_to(tree)


def tried(source: Path) -> Iterator[str]:
    """Yield a line for each file of an agent that is adapted."""
    with tempfile.TemporaryDirectory() as temporary:
        tree = Path(temporary) / "project"
        shutil.copytree(source, tree, symlinks=True)
        before = contents(tree)
        loads = len(list(tree.rglob("*.py"))) <= MOST_LOADED
        loaded = ways(tree) if loads else {}
        for file in candidates(tree):
            done = art_adapt("--isolated", "--yes", file, cwd=tree)
            if done.returncode:
                continue
            worse = []
            if loads:
                after = ways(tree)
                worse = [w for w, said in loaded.items() if not said and after.get(w)]
            undone = art_adapt("--isolated", "--undo", file, cwd=tree)
            left = contents(tree)
            same = undone.returncode == 0 and left == before
            wrong = [] if same else [f"left {sorted(left.keys() ^ before.keys())}"]
            wrong += [f"does not load any more: {way}" for way in worse]
            yield f"{'wrong' if wrong else 'right'} {source.name} {file} {'; '.join(wrong)}"
            if not same:
                shutil.rmtree(tree)
                shutil.copytree(source, tree, symlinks=True)


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
        except (subprocess.SubprocessError, OSError) as error:
            print(f"not tried {name}: {error}", flush=True)
    print(counts)


if __name__ == "__main__":
    main()
