"""The command line of a train module is its own: the agent that it imports does not see it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.wide  # each imports ART in a process of its own

AGENT = """\
import sys

database = sys.argv[1] if len(sys.argv) > 1 else "stock.db"
print("opened", database)
"""
TRAIN = """\
'''Trains.'''
from art_adapt import training

import agent

PROJECT, RUN_NAME, SCENARIOS = "tests", "run", "rows.jsonl"
ROLLOUTS_PER_GROUP, GROUPS_PER_STEP, EPOCHS, MAX_STEPS = 4, 2, 3, 50


class Scenario(training.Scenario):
    question: str


if __name__ == "__main__":
    training.prepare(Scenario, globals())
"""
PROGRAM = """\
import argparse
import pickle
import sys

from art_adapt import training

parser = argparse.ArgumentParser()
parser.add_argument("words", nargs="*")
kept = pickle.loads(pickle.dumps(sys.argv))  # as for a process that is started
print(parser.parse_args().words, kept[1:], type(kept))
"""


def test_an_agent_does_not_read_the_training_runs_arguments(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "agent_train.py").write_text(TRAIN)
    command = [sys.executable, "agent_train.py", "--run-name", "two words"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "opened stock.db\n"
    assert "--run-name: use only letters" in done.stderr  # which reads them itself


def test_a_program_that_imports_training_reads_its_own_arguments(
    tmp_path: Path,
) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "program.py", "one", "two"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "['one', 'two'] [] <class 'list'>\n", done.stderr
