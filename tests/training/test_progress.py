"""A run has bounds that are said before it starts, and that it keeps."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import time
from pathlib import Path
from typing import Any

import art
import pytest
from art.types import TrainResult

from art_adapt import training
from art_adapt.training.groups import UNJUDGED
from art_adapt.training.plan import described, make_plan
from art_adapt.training.reports import report

SETTINGS = {
    "ROLLOUTS_PER_GROUP": 4,
    "GROUPS_PER_STEP": 2,
    "EPOCHS": 3,
    "MAX_STEPS": 50,
    "MAX_HOURS": 12.0,
    "MAX_COMPLETION_TOKENS": 2048,
    "EPISODE_TIMEOUT": 600.0,
    "VALIDATION_ROLLOUTS": 2,
    "VALIDATION_SHARE": 0.2,
}


def test_a_first_look_is_cheap_and_says_what_all_would_take() -> None:
    plan = make_plan(SETTINGS, 900, 20, price=2.5)
    said = described(plan, 20)
    assert "50 steps of 1,350 (--max-steps), each of 8 episodes at most" in said
    assert "600 s and 2,048 tokens a completion" in said and "400 episodes" in said
    assert "12 h, $30.00 on one GPU" in said and "mostly noise" not in said
    # 40 episodes of a validation are a fifth of 200: of 160 that train, 20 steps of 8.
    assert plan.validate_every == 20 and "160 to validate" in said


@pytest.mark.parametrize(
    ("change", "steps", "wanted"),
    [({}, 50, 1350), ({"EPOCHS": 0}, 50, None), ({"MAX_STEPS": 5000}, 1350, 1350)],
)
def test_the_bounds_of_steps(change: Any, steps: int, wanted: int | None) -> None:
    plan = make_plan(SETTINGS | change, 900, 0)
    assert (plan.steps, plan.wanted, plan.validate_every) == (steps, wanted, None)
    assert "No scenario is held out" in described(plan, 0)


def test_a_cost_is_a_bound_of_hours() -> None:
    assert make_plan(SETTINGS, 9, 0, price=2.0, cost=10.0).hours == 5.0
    assert make_plan(SETTINGS, 9, 0, price=2.0, cost=100.0).hours == 12.0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"MAX_STEPS": None}, "MAX_STEPS = None: it must be a number, 1 or more"),
        ({"GROUPS_PER_STEP": 0}, "GROUPS_PER_STEP = 0"),
        ({"EPOCHS": "3"}, "EPOCHS = '3'"),
    ],
)
def test_bounds_must_be_numbers(change: Any, said: str) -> None:
    with pytest.raises(SystemExit, match=said):
        make_plan(SETTINGS | change, 900, 20)


def test_no_share_is_no_validation() -> None:
    for change in ({"VALIDATION_SHARE": 0}, {"VALIDATION_ROLLOUTS": 0}):
        assert make_plan(SETTINGS | change, 900, 20).validate_every is None
    assert make_plan(SETTINGS | {"MAX_HOURS": 0}, 9, 0, price=1, cost=5).hours == 0


def test_few_validation_scenarios_are_said() -> None:
    plan = make_plan(SETTINGS, 9, 2)
    assert (
        "With 2 validation scenarios, differences between checkpoints are mostly noise: use 20"
        in described(plan, 2)
    )


def group(*rewards: float, **metadata: str) -> art.TrajectoryGroup:
    trajectories = [training.Trajectory(reward=reward) for reward in rewards]
    return art.TrajectoryGroup(trajectories, metadata=dict(metadata))


def progressing(work: Any, **change: Any) -> Any:
    async def run() -> Any:
        return work(training.Progress(make_plan(SETTINGS | change, 900, 20), 0))

    return asyncio.run(run())


def test_steps_without_anything_to_learn_from_are_skipped_then_end_the_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    down = group(
        0.0, **{UNJUDGED: "RULER could not judge this group: the judge is down"}
    )

    def work(progress: training.Progress) -> None:
        for _ in range(2):
            assert progress.usable([down]) == []
        assert len(progress.usable([down, group(1.0)])) == 1  # which begins anew
        for _ in range(2):
            progress.usable([down])
        with pytest.raises(SystemExit, match=r"3 steps in a row .*the judge is down"):
            progress.usable([down])

    progressing(work)
    assert "Step skipped: there is nothing" in capsys.readouterr().out


def test_when_a_run_is_over(capsys: pytest.CaptureFixture[str]) -> None:
    over = [progressing(lambda p, at=at: p.is_over(at)) for at in (0, 49, 50)]
    assert over == [False, False, True]
    assert "50 steps are done. Raise --max-steps" in capsys.readouterr().out
    assert progressing(lambda p: p.is_over(1), MAX_HOURS=1e-9)
    assert "Run it again to continue" in capsys.readouterr().out


def test_the_hours_of_an_engines_start_count_as_well() -> None:
    plan = make_plan(SETTINGS | {"MAX_HOURS": 1}, 900, 20)
    late = dataclasses.replace(plan, started=time.monotonic() - 3601)

    async def is_over() -> bool:
        return training.Progress(late, 0).is_over(1)

    assert asyncio.run(is_over())


def test_when_it_validates() -> None:
    def work(progress: training.Progress) -> list[int]:
        return [step for step in range(51) if progress.validates_at(step)]

    assert progressing(work) == [0, 20, 40]


def test_a_first_validation_that_compares_with_nothing_is_left_out() -> None:
    plan = dataclasses.replace(make_plan(SETTINGS, 900, 20), comparable=False)

    async def due() -> list[int]:
        progress = training.Progress(plan, 0)
        return [step for step in range(51) if progress.validates_at(step)]

    assert asyncio.run(due()) == [20, 40]
    assert "120 to validate" in described(plan, 20)


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    return training.make_model("run", "tests", "a/model")


def logged(model: Any, *rows: dict[str, float]) -> None:
    history = Path(".art/tests/models/run/history.jsonl")
    history.parent.mkdir(parents=True, exist_ok=True)
    history.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def test_the_best_is_what_validation_calls_so(model: Any) -> None:
    assert training.best_step(model) is None
    logged(model, {"step": 1, "train/reward": 0.9}, {"step": 2, "train/reward": 0.1})
    assert training.best_step(model) is None and not training.is_validated(model, 1)
    logged(model, {"step": 20, "val/reward": 0.7}, {"step": 40, "val/reward": 0.6})
    assert training.best_step(model) == 20 and training.is_validated(model, 40)
    logged(model, *({"step": step, "val/reward": 0.7} for step in (20, 30, 40)))
    for step in (20, 40):  # of several that did as well, the one that ART has kept
        Path(f".art/tests/models/run/checkpoints/{step:04d}").mkdir(parents=True)
    assert training.best_step(model) == 40
    Path(".art/tests/models/run/checkpoints/0040").rmdir()
    assert training.best_step(model) == 20


class Backend:
    """Keeps the checkpoints that it is told to keep, as the steps of ``kept``."""

    def __init__(self, step: int) -> None:
        self.step, self.kept = step, list[list[int]]()

    async def _get_step(self, model: Any) -> int:
        return self.step

    async def _delete_checkpoint_files(self, model: Any, keep: list[int]) -> None:
        self.kept.append(keep)


def kept(
    model: Any, step: int = 50, train: Any = None, began: int = 0, **plan: Any
) -> list[list[int]]:
    """Return the checkpoints that a run keeps at ``step``, if it deletes others."""
    backend = Backend(step)
    object.__setattr__(model, "_backend", backend)
    settings = SETTINGS | {"TRAIN": train or {}}
    changed = dataclasses.replace(make_plan(settings, 900, 20), **plan)

    async def run() -> None:
        training.note_settings(model, changed, step)
        folder = Path(".art/tests/models/run")
        progress = training.Progress(changed, began, 0, folder)
        await progress.prune(model)

    asyncio.run(run())
    return backend.kept


def test_the_best_is_kept_however_late_it_was_validated(model: Any) -> None:
    """ART reads the history's columns from its first hundred rows."""
    warm_start = [{"step": 1, "loss/train": 1.0}] * 120
    late = [{"step": 20, "val/reward": 0.9}, {"step": 40, "val/reward": 0.5}]
    logged(model, *warm_start, *late)
    assert kept(model) == [[20, 50]]


def test_without_validation_the_best_in_training_is_kept(model: Any) -> None:
    logged(model, {"step": 3, "train/reward": 0.9}, {"step": 4, "train/reward": 0.1})
    assert kept(model) == [[3, 50]]


def test_a_judge_that_compares_episodes_chooses_no_checkpoint(
    model: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    logged(model, {"step": 20, "val/reward": 0.9}, {"step": 40, "val/reward": 0.5})
    assert kept(model, comparable=False) == [[20, 40, 50]]
    assert training.best_step(model) is None
    training.print_usage(model)
    assert "`evaluate` compares checkpoints" in capsys.readouterr().out


def test_other_validation_scenarios_begin_anew(
    model: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    logged(model, {"step": 20, "val/reward": 0.9})
    assert kept(model, held_out="these") == [[20, 50]]
    assert kept(model, held_out="others") == [[50]]
    assert "earlier validations do not count" in capsys.readouterr().out
    assert training.best_step(model) is None and not training.is_validated(model, 20)


def test_a_judge_that_can_compare_since_begins_anew(model: Any) -> None:
    """As where references were added, which make no other scenario."""
    logged(model, {"step": 20, "val/reward": 0.9})
    assert kept(model, comparable=False) == [[20, 50]]
    assert kept(model) == [[50]]


def test_what_another_machine_validated_stays_after_a_validation_here(
    model: Any,
) -> None:
    backend = Backend(41)
    object.__setattr__(model, "_backend", backend)
    plan = make_plan(SETTINGS, 900, 20)

    async def run() -> None:
        progress = training.Progress(plan, 40, 0, Path(".art/tests/models/run"))
        assert progress.validates_at(40)
        logged(model, {"step": 40, "val/reward": 0.2})
        await progress.prune(model)

    asyncio.run(run())
    assert backend.kept == []


def test_a_run_of_another_folder_is_said(
    model: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    training.note_settings(model, make_plan(SETTINGS, 900, 20), 7)
    assert "its weights are another run's" in capsys.readouterr().out


def test_a_resumed_run_validates_when_it_would_have(model: Any) -> None:
    logged(model, {"step": 20, "val/reward": 0.9})

    async def due() -> list[int]:
        folder = Path(".art/tests/models/run")
        progress = training.Progress(make_plan(SETTINGS, 900, 20), 39, 0, folder)
        return [step for step in range(40, 62) if progress.validates_at(step)]

    assert asyncio.run(due()) == [40, 60]


def test_a_step_is_logged_with_the_batches_that_taught_it_nothing() -> None:
    def work(progress: training.Progress) -> None:
        flat, mixed = group(1.0, 1.0), group(0.0, 1.0)
        groups = progress.usable([flat])
        assert groups == [flat] and progress.learnable(groups) == []
        groups = progress.usable([mixed, flat])
        assert groups == [flat, mixed, flat]
        assert progress.learnable(groups) == [mixed]
        counted = {"loss/train": 0.1, "data/step_num_groups_submitted": 1}
        counted |= {"data/step_num_gradient_steps": 2}
        logged = progress.note(TrainResult(step=1, metrics=counted))
        assert logged == {"loss/train": 0.1, "data/step_num_gradient_steps": 2}
        assert progress.usable([mixed]) == [mixed]

    progressing(work)


def test_changed_settings_of_a_run_are_said(
    model: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    def note(step: int, **change: Any) -> str:
        plan = make_plan(
            SETTINGS | {"TRAIN": {"learning_rate": 1e-5}} | change, 900, 20
        )
        training.note_settings(model, plan, step)
        return capsys.readouterr().out

    assert note(0) == "" and note(5) == ""
    assert note(5, MAX_STEPS=90, MAX_HOURS=1, DATA=Path("x"), API_KEY="sk-1") == ""
    (kept,) = Path(".art").rglob("settings.json")
    assert "sk-1" not in kept.read_text()
    said = note(5, TRAIN={"learning_rate": 5e-6})
    assert (
        "run started with TRAIN = {'learning_rate': 1e-05}, and continues with "
        "{'learning_rate': 5e-06}" in said
    )
    note(0, MODEL={"lora_config": {"rank": 8}, "engine_args": {}})
    note(5, MODEL={"lora_config": {"rank": 8}, "engine_args": {"max_model_len": 9}})
    with pytest.raises(SystemExit, match=r"do not fit .*'rank': 32.*--run-name"):
        note(5, MODEL={"lora_config": {"rank": 32}})
    model.base_model = "another/model"
    with pytest.raises(SystemExit, match=r"do not fit 'another/model'.*--run-name"):
        note(5)


@pytest.mark.parametrize(
    ("base_model", "parser"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", "llama3_json"),
        ("OpenPipe/Qwen3-14B-Instruct", None),
    ],
)
def test_tool_calls_are_parsed_as_the_model_writes_them(
    base_model: str, parser: str | None
) -> None:
    settings = training.server_settings(base_model) or {"server_args": {}}
    assert settings["server_args"].get("tool_call_parser") == parser


def test_a_local_backend_that_cannot_start_says_what_to_install() -> None:
    """Neither Unsloth nor what it needs is installed where the tests run."""
    with pytest.raises(SystemExit, match=r"cannot start: .*Python 3\.12 .*serverless"):
        training.make_backend("local")


def test_contexts_are_what_art_trains() -> None:
    longest = [
        training.make_model(
            "run", "tests", "a/model", {"engine_args": engine}
        )._internal_config
        for engine in ({}, {"max_model_len": 8000})
    ]
    assert [c["engine_args"]["max_model_len"] for c in longest] == [32_768, 8000]  # type: ignore[index, typeddict-item]


def test_validation_is_reported_with_its_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    training.report_validation([group(0.0, 1.0), group(1.0, 1.0)], 20)
    said = capsys.readouterr().out
    assert "step 20: mean reward 0.750 +- 0.250 on 2 validation scenarios" in said
    report([group(1.0, 1.0)])
    assert "this step teaches nothing" in capsys.readouterr().out


def test_a_later_run_goes_on_behind_the_batches_that_were_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def run(step: int, sampled: int) -> int:
        progress = training.Progress(make_plan(SETTINGS, 90, 0), step, 0, tmp_path)
        began = progress.batches
        for _ in range(sampled):
            progress.usable([art.TrajectoryGroup([art.Trajectory(reward=1.0)])])
        # The last of them was trained on.
        metrics = {"loss/train": 0.1234, "loss/entropy": 1.5, "other": 1}
        progress.note(TrainResult(step=step + 1, metrics=metrics))
        return began

    assert asyncio.run(run(0, 3)) == 0  # two without variance
    assert "step 1: loss 0.123, entropy 1.5\n" in capsys.readouterr().out
    assert asyncio.run(run(1, 1)) == 3
    assert asyncio.run(run(2, 1)) == 4


@pytest.mark.parametrize(
    ("began", "validated", "train", "deleted"),
    [
        (0, None, {}, True),
        (5, None, {}, False),  # another machine has validated
        (5, 3, {}, True),
        (0, None, {"kl_penalty_reference_step": 1}, False),
    ],
)
def test_no_checkpoint_is_deleted_that_something_needs(
    began: int, validated: int | None, train: Any, deleted: bool, model: Any
) -> None:
    if validated is not None:
        logged(model, {"step": validated, "val/reward": 0.5})
    assert bool(kept(model, began, train=train, began=began)) is deleted


def test_a_cost_is_shared_by_all_gpus() -> None:
    own = {"MODEL": {"trainer_gpu_ids": [0], "inference_gpu_ids": [1]}}
    assert make_plan(SETTINGS | own, 9, 0, price=2.0, cost=10.0).hours == 2.5
