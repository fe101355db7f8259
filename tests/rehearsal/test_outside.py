"""What lies outside of a project stays as it is, whichever way an agent would change it."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from agent_files import art_adapt

AGENT = """\
import json
import os
import pathlib
import shutil
import sqlite3
import sys

from openai import OpenAI

OUT = pathlib.Path({out!r})
client = OpenAI()
NOTE = {{"type": "function", "function": {{"name": "note", "parameters": {{
    "type": "object", "properties": {{"text": {{"type": "string"}}}}, "required": ["text"]}}}}}}


def note(text):
{body}
    return "noted " + text


def run(task: str) -> str:
    messages = [{{"role": "user", "content": task}}]
    for _ in range(6):
        reply = client.chat.completions.create(model="m", messages=messages, tools=[NOTE]).choices[0].message
        messages.append(reply)
        if not reply.tool_calls:
            return reply.content
        for call in reply.tool_calls:
            result = note(**json.loads(call.function.arguments))
            messages.append({{"role": "tool", "tool_call_id": call.id, "content": result}})
    return "too many turns"


if __name__ == "__main__":
    print(run(sys.argv[1]))
"""
# How a tool changes a file that is there.
CHANGES = {
    "a database": (
        "with sqlite3.connect(OUT / 'real.db') as db:\n"
        "    db.execute('insert into notes values (?)', (text,))\n"
        "    assert db.execute('select count(*) from notes').fetchone()[0] > 1",
        "real.db",
    ),
    "a line at its end": (
        "with open(OUT / 'log.txt', 'a') as file:\n    file.write(text)\n"
        "assert text in (OUT / 'log.txt').read_text()",
        "log.txt",
    ),
    "all of it": ("(OUT / 'log.txt').write_text(text)", "log.txt"),
    "another file in its place": (
        "part = str(OUT / 'log.part')\n"
        "with open(part, 'w') as file:\n    file.write(text)\nos.replace(part, OUT / 'log.txt')",
        "log.txt",
    ),
}  # fmt: skip
LEAVES = {
    "it is removed": "(OUT / 'log.txt').unlink(missing_ok=True)",
    "it is read": "text = (OUT / 'log.txt').read_text() + text",
    "a database is read": (
        "text += str(sqlite3.connect(OUT / 'real.db').execute('select * from notes').fetchall())"
    ),
    "a file beside the agent is written": "pathlib.Path('own.txt').write_text(text)",
}


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path, Callable[[str], None]]:
    """Return a project, a folder beside it with data, and what writes the agent."""
    project, out = tmp_path / "project", tmp_path / "out"
    for each in (project, out):
        each.mkdir()
    (out / "log.txt").write_text("as it was")
    with sqlite3.connect(out / "real.db") as db:
        db.execute("create table notes (text)")
        db.execute("insert into notes values ('mine')")
    rows = [{"task": "note the apples"}, {"task": "note the rivers"}]
    (project / "scenarios.jsonl").write_text("\n".join(map(json.dumps, rows)))

    def write(body: str) -> None:
        lines = "\n".join(f"    {line}" for line in body.splitlines())
        (project / "agent.py").write_text(AGENT.format(out=str(out), body=lines))

    return project, out, write


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize(
    ("kind", "isolate"),
    [*((kind, "none") for kind in CHANGES), ("a database", "copy")],
)
def test_a_rehearsal_changes_no_file_elsewhere_and_says_so(
    kind: str,
    isolate: str,
    folders: tuple[Path, Path, Callable[[str], None]],
) -> None:
    project, out, write = folders
    body, changed = CHANGES[kind]
    write(body)
    before = _files(out)
    done = art_adapt("--isolated", "--isolate", isolate, "agent.py", cwd=project)
    assert done.returncode == 0, done.stderr.decode()
    done = art_adapt("rehearse", "agent_train.py", cwd=project)
    said = done.stdout.decode()
    assert _files(out) == before, said
    assert f"an episode changed {out / changed}, outside of the project" in said, said
    assert done.returncode == 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", LEAVES)
def test_what_changes_nothing_elsewhere_is_no_finding(
    kind: str, folders: tuple[Path, Path, Callable[[str], None]]
) -> None:
    project, out, write = folders
    write(LEAVES[kind])
    before = _files(out)
    art_adapt("--isolated", "agent.py", cwd=project)
    done = art_adapt("rehearse", "agent_train.py", cwd=project)
    assert _files(out) == before, done.stdout.decode()
    assert b"outside of the project" not in done.stdout.replace(b"\n", b" ")


@pytest.mark.slow
def test_a_folder_elsewhere_is_not_removed(
    folders: tuple[Path, Path, Callable[[str], None]],
) -> None:
    project, out, write = folders
    write("shutil.rmtree(OUT)")
    before = _files(out)
    art_adapt("--isolated", "agent.py", cwd=project)
    done = art_adapt("rehearse", "agent_train.py", cwd=project)
    assert _files(out) == before
    assert b"a rehearsal removes no folder outside of the project" in done.stdout


def test_a_new_file_elsewhere_is_said(
    folders: tuple[Path, Path, Callable[[str], None]],
) -> None:
    project, out, write = folders
    write("(OUT / 'new.txt').write_text(text)")
    art_adapt("--isolated", "agent.py", cwd=project)
    done = art_adapt("rehearse", "agent_train.py", cwd=project)
    assert f"an episode made {out / 'new.txt'}" in done.stdout.decode()
    assert not (out / "new.txt").exists()


def test_an_agent_that_is_watched_changes_no_file_elsewhere(
    folders: tuple[Path, Path, Callable[[str], None]],
) -> None:
    project, out, write = folders
    write("\n".join([CHANGES["a database"][0], CHANGES["a line at its end"][0]]))
    before = _files(out)
    command = ("--scripted", "--", sys.executable, "agent.py", "note the apples")
    done = art_adapt("capture", *command, cwd=project)
    assert done.returncode == 0, done.stderr.decode()
    assert b"note" in done.stderr and _files(out) == before
