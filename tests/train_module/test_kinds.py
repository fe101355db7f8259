"""Train modules as they are written: to the byte, short, and as formatters leave them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import black
import pytest
from agent_files import NAMES, agent_file, art_adapt, copy_of

from art_adapt.decisions import Options
from art_adapt.plan import make_plan
from art_adapt.source import read_source
from train_module.kinds import EXPECTED, KINDS, train_module

LONGEST = 176


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_as_expected(kind: str, tmp_path: Path) -> None:
    module = train_module(kind, tmp_path)
    assert module.read_bytes() == (EXPECTED / f"{kind}.py").read_bytes()
    text = module.read_text(encoding="utf-8")
    assert black.format_str(text, mode=black.Mode()) == text
    (module.parent / "rewards.py").write_text("")  # so that ruff knows it as local
    for check in (["format", "--diff"], ["check", "--select", "E4,E7,E9,F,I,B,UP"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *check, "--isolated", "--no-cache", module],
            cwd=module.parent,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout.decode()


@pytest.mark.parametrize("pipeline", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_every_fixtures_is_short(name: str, pipeline: bool, tmp_path: Path) -> None:
    source = read_source(agent_file(copy_of(name, tmp_path)))
    plan = make_plan([source], Options(pipeline=pipeline, trace="weave"))
    (module,) = [e for e in plan.edits if e.path.name.endswith("_train.py")]
    assert module.after is not None
    assert module.after.count(b"\n") < LONGEST


@pytest.mark.parametrize("kind", KINDS)
def test_check_finds_nothing_in_what_is_written(kind: str, tmp_path: Path) -> None:
    module = train_module(kind, tmp_path)
    done = art_adapt("check", module.parent, cwd=module.parent)
    assert done.returncode == 0, done.stdout.decode()
