"""What lies outside of a project stays as it is, whichever way an agent would change it."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from agent_files import art_adapt, first_now

from art_adapt.rehearsal.outside import put_back

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
    "a script is made, run and removed": (
        "import subprocess, tempfile\n"
        "with tempfile.TemporaryDirectory(dir=OUT) as folder:\n"
        "    script = pathlib.Path(folder, 'run.py')\n    script.write_text('print(7)')\n"
        "    assert subprocess.check_output([sys.executable, script]) == b'7\\n'"
    ),
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
    first_now([*((kind, "none") for kind in CHANGES), ("a database", "copy")], 2),
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


# What would move or remove what is there.
REMOVES = {
    "a file": ("(OUT / 'log.txt').unlink()", "log.txt"),
    "a folder": ("shutil.rmtree(OUT)", ""),
    "a folder, whatever comes": ("shutil.rmtree(OUT, ignore_errors=True)", ""),
    "a folder that is moved": ("os.rename(src=OUT, dst=str(OUT) + '.bak')", ""),
    "a file that is moved": ("shutil.move(OUT / 'log.txt', OUT / 'log.bak')", "log.txt"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", REMOVES)
def test_nothing_elsewhere_is_moved_or_removed(
    kind: str, folders: tuple[Path, Path, Callable[[str], None]]
) -> None:
    project, out, write = folders
    body, removed = REMOVES[kind]
    write(body)
    before = _files(out)
    art_adapt("--isolated", "agent.py", cwd=project)
    done = art_adapt("rehearse", "agent_train.py", cwd=project)
    assert _files(out) == before
    place = out / removed if removed else out
    assert f"an episode removed {place}, outside of the project" in done.stdout.decode()


# What a program does with files of its own, which is the same under the overlay.
WORKS = """
import logging.handlers
import os, pathlib, shutil, sqlite3, sys, tempfile
from art_adapt.rehearsal.outside import Overlay, keep_as_it_is

out, kept = map(pathlib.Path, sys.argv[1:])
keep_as_it_is(Overlay((str(kept),), str(kept / "outside"), str(out.parent / "project")))
(kept / "source.txt").write_text("source")
shutil.copy2(kept / "source.txt", out / "copied.txt")
assert (out / "copied.txt").stat().st_size == 6 and os.path.exists(out / "copied.txt")
for _ in range(2):  # a database that is made if it is missing
    missing = not (out / "own.db").exists()
    with sqlite3.connect(out / "own.db") as db:
        missing and db.execute("create table notes (text)")
        db.execute("insert into notes values ('new')")
with sqlite3.connect(f"file:{out / 'real.db'}?mode=rwc", uri=True) as db:
    db.execute("insert into notes values ('new')")
number, part = tempfile.mkstemp(dir=out)
os.write(number, b"all of it")
os.close(number)
os.replace(part, out / "log.txt")
assert (out / "log.txt").read_text() == "all of it" and not os.path.exists(part)
(out / "a" / "b").mkdir(parents=True)
(out / "a" / "b" / "c.txt").write_text("c")
os.rename(src=out / "a" / "b" / "c.txt", dst=out / "a" / "d.txt")
shutil.move(out / "a" / "d.txt", kept / "d.txt")
shutil.rmtree(out / "a")
(out / "link").symlink_to(out / "log.txt")
(out / "link").unlink()
handler = logging.handlers.RotatingFileHandler(out / "run.log", maxBytes=10, backupCount=1)
for word in ("one", "two", "three", "four"):
    handler.emit(logging.LogRecord("a", 20, "b", 1, word, None, None))
handler.close()
os.truncate(out / "real.db", 10)
"""


def test_programs_work_with_files_elsewhere(tmp_path: Path) -> None:
    out, kept = tmp_path / "out", tmp_path / "kept"
    for each in (out, kept):
        each.mkdir()
    (out / "log.txt").write_text("as it was")
    with sqlite3.connect(out / "real.db") as db:
        db.execute("create table notes (text)")
    before = _files(out)
    done = subprocess.run(
        [sys.executable, "-c", WORKS, out, kept], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    told = {Path(each.path).name: each.what for each in put_back(kept / "outside")}
    assert told["log.txt"] == told["real.db"] == "changed", told
    assert told["own.db"] == told["copied.txt"] == "made", told
    left = {name for name in _files(out) if not name.startswith("run.log")}
    assert left == set(before) and _files(out)["log.txt"] == before["log.txt"]
    assert _files(out)["real.db"] == before["real.db"]


def test_a_new_file_elsewhere_is_said(
    folders: tuple[Path, Path, Callable[[str], None]],
) -> None:
    project, out, write = folders
    write("(OUT / 'new.txt').write_text(text)")
    art_adapt("--isolated", "agent.py", cwd=project)
    done = art_adapt("rehearse", "agent_train.py", cwd=project)
    assert f"an episode made {out / 'new.txt'}" in done.stdout.decode()
    assert not (out / "new.txt").exists()


@pytest.mark.wide
def test_new_folders_elsewhere_are_removed_however_deep(
    folders: tuple[Path, Path, Callable[[str], None]],
) -> None:
    project, out, write = folders
    write(
        "(OUT / 'a' / 'b' / 'c').mkdir(parents=True, exist_ok=True)\n"
        "(OUT / 'a' / 'b' / 'new.txt').write_text(text)"
    )
    art_adapt("--isolated", "agent.py", cwd=project)
    done = art_adapt("rehearse", "agent_train.py", cwd=project)
    assert f"an episode made {out / 'a' / 'b' / 'new.txt'}" in done.stdout.decode()
    assert not (out / "a").exists()


@pytest.mark.wide
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
