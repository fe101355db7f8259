"""Edit the train module that art-adapt writes as its owner would, and check it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from agent_files import adapted_copy_of, art_adapt, copy_of

END = "    return trajectory\n"
JUDGED = "            after_each=judge,\n"
SCORE = """\
import random


def score(trajectory, scenario):
    {}
"""
# What somebody changes, and the rule that the change breaks.
BROKEN = {
    "another temperature": ([("TEMPERATURE = 1.0", "TEMPERATURE = 0.2")], "ART406"),
    "no judge and no reward": ([(JUDGED, "")], "ART301"),
    "a reward nobody reads": (
        [(JUDGED, ""), (END, '    trajectory.metadata["reward"] = 1\n' + END)],
        "ART301",
    ),
    "the same reward": ([(END, "    trajectory.reward = 1.0\n" + END)], "ART302"),
    "noise": (
        [
            ("import asyncio", "import asyncio, random"),
            (END, "    trajectory.reward = 1.0 * bool(trajectory.final_answer)"
                  " + random.random() / 99\n" + END),
        ],
        "ART303",
    ),
    "a failure is a bad answer": (
        [
            ("    trajectory = await", "    try:\n      trajectory = await"),
            (END, "    except Exception:\n"
                  "        return training.Trajectory(messages_and_choices=[], reward=0.0)\n"
                  + END),
        ],
        "ART305",
    ),
    "half of the paths": (
        [(END, "    if trajectory.final_answer:\n        return trajectory\n")],
        "ART525",
    ),
    "a wait": (
        [("import asyncio", "import asyncio, time"), (END, "    time.sleep(2)\n" + END)],
        "ART512",
    ),
    "the last messages": (
        [(END, "    trajectory.messages_and_choices = "
               "trajectory.messages_and_choices[-4:]\n" + END)],
        "ART206",
    ),
    "no failure allowed": (
        [("max_exceptions=size * len(scenarios)", "max_exceptions=0")],
        "ART505",
    ),
    "an unawaited close": ([("await backend.close()", "backend.close()")], "ART508"),
    "an unawaited close of a model's": (
        [("await backend.close()", "model._backend.close()")],
        "ART508",
    ),
}  # fmt: skip
# What somebody may change.
RIGHT = {
    "nothing": [],
    "own names": [(" trajectory = ", " seen = "), ("return trajectory\n", "return seen\n")],
    "a reward of what was said": [
        (END, "    trajectory.reward = float(len(str(trajectory.final_answer)) < 99)\n" + END)
    ],
    "own groups": [(JUDGED, "            after_each=lambda group: judge(group),\n")],
    "a judge by hand": [
        (JUDGED, ""),
        ("            groups = progress.usable(sampled)",
         "            sampled = [await judge(each) for each in sampled]\n"
         "            groups = progress.usable(sampled)"),
    ],
    "a failure goes on": [
        ("    trajectory = await", "    try:\n      trajectory = await"),
        (END, "    except Exception:\n        print(scenario)\n        raise\n" + END),
    ],
    "cut for a look": [
        (END, "    print(trajectory.messages_and_choices[-2:])\n" + END)
    ],
}  # fmt: skip
SCORES = {
    "return 0.5": "ART302",
    "if trajectory.final_answer:\n        return 1.0\n    return 1.0": "ART302",
    'return {"right": len(trajectory.final_answer) + random.random()}': "ART303",
    "return float(scenario.question in trajectory.final_answer)": "",
    "if not trajectory.final_answer:\n        return 0.0\n    return 1.0": "",
    "asked = random.choice([1, 2])\n    return trajectory.final_answer == asked": "",
}


def found(folder: Path) -> set[str]:
    done = art_adapt("check", "--output-format", "json", ".", cwd=folder)
    assert done.returncode in (0, 1), done.stderr.decode()
    return {each["code"] for each in json.loads(done.stdout)}


def edited(folder: Path, edits: list[tuple[str, str]]) -> set[str]:
    module = folder / "agent_train.py"
    text = module.read_text()
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    module.write_text(text)
    return found(folder)


@pytest.mark.parametrize("name", BROKEN)
def test_a_harmful_edit_is_found(name: str, tmp_path: Path) -> None:
    edits, rule = BROKEN[name]
    assert rule in edited(adapted_copy_of("support_loop", tmp_path), edits)


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_edit_is_not(name: str, tmp_path: Path) -> None:
    assert not edited(adapted_copy_of("support_loop", tmp_path), RIGHT[name])


@pytest.mark.parametrize("body", SCORES)
def test_a_reward_function_is_read_where_it_is(body: str, scored: Path) -> None:
    (scored / "rewards.py").write_text(SCORE.format(body))
    assert found(scored) == {SCORES[body]} - {""}


@pytest.fixture(scope="module")
def adapted_with_reward(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = copy_of("support_loop", tmp_path_factory.mktemp("scored"))
    (folder / "rewards.py").write_text(SCORE.format("return 1.0"))
    flags = ("--reward", "rewards:score", "--isolated", "--yes")
    done = art_adapt(*flags, "agent.py", cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    return folder


@pytest.fixture
def scored(adapted_with_reward: Path, tmp_path: Path) -> Path:
    return shutil.copytree(adapted_with_reward, tmp_path / "scored")
