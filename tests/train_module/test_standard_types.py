"""A row has a time, a number or an id as text, and the agent gets what it is annotated with."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from agent_files import art_adapt

AGENT = """\
{imports}
from openai import OpenAI

client = OpenAI()


def ask(question: str, given: {annotation}) -> str:
    asked = [{{"role": "user", "content": question + str({used})}}]
    reply = client.chat.completions.create(model="gpt-4o", messages=asked)
    return reply.choices[0].message.content
"""
# What the agent imports, its annotation, what it does with it, and what a row has.
GIVEN = {
    "a date": ("from datetime import date", "date", "given.isoformat()", '"2025-03-04"'),
    "a time by its module": (
        "import datetime as dt",
        "dt.datetime",
        "given.hour",
        '"2025-03-04T05:06:07"',
    ),
    "a list of dates": (
        "from datetime import date",
        "list[date]",
        "given[0].year",
        '["2025-03-04"]',
    ),
    "a decimal": ("from decimal import Decimal", "Decimal", "given.as_tuple()", "1.5"),
    "an id": (
        "import uuid",
        "uuid.UUID",
        "given.hex",
        '"12345678-1234-5678-1234-567812345678"',
    ),
    "a member": (
        "import enum\n\n\nclass Tone(enum.Enum):\n    KIND = 'kind'\n    CURT = 'curt'\n\n",
        "Tone",
        "given.value.upper()",
        '"kind"',
    ),
    "a member whose value is computed": (
        "from enum import Enum, auto\n\n\nclass Tone(Enum):\n    KIND = auto()\n    CURT = auto()\n\n",
        "Tone",
        "given.value.bit_length()",
        "2",
    ),
    "a member with a sign": (
        "from enum import IntEnum\n\n\nclass Step(IntEnum):\n    BACK = -1\n    AHEAD = 1\n\n",
        "Step",
        "given.name",
        "-1",
    ),
    "a member that may be missing": (
        "from enum import StrEnum\n\n\nclass Tone(StrEnum):\n    KIND = 'kind'\n\n",
        "Tone | None",
        "given.name",
        '"kind"',
    ),
    "a time that may be missing": (
        "from datetime import timedelta",
        "timedelta | None",
        "given.total_seconds()",
        "90",
    ),
}  # fmt: skip
CALLED = """\
import agent_train as module

seen = []
module.ask = lambda question, given: seen.append((lambda given: {used})(given))
module.episode(module.Scenario(question="?", given={row}))
assert seen
"""


@pytest.mark.parametrize("what", GIVEN)
def test_an_episode_gets_what_the_annotation_says(what: str, tmp_path: Path) -> None:
    imports, annotation, used, row = GIVEN[what]
    text = AGENT.format(imports=imports, annotation=annotation, used=used)
    (tmp_path / "agent.py").write_text(text)
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    module = (tmp_path / "agent_train.py").read_text()
    is_open = what == "a member whose value is computed"  # nothing says of which type
    assert ("given: Any" in module) is is_open and "fill_in" not in module
    code = CALLED.format(used=used, row=row)
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "OPENAI_API_KEY": "x"},
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode()
