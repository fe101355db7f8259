"""A second run may show a field that the rows of the first lack: they get it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from agent_files import art_adapt

AGENT = """\
import sys

from openai import OpenAI


def answer(question: str, limit: int = 40) -> str:
    messages = [{"role": "user", "content": f"{question} In {limit} words."}]
    reply = OpenAI().chat.completions.create(model="m", messages=messages)
    return str(reply.choices[0].message.content)


if __name__ == "__main__":
    print(answer(sys.argv[1], int(sys.argv[2])))
"""

pytestmark = pytest.mark.wide


def watched(folder: Path, *arguments: str) -> str:
    run = ("capture", "--scripted", "--", sys.executable, "agent.py", *arguments)
    done = art_adapt(*run, cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    return done.stderr.decode()


def rows(folder: Path) -> list[dict[str, Any]]:
    text = (folder / "scenarios.jsonl").read_text()
    found = [json.loads(line) for line in text.splitlines()]
    return [{k: v for k, v in row.items() if k != "captured"} for row in found]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "agent.py").write_text(AGENT)
    return tmp_path


def test_rows_of_the_same_runs_get_the_field(folder: Path) -> None:
    watched(folder, "What is a lighthouse for?", "12")
    assert rows(folder) == [{"question": "What is a lighthouse for?"}]
    said = watched(folder, "Who keeps a lighthouse?", "77")
    assert "1 earlier row of the same runs got limit" in said, said
    assert rows(folder) == [
        {"question": "What is a lighthouse for?", "limit": 12},
        {"question": "Who keeps a lighthouse?", "limit": 77},
    ]


def test_a_row_that_somebody_edited_stays(folder: Path) -> None:
    watched(folder, "What is a lighthouse for?", "12")
    file = folder / "scenarios.jsonl"
    file.write_text(file.read_text().replace("lighthouse for", "buoy for"))
    said = watched(folder, "Who keeps a lighthouse?", "77")
    assert "1 earlier row in scenarios.jsonl without limit: delete them" in said, said
    assert rows(folder)[0] == {"question": "What is a buoy for?"}
