"""A list of records: each row holds their fields, and an episode makes them again."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from agent_files import art_adapt

DATACLASS = "from dataclasses import dataclass\n\n\n@dataclass\nclass Clause:\n"
PYDANTIC = "from pydantic import BaseModel\n\n\nclass Clause(BaseModel):\n"
FIELDS = "    id: str\n    text: str\n    tags: list[str] | None = None\n"
AGENT = """\
from typing import List, Optional, Sequence

from openai import OpenAI

client = OpenAI()


def risk(clause):
    asked = [{{"role": "user", "content": f"Risk? {{clause.text}}"}}]
    return client.chat.completions.create(model="m", messages=asked).choices[0].message.content


def analyze(clauses: {annotation}) -> list[str]:
    return [risk(each) for each in clauses]
"""
MADE = "analyze(clauses=[Clause(**each) for each in scenario.clauses])"
SPELLED = {
    "dataclass": (DATACLASS + FIELDS, "list[Clause]"),
    "pydantic": (PYDANTIC + FIELDS, "list[Clause]"),
    "List": (DATACLASS + FIELDS, "List[Clause]"),
    "Sequence": (PYDANTIC + FIELDS, "Sequence[Clause]"),
    "quoted": (DATACLASS + FIELDS, "'list[Clause]'"),
    "inside quoted": (DATACLASS + FIELDS, "list['Clause']"),
    "optional": (DATACLASS + FIELDS, "Optional[list[Clause]]"),
}
# JSON cannot hold what these are made of, or a row would have to say more than fields.
OTHERS = {
    "an object in it": (DATACLASS + "    text: str\n    client: OpenAI\n", "list[Clause]"),
    "a record in it": (
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Party:\n    name: str\n\n\n"
        "@dataclass\nclass Clause:\n    text: str\n    party: Party\n",
        "list[Clause]",
    ),
    "a default": (DATACLASS + FIELDS, "list[Clause] | None = None"),
    "no record": ("class Clause:\n    def __init__(self, text):\n        self.text = text\n", "list[Clause]"),
}  # fmt: skip
# What only pydantic itself makes of a row.
WHOLE = (
    "from pydantic import BaseModel, RootModel\n\n\n"
    "class Notes(RootModel[List[str]]):\n    pass\n\n\n"
    "class Clause(BaseModel):\n    id: str\n    text: str\n    notes: Notes = Notes([])\n",
    "list[Clause]",
)
VALIDATED = "TypeAdapter(list[Clause]).validate_python(scenario.clauses)"
CALLER = """\
from agent import Clause, analyze


def main(text="Liability is unlimited."):
    clauses = [Clause(id=str(at), text=line) for at, line in enumerate(text.split(","))]
    print(analyze(clauses))


if __name__ == "__main__":
    main()
"""


def adapted(folder: Path, kind: tuple[str, str]) -> str:
    record, annotation = kind
    agent = AGENT.format(annotation=annotation)
    start, rest = agent.split("\n\nclient", 1)
    (folder / "agent.py").write_text(f"{start}\n{record}\n\nclient{rest}")
    done = art_adapt("--isolated", "--entry", "analyze", "agent.py", cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    return (folder / "agent_train.py").read_text()


@pytest.mark.parametrize("kind", SPELLED)
def test_records_of_a_list_are_made_of_rows(kind: str, tmp_path: Path) -> None:
    text = adapted(tmp_path, SPELLED[kind])
    assert MADE in text
    assert "clauses: list[dict[str, Any]]" in text
    assert "from agent import Clause, analyze" in text


@pytest.mark.parametrize("kind", OTHERS)
def test_other_lists_are_left_to_the_user(kind: str, tmp_path: Path) -> None:
    text = adapted(tmp_path, OTHERS[kind])
    assert MADE not in text and ("fill_in(" in text or kind == "a default")


def test_a_route_is_sent_the_rows_as_they_are(tmp_path: Path) -> None:
    """The framework makes the objects, so the train module needs no class."""
    agent = AGENT.format(annotation="list[Clause]")
    start, rest = agent.split("\n\nclient", 1)
    route = (
        "from fastapi import Depends, FastAPI\n\napp = FastAPI()\n\n\n"
        "def user(name: str):\n    return name\n\n\n"
    )
    rest = rest.replace("def analyze", '@app.post("/risks")\ndef analyze')
    rest = rest.replace("list[Clause])", "list[Clause], who=Depends(user))")
    (tmp_path / "agent.py").write_text(
        f"{start}\n{route}{PYDANTIC}{FIELDS}\n\nclient{rest}"
    )
    done = art_adapt("--isolated", "--entry", "analyze", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    text = (tmp_path / "agent_train.py").read_text()
    assert "from agent import app\n" in text and "Clause" not in text


@pytest.mark.wide
@pytest.mark.parametrize(
    ("record", "made"), [(SPELLED["dataclass"], MADE), (WHOLE, VALIDATED)]
)
def test_a_watched_list_becomes_rows_that_rehearse(
    record: tuple[str, str], made: str, tmp_path: Path
) -> None:
    adapted(tmp_path, record)
    assert art_adapt("--undo", "agent.py", cwd=tmp_path).returncode == 0
    (tmp_path / "main.py").write_text(CALLER)
    command = ("capture", "--scripted", "--agent", "agent.py", "--")
    seen = art_adapt(*command, sys.executable, "main.py", cwd=tmp_path)
    assert b"create them again" not in seen.stdout + seen.stderr
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    module = next(tmp_path.glob("*_train.py"))
    assert made in module.read_text()
    (row,) = map(json.loads, (tmp_path / "scenarios.jsonl").read_text().splitlines())
    assert row["clauses"][0]["text"] == "Liability is unlimited."
    rehearsed = art_adapt("rehearse", "--steps", "1", module.name, cwd=tmp_path)
    assert b"Nothing found" in rehearsed.stdout, rehearsed.stdout.decode()
