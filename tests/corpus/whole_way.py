"""Takes the agents of ../shared/corpus that can run offline the whole way: adapted, then rehearsed, unedited.

python tests/corpus/whole_way.py --sources DIR --art-adapt PATH [--watch] [--out FILE] [--options '--isolate process'] [--rehearse '--stub NAME'] [ID ...]

PATH is the art-adapt of an environment that has what the agents import. The rows of
scenarios.jsonl are made from the types of the Scenario's fields; --rows FILE gives others
instead (one JSON object, {ID: [row, ...]}). With --watch, the corpus's driver of each agent
is run first while art-adapt listens, and the rows are those that it wrote. Prints a line per
agent: what adapting or the rehearsal ended with, and how many pass.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from agents import CORPUS, source_root
from run_agent import constants  # of CORPUS
from run_agent import run as run_driver

ROWS = 8
LIMIT = 240  # seconds for adapting, and for a rehearsal


def sample(annotation: str, name: str, number: int) -> Any:
    """A value of a field's type: each row has another one where the type allows it."""
    plain = annotation.partition("|")[0].strip()
    if plain.startswith("Literal["):
        return ast.literal_eval(plain[len("Literal") :])[0]
    if plain.startswith("list[dict") or (plain == "list" and "messages" in name):
        return [{"role": "user", "content": f"Please look into case {number}."}]
    if plain.startswith(("list", "tuple", "Sequence")):
        return [f"case {number}"]
    if plain.startswith(("dict", "Mapping")):
        return {"case": number}
    values = {"int": number + 1, "float": number + 0.5, "bool": bool(number % 2)}
    return values.get(plain, f"Please look into case {number}.")


def rows_for(module: Path) -> list[dict[str, Any]]:
    """Rows for the required fields of the Scenario of a train module."""
    fields = [
        (statement.target.id, ast.unparse(statement.annotation))
        for node in ast.parse(module.read_text()).body
        if isinstance(node, ast.ClassDef) and node.name == "Scenario"
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
        and statement.value is None
    ]
    return [{name: sample(kind, name, n) for name, kind in fields} for n in range(ROWS)]


def run(command: list[str], folder: Path) -> tuple[int, str, str]:
    """Run a command as in an activated environment, with the project importable."""
    path = f"{Path(command[0]).parent}{os.pathsep}{os.environ['PATH']}"
    settings = {**os.environ, "PATH": path, "PYTHONPATH": str(folder)}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=settings,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=LIMIT + 60,
        )
    except subprocess.TimeoutExpired:
        return 124, "", f"ran past {LIMIT} seconds"
    return done.returncode, done.stdout, done.stderr


def watch(row: dict[str, Any], tool: str, tree: Path, scratch: Path) -> None:
    """Run the driver of an agent in ``tree``, and let art-adapt see it."""
    agent = tree / row["paths"][0]
    python = scratch / "python"
    command = [
        tool,
        "capture",
        "--agent",
        str(agent),
        "--",
        str(Path(tool).parent / "python"),
    ]
    python.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
    python.chmod(0o755)
    # Below the source's own folder, whose two first parts say where it is kept.
    root = constants(CORPUS / "entries" / f"{row['id']}.py")["ROOT"]
    inside = tree.joinpath(*Path(root).parts[2:])
    run_driver(row["id"], None, root=inside, python=str(python), out=scratch / "runs")


def take(
    row: dict[str, Any],
    sources: Path,
    tool: str,
    rows: Any,
    options: list[str],
    rehearsing: list[str],
    watching: bool,
) -> tuple[str, str]:
    """Adapt one agent and rehearse it: passed, found, unable or refused, and why."""
    with tempfile.TemporaryDirectory(prefix="whole-way-") as scratch:
        tree = Path(scratch) / source_root(row, sources).name
        shutil.copytree(source_root(row, sources), tree, symlinks=True)
        run(["git", "init", "-q"], tree)
        if watching:
            watch(row, tool, tree, Path(scratch))
        code, out, err = run([tool, *options, *row["paths"]], tree)
        modules = [p for p in tree.rglob("*_train.py") if "art_adapt" in p.read_text()]
        if code or not modules:
            return "refused", " ".join((err or out).split())[:300]
        module = modules[0]
        if not (watching and (module.parent / "scenarios.jsonl").exists()):
            lines = rows if rows is not None else rows_for(module)
            text = "".join(json.dumps(line) + "\n" for line in lines)
            (module.parent / "scenarios.jsonl").write_text(text)
        rehearse = [tool, "rehearse", "--timeout", str(LIMIT), *rehearsing, str(module)]
        code, out, err = run(rehearse, tree)
        kinds = {0: "passed", 1: "found"}
        told = out.partition("Would go wrong")[2] or out or err
        return kinds.get(code, "unable"), " ".join(told.split())[:400]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--sources", required=True, type=Path)
    parser.add_argument("--art-adapt", required=True)
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--watch", action="store_true")
    parser.add_argument("--options", default="", type=shlex.split)
    parser.add_argument("--rehearse", default="", type=shlex.split)
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    written = json.loads(chosen.rows.read_text()) if chosen.rows else {}
    agents = map(json.loads, (CORPUS / "dev.jsonl").read_text().splitlines())
    agents = [a for a in agents if a["runnable"]]
    if chosen.ids:
        agents = [a for a in agents if a["id"] in chosen.ids]
    counted: dict[str, int] = {}
    for agent in agents:
        verdict, why = take(
            agent,
            chosen.sources,
            chosen.art_adapt,
            written.get(agent["id"]),
            chosen.options,
            chosen.rehearse,
            chosen.watch,
        )
        counted[verdict] = counted.get(verdict, 0) + 1
        line = f"{agent['id']:28} {verdict:8} {why}"
        print(line, flush=True)
        if chosen.out:
            with chosen.out.open("a") as file:
                file.write(line + "\n")
    print(", ".join(f"{n} {verdict}" for verdict, n in sorted(counted.items())))


if __name__ == "__main__":
    main()
