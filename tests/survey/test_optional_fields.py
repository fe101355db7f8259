"""Optional choices of a request's record are optional fields of a row; limits are the agent's."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import art_adapt

AGENT = """\
{imports}
from typing import Literal

from openai import OpenAI

client = OpenAI()


{record}
    subject: str
    body: str
    priority: Literal["low", "normal", "high"] = "normal"
    language: str = "en"
    retries: int = 3
    model: str = "gpt-4o"


def decide(ticket: Ticket) -> str:
    asked = [{{"role": "user", "content": str(ticket)}}]
    return client.chat.completions.create(model=ticket.model, messages=asked).choices[0].message.content
"""
RECORDS = {
    "pydantic": ("from pydantic import BaseModel", "class Ticket(BaseModel):"),
    "dataclass": ("from dataclasses import dataclass", "@dataclass\nclass Ticket:"),
}


@pytest.mark.parametrize("kind", RECORDS)
def test_a_row_may_say_them(kind: str, tmp_path: Path) -> None:
    imports, record = RECORDS[kind]
    (tmp_path / "agent.py").write_text(AGENT.format(imports=imports, record=record))
    done = art_adapt("--diff", "agent.py", cwd=tmp_path)
    module = done.stdout.decode()
    fields = module.partition("+class Scenario")[2].partition("+def episode")[0]
    assert "+    subject: str\n+    body: str\n" in fields
    assert '+    priority: Literal["low", "normal", "high"] = "normal"\n' in fields
    assert (
        "language" not in fields and "retries" not in fields and "model" not in fields
    )
    assert "priority=scenario.priority" in module
