"""Test the whole way for frameworks' agents: adapted unedited, and rehearsed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_files import art_adapt, copy_of
from test_rehearse import rehearse

FRAMEWORKS = Path(__file__).parents[2] / "fixtures" / "frameworks"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("langgraph", ()),
        ("agents_sdk", ()),
        pytest.param(
            "langgraph", ("--isolate", "process"), marks=pytest.mark.long, id="isolated"
        ),
    ],
)
def test_it_rehearses_with_nothing_edited(
    name: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    folder = copy_of(name, tmp_path, FRAMEWORKS)
    before = (folder / "agent.py").read_bytes()
    done = art_adapt("--isolated", *options, "agent.py", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert b"training records every OpenAI client" in done.stdout
    assert (folder / "agent.py").read_bytes() == before
    assert not (folder / "art_recording.py").exists()
    code, said, complaint = rehearse("agent_train.py", "--json", cwd=folder)
    assert code == 0, (said, complaint)
    figures = json.loads(said)["figures"]
    if not options:
        assert figures["recorded"] == figures["calls"] >= 12
    assert art_adapt("--undo", "agent.py", cwd=folder).returncode == 0
    assert not (folder / "agent_train.py").exists()
