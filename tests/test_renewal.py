"""What an older art-adapt has written is replaced, and --undo knows it.

Until 0.1 the recorder itself was copied into the user's repository, as
``art_recording.py`` and ``art_recording_responses.py``, and the train module used it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import AGENTS, art_adapt, copy_of

from art_adapt import hooks_file
from art_adapt.train_file import sealed

RECORDER = b'''"""Hooks that record an agent's model calls on an ART trajectory while it trains.

This file is a copy of ``art_adapt/recording.py``.
"""

def recorded(create):
    return create
'''
RESPONSES = b'''"""The Responses API in terms of chat completions, for agents that call it: what a model
in training is asked, and what the agent gets back.
"""
'''
TRAIN_MODULE = sealed("with art_recording.rollout(trajectory): ...\n", "0.1.0")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A fixture agent as an older art-adapt has left it."""
    folder = copy_of("responses_tools", tmp_path)
    adapted = AGENTS / "responses_tools" / "adapted" / "agent.py"
    (folder / "agent.py").write_bytes(adapted.read_bytes())
    (folder / "art_recording.py").write_bytes(RECORDER)
    (folder / "art_recording_responses.py").write_bytes(RESPONSES)
    (folder / "agent_train.py").write_bytes(TRAIN_MODULE)
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.py")}


def test_all_of_it_is_replaced(folder: Path) -> None:
    agent = (folder / "agent.py").read_bytes()
    done = art_adapt("--isolated", "agent.py", cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    after = files(folder)
    assert after["art_recording.py"] == hooks_file.contents()
    assert "art_recording_responses.py" not in after
    assert b"from art_adapt import training" in after["agent_train.py"]
    assert after["agent.py"] == agent
    assert b"removed art_recording_responses.py" in done.stdout
    again = art_adapt("--isolated", "agent.py", cwd=folder)
    assert b"Nothing to change" in again.stdout


def test_undo_takes_all_of_it_back(folder: Path) -> None:
    done = art_adapt("--undo", "agent.py", cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    original = (AGENTS / "responses_tools" / "agent.py").read_bytes()
    assert files(folder) == {
        "agent.py": original,
        "episode.py": (folder / "episode.py").read_bytes(),
    }


def test_an_edited_train_module_stops_it_with_what_to_do(folder: Path) -> None:
    with (folder / "agent_train.py").open("ab") as file:
        file.write(b"EPOCHS = 9\n")
    before = files(folder)
    done = art_adapt("--isolated", "agent.py", cwd=folder)
    assert done.returncode == 2 and files(folder) == before
    said = done.stderr.decode()
    assert (
        "has been edited" in said and "--force" in said and "apply your edits" in said
    )
    forced = art_adapt("--isolated", "--force", "agent.py", cwd=folder)
    assert forced.returncode == 0
    assert b"from art_adapt import training" in files(folder)["agent_train.py"]


def test_a_users_own_art_recording_is_refused(folder: Path) -> None:
    (folder / "art_recording.py").write_text("def start(): ...\n")
    before = files(folder)
    done = art_adapt("--isolated", "agent.py", cwd=folder)
    assert done.returncode == 2 and files(folder) == before
    assert b"art_recording.py: name conflict with a file of yours" in done.stderr


def test_line_ends_of_git_are_no_change(folder: Path) -> None:
    assert art_adapt("--isolated", "agent.py", cwd=folder).returncode == 0
    for name in ("art_recording.py", "agent_train.py"):
        path = folder / name
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    again = art_adapt("--isolated", "agent.py", cwd=folder)
    assert b"Nothing to change" in again.stdout


def test_a_users_own_file_of_the_second_name_stays(folder: Path) -> None:
    (folder / "art_recording_responses.py").write_text("mine = 1\n")
    assert art_adapt("--isolated", "agent.py", cwd=folder).returncode == 0
    assert (folder / "art_recording_responses.py").read_text() == "mine = 1\n"
