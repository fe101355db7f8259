"""Test ``art-adapt rehearse --train``: it must learn what is rewarded, and nothing else.

Packing, loss, checkpoints and resuming are ART's own; the model is made on the spot.
"""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest
from agent_files import agent_file, art_adapt, copy_of
from test_rehearse import rehearse

from art_adapt.comparison import Result, comparison

MISSING = [n for n in ("torch", "transformers") if importlib.util.find_spec(n) is None]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"no {', '.join(MISSING)}"),
]

# An agent, what it is asked and what would be right, a reward, and what the model can say.
TOOL_LOOP = (
    "support_loop",
    [  # as many as it takes to show a difference
        {"question": question.format(order), "day": day}
        for order, day in (
            ("HO-1042", "Friday"),
            ("HO-1043", "Monday"),
            ("HO-1044", "Saturday"),
        )
        for question in (
            "When does {} arrive?",
            "Where is {}?",
            "{} is late. What now?",
        )
    ],
    "float(scenario.day in str(trajectory.final_answer))",
    [
        *(
            {
                "tool_calls": [
                    {"name": "look_up_order", "arguments": {"order_id": order}}
                ]
            }
            for order in ("HO-1042", "HO-1043", "HO-1044")
        ),
        *(
            {"content": f"It arrives on {day}."}
            for day in ("Friday", "Monday", "Saturday")
        ),
    ],
)
SINGLE_TURN = (
    "package_agent",
    [
        {"title": "Coupon", "body": "SUMMER10 is refused.", "team": "checkout"},
        {"title": "No rakes", "body": "The list stays empty.", "team": "search"},
        {"title": "Two mails", "body": "My password was reset.", "team": "accounts"},
    ],
    "float((trajectory.final_answer or {}).get('team') == scenario.team)",
    [
        {"content": json.dumps({"team": team, "severity": 2, "duplicate_of": None})}
        for team in ("checkout", "search", "accounts")
    ],
)

# What is rewarded is said by the sub-agents, whose histories are beside the planner's.
SAID_BY_SUB_AGENTS = (
    "[i.message.content for h in trajectory.additional_histories"
    " for i in h.messages_and_choices if not isinstance(i, dict)]"
)
SUB_AGENTS = (
    "parallel_subagents",
    [{"wish": f"A dinner for {guests}."} for guests in ("two", "nine", "sixty")],
    f"(lambda said: said.count('Soup.') / max(1, len(said)))({SAID_BY_SUB_AGENTS})",
    [
        {
            "tool_calls": [
                {"name": "delegate", "arguments": {"role": "cook", "tasks": [task]}}
            ]
        }
        for task in ("a starter", "a drink")
    ]
    + [{"content": content} for content in ("Soup.", "Tea.")],
)


def prepared(
    tmp_path: Path,
    case: Any,
    reward: str | None = None,
    options: tuple[str, ...] = (),
) -> tuple[Path, str]:
    """Adapt an agent with scenarios, a reward and replies; return its train module too."""
    name, scenarios, right, replies = case
    folder = copy_of(name, tmp_path)
    agent = agent_file(folder)
    for file, rows in (
        (agent.with_name("scenarios.jsonl"), scenarios),
        (folder / "replies.jsonl", replies),
    ):
        file.write_text("\n".join(map(json.dumps, rows)))
    (folder / "rewards.py").write_text(
        f"import random\n\n\ndef f(trajectory, scenario):\n    return {reward or right}\n"
    )
    options = ("--isolated", "--reward", "rewards:f", *options)
    done = art_adapt(*options, agent.relative_to(folder), cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder, str(next(folder.rglob("agent_train.py")).relative_to(folder))


@pytest.mark.parametrize(
    "case",
    [
        TOOL_LOOP,
        pytest.param(SINGLE_TURN, marks=pytest.mark.long),
        pytest.param(SUB_AGENTS, marks=pytest.mark.long),
    ],
    ids=lambda case: case[0],
)
def test_it_learns_what_is_rewarded_and_goes_on_where_it_stopped(
    case: Any, tmp_path: Path
) -> None:
    folder, module = prepared(tmp_path, case)
    code, said, complaints = rehearse(
        *(module, "--train", "--replies", "replies.jsonl", "--json"),
        *("--html", "report.html", "--plot", "curve.png"),
        cwd=folder,
    )
    assert code == 0, (said, complaints)
    told = json.loads(said)["learning"]
    began, ended = sum(told["rewards"][:3]) / 3, sum(told["rewards"][-5:]) / 5
    assert len(told["rewards"]) == 30
    assert began < 0.65 and ended >= max(0.7, began + 0.3)  # sampled: 0.77 to 1.0 seen
    assert sum(told["control"][-5:]) / 5 < 0.65
    assert told["tokens"] > 100 and told["apart"] < 1e-4
    assert told["stopped_at"] == told["resumed_at"] == 30 and told["resumed_same"]
    untrained, trained, shuffled = (Result(**each) for each in told["evaluated"])
    assert len(trained.rewards) == len(case[1])
    if len(trained.rewards) > 5:  # of fewer nothing can be shown
        verdict = comparison(untrained, trained)
        assert verdict.endswith(": better"), verdict
    verdict = comparison(untrained, shuffled)
    assert not verdict.endswith(": better"), verdict
    assert (folder / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert "data:image/png;base64," in (folder / "report.html").read_text()
    assert not list(folder.rglob(".art"))


@pytest.mark.long
def test_ruler_is_learned_from_without_anything_prepared(tmp_path: Path) -> None:
    folder = copy_of("support_loop", tmp_path)
    assert art_adapt("--isolated", "agent.py", cwd=folder).returncode == 0
    code, said, _ = rehearse("agent_train.py", "--train", cwd=folder)
    assert code == 0, said
    assert re.search(r"trained +30 steps", said)
    assert "judge" in said  # whose liking was learned


@pytest.mark.long  # its trainer is another, its model and its rewards are the first test's
def test_a_pipeline_trains_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    folder, module = prepared(tmp_path, TOOL_LOOP, options=("--pipeline",))
    code, said, complaints = rehearse(
        *(module, "--train", "--steps", "6", "--replies", "replies.jsonl", "--json"),
        cwd=folder,
    )
    told, found = (json.loads(said)[name] for name in ("learning", "findings"))
    assert told["off_policy"] and told["tokens"] > 100, complaints
    assert told["stopped_at"] == told["resumed_at"] == 6 and told["resumed_same"]
    assert {each["name"] for each in found} <= {"did not learn"}, code  # in six steps


@pytest.mark.long  # the control of the first test shows it, too
def test_what_cannot_be_learned_is_not_said_to_be(tmp_path: Path) -> None:
    folder, module = prepared(tmp_path, SINGLE_TURN, "random.random()")
    code, said, _ = rehearse(
        *(module, "--train", "--steps", "12", "--replies", "replies.jsonl"), cwd=folder
    )
    assert code == 1 and "did not learn" in said


@pytest.mark.long  # the first test shows that resuming is looked at
def test_a_module_that_begins_anew_is_found(tmp_path: Path) -> None:
    folder, module = prepared(tmp_path, SINGLE_TURN)
    file = folder / module
    source = file.read_text()
    assert "initial_step=progress.batches" in source
    file.write_text(source.replace("initial_step=progress.batches", "initial_step=0"))
    code, said, _ = rehearse(
        *(module, "--train", "--steps", "4", "--replies", "replies.jsonl", "--json"),
        cwd=folder,
    )
    found = {each["name"]: each for each in json.loads(said)["findings"]}
    assert code == 1 and "not resumed" in found
    assert "initial_step" in source.splitlines()[found["not resumed"]["line"] - 1]


def test_a_curve_needs_training(tmp_path: Path) -> None:
    folder, module = prepared(tmp_path, SINGLE_TURN)
    code, _, complaint = rehearse(module, "--plot", "curve.png", cwd=folder)
    assert code == 2 and "--train" in complaint
