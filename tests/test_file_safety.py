"""Nothing is lost: the rows of docs/file-safety.md, each tried.

Whatever ends a run at whatever moment: the agent is as it was or as it should be, it finds
its imports, and the next run removes what is left lying about.
"""

from __future__ import annotations

import ast
import multiprocessing
import os
import random
import resource
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from agent_files import art_adapt

from art_adapt import files, hooks_file
from art_adapt.errors import Refusal
from art_adapt.file_edit import FileEdit
from art_adapt.files import write
from art_adapt.plan import make_plan
from art_adapt.settings import Options, Origin
from art_adapt.source import read_source
from art_adapt.undo import make_undo

AGENT = """\
def run(client, task):
    answer = client.chat.completions.create(model="m", messages=[task])
    return answer.choices[0].message.content


from openai import OpenAI
"""


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    path = tmp_path / "agent.py"
    path.write_text(AGENT)
    return path


def adapt(path: Path, *options: str) -> subprocess.CompletedProcess[bytes]:
    return art_adapt("--isolated", *options, path, cwd=path.parent)


def imports(path: Path) -> bool:
    """Return whether production can import the file, in a process of its own."""
    return not subprocess.run(
        [sys.executable, "-c", f"import {path.stem}"], cwd=path.parent
    ).returncode


# Whose name it is


@pytest.mark.parametrize("name", ["art_recording.py", "agent_train.py"])
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda path: path.write_text("mine = 1\n"),
            b"name conflict with a file of yours",
        ),
        (lambda path: path.mkdir(), b"a folder has its name"),
        (
            lambda path: path.symlink_to("nowhere/else.py"),
            b"a broken link has its name",
        ),
        (os.mkfifo, b"a special file has its name"),
    ],
    ids=["file", "folder", "link to nothing", "pipe"],
)
def test_a_name_that_is_taken(
    agent: Path, name: str, make: Callable[[Path], object], said: bytes
) -> None:
    taken = agent.with_name(name)
    make(taken)
    before = taken.lstat()[:7], taken.lstat().st_mtime_ns
    for options in ([], ["--yes"], ["--force"]):
        refused = adapt(agent, *options)
        assert refused.returncode == 2 and said in refused.stderr
        assert b"rename" in refused.stderr and b"Traceback" not in refused.stderr
    assert (taken.lstat()[:7], taken.lstat().st_mtime_ns) == before
    assert agent.read_text() == AGENT
    assert sorted(path.name for path in agent.parent.iterdir()) == sorted(
        [agent.name, name]
    )


def test_a_link_to_a_file_of_yours(agent: Path) -> None:
    mine = agent.with_name("mine.py")
    mine.write_text("x = 1\n")
    agent.with_name("art_recording.py").symlink_to(mine)
    assert adapt(agent).returncode == 2
    assert mine.read_text() == "x = 1\n"


def test_a_package_that_python_would_prefer(agent: Path) -> None:
    package = agent.with_name("art_recording")
    package.mkdir()
    (package / "__init__.py").touch()
    refused = adapt(agent)
    assert refused.returncode == 2 and b"a package of yours" in refused.stderr
    assert agent.read_text() == AGENT


@pytest.mark.parametrize("names", ["recorded", "start, stop"])
def test_undo_keeps_a_module_of_yours(agent: Path, names: str) -> None:
    mine = agent.with_name("art_recording.py")
    mine.write_text("recorded = start = stop = print\n")
    text = f"from art_recording import {names}\n\n{AGENT}"
    agent.write_text(text)
    undone = adapt(agent, "--undo")
    assert undone.returncode == 0
    assert agent.read_text() == text and mine.exists()


# A name that is not ours alone


@pytest.mark.parametrize(
    "above",
    ["from thieves import *\n", "import openai\nX = 1\nfrom thieves import *\n"],
)
def test_a_star_import_cannot_take_a_hooks_place(agent: Path, above: str) -> None:
    agent.with_name("thieves.py").write_text(
        "def recorded(value):\n    raise SystemExit('stolen')\n\nfinal_answer = recorded\n"
    )
    agent.write_text(above + AGENT.replace("from openai import OpenAI\n", ""))
    assert adapt(agent).returncode == 0
    agent.with_name("use.py").write_text(
        "from types import SimpleNamespace as N\n"
        "import agent\n"
        "message = N(message=N(content='hello'))\n"
        "create = lambda **_: N(choices=[message])\n"
        "print(agent.run(N(chat=N(completions=N(create=create))), {}))\n"
    )
    used = subprocess.run(
        [sys.executable, "use.py"], cwd=agent.parent, capture_output=True
    )
    assert used.stdout == b"hello\n", used.stderr.decode()


def test_hooks_in_a_repositorys_own_format(agent: Path) -> None:
    assert adapt(agent).returncode == 0
    hooks = agent.with_name(hooks_file.NAME)
    mine = "# Copyright: us\n\n" + ast.unparse(ast.parse(hooks.read_bytes()))
    hooks.write_text(mine)
    again = adapt(agent)
    assert b"Nothing to change" in again.stdout, again.stderr.decode()
    assert hooks.read_text() == mine
    assert adapt(agent, "--undo").returncode == 0
    assert not hooks.exists()


def test_undo_does_not_ask_what_is_installed(agent: Path) -> None:
    assert adapt(agent).returncode == 0
    package = agent.parent / "environment" / "lib" / "package.py"
    package.parent.mkdir(parents=True)
    package.write_text("from ...art_recording import recorded\n")
    hooks = agent.with_name(hooks_file.NAME)
    kept = adapt(agent, "--undo", "--diff")
    assert b"package.py still uses it" in kept.stderr
    (agent.parent / "environment" / "pyvenv.cfg").touch()
    assert adapt(agent, "--undo").returncode == 0
    assert not hooks.exists()


# Where Python looks


def test_a_script_behind_a_link_finds_its_hooks(tmp_path: Path) -> None:
    real, link = tmp_path / "real" / "agent.py", tmp_path / "app" / "agent.py"
    for path in (real, link):
        path.parent.mkdir()
    real.write_text(AGENT)
    link.symlink_to(real)
    assert adapt(link).returncode == 0
    assert link.is_symlink()
    assert imports(link) and imports(real)
    assert subprocess.run([sys.executable, "agent.py"], cwd=link.parent).returncode == 0
    assert adapt(link, "--undo").returncode == 0
    assert real.read_text() == AGENT
    assert [
        path.name for path in real.parent.iterdir() if path.name != "__pycache__"
    ] == ["agent.py"]


def test_an_agent_behind_a_linked_folder(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    (real / "agent.py").write_text(AGENT)
    link.symlink_to(real)
    (real / "other.py").symlink_to("agent.py")
    for name in ("agent.py", "other.py"):
        for options in ([], ["--undo"]):
            done = adapt(link / name, *options)
            assert done.returncode == 0, done.stderr.decode()
        assert (real / "agent.py").read_text() == AGENT
        assert not (real / hooks_file.NAME).exists()


def test_what_only_looks_like_a_copy_stays(agent: Path) -> None:
    mine = [agent.with_name(name) for name in (".art-adapt", ".x.art-adapt")]
    for path in mine:
        path.write_text("mine")
    agent.with_name(".y.abcdefgh.art-adapt").mkdir()
    assert adapt(agent).returncode == 0
    assert all(path.read_text() == "mine" for path in mine)


def test_every_bit_of_the_mode_stays(agent: Path) -> None:
    agent.chmod(0o4751)
    assert adapt(agent).returncode == 0
    assert stat.S_IMODE(agent.stat().st_mode) == 0o4751


@pytest.mark.skipif(sys.platform != "linux", reason="Python sets them on Linux only")
def test_attributes_stay_and_the_time_does_not(agent: Path) -> None:
    try:
        os.setxattr(agent, "user.owner", b"us")
    except OSError:
        pytest.skip("this file system has no attributes")
    os.utime(agent, (0, 0))
    assert adapt(agent).returncode == 0
    assert os.getxattr(agent, "user.owner") == b"us"
    assert agent.stat().st_mtime > 0  # else Python would run what it compiled before


# What ends a run half way


def edits_of(agent: Path) -> list[FileEdit]:
    return list(make_plan([read_source(agent)], Options()).edits)


def assert_sound(agent: Path, adapted: bytes) -> None:
    """The agent is whole, and the hooks that it imports are there."""
    now = agent.read_bytes().rstrip(b"\n") + b"\n"
    assert now in (AGENT.encode(), adapted)
    if now == adapted:
        hooks = agent.with_name(hooks_file.NAME).read_bytes()
        assert hooks == hooks_file.contents()


def both_ways(agent: Path) -> tuple[list[FileEdit], list[FileEdit]]:
    """Return the edits that adapt the agent, and those that undo that."""
    there = edits_of(agent)
    write(there)
    back = list(make_undo([read_source(agent)], 88).edits)
    write(back)
    return there, back


def clean_up(agent: Path) -> None:
    """Make a run with nothing to write, then take away what the killed one has written."""
    write([FileEdit(agent, b"", b"")])
    names = {path.name for path in agent.parent.iterdir() if path.is_file()}
    assert names <= {agent.name, hooks_file.NAME, "agent_train.py"}
    for name in names - {agent.name}:
        agent.with_name(name).unlink()
    agent.write_text(AGENT)


def killed_child(run: Callable[[], object], after: Callable[[int], object]) -> bool:
    """Run in a process that ``after`` kills, given its id; tell whether it was killed."""
    child = os.fork()
    if child == 0:
        try:
            run()
        finally:
            os._exit(0)
    after(child)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def in_a_fresh_process(check: Callable[..., None], *given: object) -> None:
    """Run a check that forks often: here, each fork would copy what other tests have left."""
    process = multiprocessing.get_context("spawn").Process(target=check, args=given)
    process.start()
    process.join()
    assert process.exitcode == 0


@pytest.mark.parametrize("linked", [False, True], ids=["plain", "hard link"])
def test_a_kill_at_any_line(agent: Path, linked: bool) -> None:
    in_a_fresh_process(_check_kills_at_any_line, agent, linked)


def _check_kills_at_any_line(agent: Path, linked: bool) -> None:
    other = agent.parent / "links" / "agent.py"
    if linked:
        other.parent.mkdir()
        other.hardlink_to(agent)
    there, back = both_ways(agent)
    (adapted,) = (edit.after for edit in there if edit.path == agent)
    assert adapted is not None
    for edits in (there, back):
        line, killed = 0, True
        while killed:
            line += 1
            if edits is back:
                write(there)
            killed = killed_child(lambda: _until_line(line, edits), lambda _: None)  # noqa: B023
            assert_sound(agent, adapted)
            assert not linked or other.samefile(agent)
            clean_up(agent)
        assert line > 50


def _until_line(last: int, edits: list[FileEdit]) -> None:
    """Write, and be killed where the ``last`` line of ``files`` begins."""
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        if frame.f_code.co_filename != files.__file__:
            return None
        count += event == "line"
        if count == last:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)
    write(edits)


def test_a_hundred_kills_at_random_moments(agent: Path) -> None:
    in_a_fresh_process(_check_kills_at_random_moments, agent)


def _check_kills_at_random_moments(agent: Path) -> None:
    there, back = both_ways(agent)
    (adapted,) = (edit.after for edit in there if edit.path == agent)
    assert adapted is not None

    def back_and_forth() -> None:
        while True:
            write(there)
            write(back)

    def kill(child: int) -> None:
        time.sleep(random.uniform(0.001, 0.03))
        os.kill(child, signal.SIGKILL)

    for _ in range(100):
        assert killed_child(back_and_forth, kill)
        assert_sound(agent, adapted)
        clean_up(agent)


def test_an_overwritten_hard_link_is_mended(agent: Path) -> None:
    """Killed in the middle of the one write that cannot be atomic."""
    after = AGENT.replace("answer", "completion").encode()
    agent.write_bytes(after[:60] + AGENT.encode()[60:])
    agent.with_name(".agent.py.abcdefgh.art-adapt").write_bytes(after)
    agent.with_name(".agent.py.abcdefgh.art-adapt-kept").write_text(AGENT)
    write([FileEdit(agent, b"", b"")])
    assert [path.name for path in agent.parent.iterdir()] == [agent.name]
    assert agent.read_text() == AGENT


def test_what_somebody_has_mended_meanwhile_stays(agent: Path) -> None:
    agent.write_text("mended = True\n")
    agent.with_name(".agent.py.abcdefgh.art-adapt").write_text(AGENT * 2)
    agent.with_name(".agent.py.abcdefgh.art-adapt-kept").write_text(AGENT)
    write([FileEdit(agent, b"", b"")])
    assert agent.read_text() == "mended = True\n"


@pytest.mark.parametrize("linked", [False, True], ids=["plain", "hard link"])
def test_a_full_disk(agent: Path, linked: bool) -> None:
    """No file may grow beyond what the agent has: as on a disk where only that is free."""
    if linked:
        (agent.parent / "links").mkdir()
        (agent.parent / "links" / "agent.py").hardlink_to(agent)
    there = sorted(agent.parent.rglob("*"))

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(AGENT), len(AGENT)))

    refused = subprocess.run(
        [sys.executable, "-B", "-m", "art_adapt", "--isolated", agent.name],
        cwd=agent.parent,
        capture_output=True,
        preexec_fn=limit,
    )
    assert refused.returncode == 2
    assert (
        b"cannot write this file" in refused.stderr
        and b"nothing was written" in refused.stderr
    )
    assert agent.read_text() == AGENT and sorted(agent.parent.rglob("*")) == there


@pytest.mark.parametrize("failing", range(3))
def test_what_was_there_is_put_back(
    agent: Path, failing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    edits = edits_of(agent)
    replace = os.replace
    done: list[object] = []

    def until_it_fails(source: object, target: Any) -> None:
        if len(done) == failing:
            done.append("failed")
            raise PermissionError(13, "Permission denied")
        done.append(target)
        replace(source, target)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "replace", until_it_fails)
    with pytest.raises(Refusal, match="Permission denied"):
        write(edits)
    assert [path.name for path in agent.parent.iterdir()] == [agent.name]
    assert agent.read_text() == AGENT


def test_two_at_once(agent: Path) -> None:
    """Each ends with everything written, or says that the other was faster."""
    command = [sys.executable, "-m", "art_adapt", "--isolated", "--yes", agent.name]
    for _ in range(3):
        both = [
            subprocess.Popen(
                command,
                cwd=agent.parent,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for _ in range(2)
        ]
        for process in both:
            _, error = process.communicate()
            assert process.returncode == 0 or b"while art-adapt was running" in error
        assert b"recorded(" in agent.read_bytes()
        assert adapt(agent, "--undo").returncode == 0
        assert agent.read_text() == AGENT


def test_two_agents_that_share_the_hooks(agent: Path) -> None:
    other = agent.with_name("other.py")
    other.write_text(AGENT)
    both = [edits_of(agent), edits_of(other)]
    for edits in both:
        write(edits)  # the second finds the hooks that the first has written meanwhile
    assert imports(agent) and imports(other)


def test_what_others_import_is_written_first(
    agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    replace = os.replace

    def noting(source: object, target: Any) -> None:
        written.append(Path(target).name)
        replace(source, target)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "replace", noting)
    write(edits_of(agent))
    assert written == [hooks_file.NAME, "agent_train.py", "agent.py"]


# Two runs at once


def _files(agent: Path) -> list[tuple[Path, bytes]]:
    return [(path, path.read_bytes()) for path in sorted(agent.parent.rglob("*.py"))]


@pytest.mark.parametrize("between", ["undo", "edit", "rename", "remove the hooks"])
def test_what_a_plan_rests_on_is_looked_at_when_it_is_written(
    between: str, agent: Path
) -> None:
    """Also files that the plan leaves as they are: here all but the train module."""
    helper = agent.with_name("helper.py")
    helper.write_text("LIMIT = 3\n")
    agent.write_text(f"import helper\n{agent.read_text()}")
    assert adapt(agent).returncode == 0
    options = Options(max_steps=7, origins={"max_steps": Origin.FLAG})
    plan = make_plan([read_source(agent)], options)
    assert [e.path.name for e in plan.edits if e.changes] == ["agent_train.py"]
    if between == "undo":
        assert adapt(agent, "--undo").returncode == 0
    elif between == "edit":
        helper.write_text("LIMIT = 4\n")
    elif between == "rename":
        helper.rename(helper.with_name("helpers.py"))
    else:
        agent.with_name(hooks_file.NAME).unlink()
    now = _files(agent)
    with pytest.raises(Refusal, match="changed while art-adapt was running"):
        write(plan.edits, plan.check_still_holds)
    assert _files(agent) == now


@pytest.mark.parametrize("other", ["other.py", "agent.py"])
def test_an_undo_looks_again_who_uses_the_hooks(agent: Path, other: str) -> None:
    """Another run has put hooks meanwhile that import the file that is to be deleted."""
    agent.with_name("other.py").write_text(agent.read_text())
    assert adapt(agent).returncode == 0
    undo = make_undo([read_source(agent)], 88)
    assert adapt(agent.with_name(other), "--max-steps", "3").returncode == 0
    now = _files(agent)
    with pytest.raises(Refusal, match="changed while art-adapt was running"):
        write(undo.edits, undo.check_still_holds)
    assert _files(agent) == now


def test_adapt_and_undo_at_once(agent: Path) -> None:
    """Whoever wins: no hooks without their file, and nothing generated beside a plain agent."""
    before = agent.read_bytes()
    for round_ in range(4):
        runs = [
            subprocess.Popen(
                [sys.executable, "-m", "art_adapt", "--yes", *options, "agent.py"],
                cwd=agent.parent,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for options in (["--max-steps", str(round_ + 2)], ["--undo"])
        ]
        for run in runs:
            assert run.wait(60) in (0, 2)
        names = {path.name for path in agent.parent.glob("*.py")}
        is_plain = agent.read_bytes() == before
        assert ("agent_train.py" in names) is not is_plain
        assert (hooks_file.NAME in names) is not is_plain
        assert adapt(agent).returncode == 0


@pytest.mark.parametrize("name", ["agent.py", "new.py", "agent.ipynb", "rows.jsonl"])
def test_no_report_is_written_over_a_source(name: str, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "agent_train.py").write_text("def main():\n    pass\n")
    for asked in (
        ("rehearse", "agent_train.py", "--html", name),
        ("check", "agent.py", "--output-file", name),
    ):
        done = art_adapt(*asked, cwd=tmp_path)
        assert done.returncode == 2
        assert b"name another file for the report" in done.stderr
    assert (tmp_path / "agent.py").read_text() == AGENT
    assert not (tmp_path / "new.py").exists()


def test_an_agent_is_not_rehearsed_in_the_place_of_its_train_module(
    tmp_path: Path,
) -> None:
    """It has a main() as well, which would run for real."""
    agent = f"{AGENT}\n\ndef main():\n    open('ran', 'w')\n"
    (tmp_path / "agent.py").write_text(agent)
    done = art_adapt("rehearse", "agent.py", cwd=tmp_path)
    assert done.returncode == 2
    assert b"not a train module: it trains nothing" in done.stderr
    assert not (tmp_path / "ran").exists()
