"""The report says where a project changes an object that it has made and hands over."""

from __future__ import annotations

from pathlib import Path

import pytest

from art_adapt.source import read_source
from art_adapt.survey.survey import survey

AGENT = """\
from openai import OpenAI


class Desk:
    def __init__(self, root: str, log=None):
        self.root, self.log = root, log


def run_agent(task: str, desk: Desk) -> str:
    BODY
    asked = [{"role": "user", "content": f"{task} {desk.log}"}]
    return OpenAI().chat.completions.create(model="m", messages=asked).choices[0].message.content
"""
# How the caller keeps what it hands over, and whether it sets an attribute of it later.
SETS = {
    "an attribute of its own": ("self.desk.log = log", "self.desk", True),
    "a local object, which is copied with that": ("desk = Desk('.')\n        desk.log = log", "desk", False),
    "another object": ("self.other.log = log", "self.desk", False),
    "nothing": ("pass", "self.desk", False),
}  # fmt: skip


@pytest.mark.parametrize("kind", SETS)
def test_what_is_set_later_is_said(kind: str, tmp_path: Path) -> None:
    body, passed, is_said = SETS[kind]
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "agent.py").write_text(AGENT.replace("BODY", "pass"))
    (tmp_path / "main.py").write_text(
        "from agent import Desk, run_agent\n\n\nclass Loop:\n    def __init__(self):\n"
        "        self.desk = Desk(root='.')\n        self.other = Desk(root='..')\n\n"
        f"    def run(self, task, log):\n        {body}\n        return run_agent(task, {passed})\n"
    )
    found = survey([read_source(tmp_path / "agent.py")], entry="run_agent")
    (entry,) = (each for each in found.entry_points if each.called == "run_agent")
    (desk,) = (each for each in entry.needs if each.name == "desk")
    assert bool(desk.set_later) is is_said
