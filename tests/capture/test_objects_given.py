"""What a run gave as an object is made again of its row, whatever the parameter is annotated with."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from watched_agents import CALL, LOOP, RUNS, SAID, function, patch_of, watched

TONE = "from enum import Enum\n\n\nclass Tone(Enum):\n    KIND = 'kind'\n    CURT = 'curt'\n\n\n"
FIELDS = "    id: str\n    note: str\n\n\n"
# What the agent imports and defines, its parameter, what the model is asked of it, what a run
# gives, and what the train module has for it: the scenario's fields, and the argument.
GIVEN = {
    "a member": (
        TONE,
        "given",
        "{given.value}",
        "Tone(sys.argv[2])",
        'given: Literal["kind", "curt"]',
        "given=Tone(scenario.given)",
    ),
    "a member that is annotated": (
        TONE,
        "given: Tone = Tone.KIND",
        "{given.value}",
        "Tone(sys.argv[2])",
        'given: Literal["kind", "curt"]',
        "given=Tone(scenario.given)",
    ),
    "a number's member": (
        "from enum import IntEnum\n\n\nclass Size(IntEnum):\n    SMALL = 10\n    LARGE = 20\n\n\n",
        "given: 'Size'",
        "{given.name}",
        "Size.SMALL if sys.argv[2] == 'kind' else Size.LARGE",
        "given: int",
        "given=Size(scenario.given)",
    ),
    "a dataclass": (
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Order:\n" + FIELDS,
        "given",
        "{given.note}",
        "Order('7', sys.argv[2])",
        "note: str",
        "given=Order(id=scenario.id, note=scenario.note)",
    ),
    "a model of pydantic": (
        "from pydantic import BaseModel\n\n\nclass Order(BaseModel):\n" + FIELDS,
        "given: object",
        "{given.note}",
        "Order(id='7', note=sys.argv[2])",
        "note: str",
        "given=Order(id=scenario.id, note=scenario.note)",
    ),
    "a named tuple": (
        "from typing import NamedTuple\n\n\nclass Order(NamedTuple):\n" + FIELDS,
        "given",
        "{given.note}",
        "Order('7', sys.argv[2])",
        "note: str",
        "given=Order(id=scenario.id, note=scenario.note)",
    ),
    "a path": (
        "import pathlib\n\n\n",
        "given=None",
        "{given.name}",
        "pathlib.Path(sys.argv[2])",
        "given: Path",
        "given=scenario.given",
    ),
    "a date": (
        "import datetime\n\n\n",
        "given",
        "{given:%d %B}",
        "datetime.date(2026, 1, 1 + (sys.argv[2] == 'kind'))",
        "given: str",
        "given=TypeAdapter(datetime.date).validate_python(scenario.given)",
    ),
    "a record with a member": (
        TONE
        + "from dataclasses import dataclass\n\n\n@dataclass\nclass Order:\n    tone: Tone\n"
        + FIELDS,
        "given: Order",
        "{given.note} {given.tone.value}",
        "Order(Tone(sys.argv[2]), '7', sys.argv[2])",
        'tone: Literal["kind", "curt"]',
        "given=Order(tone=Tone(scenario.tone), id=scenario.id, note=scenario.note)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", GIVEN)
def test_it_is_made_again_of_its_row(what: str, tmp_path: Path) -> None:
    defined, parameter, asked, given, field, argument = GIVEN[what]
    loop = LOOP.replace('"content": task}', f'"content": f"{{task}} {asked}"}}')
    agent = (
        defined
        + function(f"def solve(task, {parameter}):", loop)
        + f"{RUNS}print(solve(sys.argv[1], {given}))\n"
    )
    tasks = {"Is it sunny in Rome?": "kind", "Will it rain in Oslo?": "curt"}
    for task, word in tasks.items():
        run = (sys.executable, "agent.py", task, word)
        watched(tmp_path, agent, [CALL, *SAID], *run)
    patch = " ".join(patch_of(tmp_path).replace("\n+", " ").split())
    assert field in patch, patch
    assert argument in patch.replace("( ", "(").replace(" )", ")"), patch


def test_one_that_all_runs_gave_is_a_row_s_as_well(tmp_path: Path) -> None:
    """No literal is a member or a date, so that episode() cannot repeat it as one."""
    agent = (
        TONE
        + function("def solve(task, tone=None):")
        + f"{RUNS}print(solve(sys.argv[1], Tone(sys.argv[2])))\n"
    )
    for task in ("Is it sunny in Rome?", "Will it rain in Oslo?"):
        run = (sys.executable, "agent.py", task, "curt")
        watched(tmp_path, agent, [CALL, *SAID], *run)
    patch = patch_of(tmp_path)
    assert "solve(task=scenario.task, tone=Tone(scenario.tone))" in patch


def test_one_that_another_call_gives_gives_way(tmp_path: Path) -> None:
    """Reading has the member of a call that never ran."""
    agent = (
        TONE
        + function("def solve(task, tone=None):")
        + "def demo():\n    return solve('Is it sunny?', Tone.CURT)\n\n\n"
        + f"{RUNS}print(solve(sys.argv[1], tone=Tone(sys.argv[2])))\n"
    )
    for task in ("Is it sunny in Rome?", "Will it rain in Oslo?"):
        run = (sys.executable, "agent.py", task, "kind")
        watched(tmp_path, agent, [CALL, *SAID], *run)
    patch = patch_of(tmp_path)
    assert "solve(task=scenario.task, tone=Tone(scenario.tone))" in patch, patch
