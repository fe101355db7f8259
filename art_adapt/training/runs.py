"""A training run: its command line, its scenarios, and what they take."""

from __future__ import annotations

import argparse
import gc
import math
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Generic, TypeVar

import art
import pydantic
from art.utils import iterate_dataset

from art_adapt.backends import KEYS, Backend
from art_adapt.scenarios.rows import (
    digest,
    load_scenarios,
    source_beside,
    split,
    without,
)
from art_adapt.training.checkpoints import (
    FILES,
    checkpoints_in,
    imitated_in,
    set_aside_partial,
    validated_in,
)
from art_adapt.training.demonstrations import read_demonstrations
from art_adapt.training.judging import try_judge
from art_adapt.training.models import refuse_absent
from art_adapt.training.options import refuse, wrong_form, wrong_options
from art_adapt.training.plan import Plan, described, make_plan
from art_adapt.training.progress import batches_at

S = TypeVar("S", bound=pydantic.BaseModel)
UNTIL_STOPPED = 1_000_000  # epochs
TASKS = (
    "train; evaluate: compare models; probe: find scenarios worth training on; "
    "demonstrate: keep good episodes of production, for --warm-start"
)
INCOMPARABLE = (
    "RULER compares the episodes of a group with each other, so validation scores of "
    "different steps are hardly comparable: give scenarios a reference or a rubric, or "
    "compare checkpoints with `evaluate`."
)


class Task(StrEnum):
    """What a train module is run for."""

    TRAIN = "train"
    EVALUATE = "evaluate"
    PROBE = "probe"
    DEMONSTRATE = "demonstrate"


@dataclass(frozen=True)
class Run(Generic[S]):
    """What a run was asked for, by the module's constants and on its command line.

    Attributes:
        name: of the run in ART.
        scenarios: to train on.
        validation: held out; may be empty.
        backend: one of ``Backend``.
        shown: how many episodes of each kind to write as a page, step by step.
        plan: what it takes at most.
        task: what is to be done.
        endpoint: that serves models to evaluate or to probe.
        models: their names; empty: all that it serves.
        with_production: whether the production model is compared as well.
        rollouts: of a scenario, by each model.
        least_reward: of an episode that demonstrates; None: the mean.
        demonstrations: conversations to imitate before the first step.
    """

    name: str
    scenarios: list[S]
    validation: list[S]
    backend: str
    shown: int
    plan: Plan
    task: Task
    endpoint: str | None
    models: tuple[str, ...]
    with_production: bool
    rollouts: int
    least_reward: float | None
    demonstrations: Sequence[art.Trajectory]


def prepare(scenario: type[S], module: Mapping[str, Any]) -> Run[S]:
    """Read the command line and the scenarios of a train module; say what it will take.

    Args:
        scenario: the module's ``Scenario``.
        module: its ``globals()``: the constants are its settings.

    Raises:
        SystemExit: a scenario, or the key of a service that the run needs, is missing;
            or the run has been done already.
    """
    _collect_seldom()
    settings = {name: value for name, value in module.items() if name.isupper()}
    refuse(wrong_form(settings))
    options = _options(module["__doc__"] or "", source_beside(module), settings)
    training = load_scenarios(scenario, options.scenarios)
    most = settings.get("VALIDATION_SCENARIOS")
    if options.validation:
        validation = load_scenarios(scenario, options.validation)
        training = without(validation, training)
        validation = validation[:most]
        if not training:
            raise SystemExit(
                "All scenarios are also in --validation, so none is left to train on. "
                "Remove some from that file."
            )
    else:
        training, validation = split(training, most)
    if not training:
        raise SystemExit("no scenario to train on: add rows to SCENARIOS")
    backend = options.backend if options.task is Task.TRAIN else None
    refuse(wrong_options(settings, options.backend))
    for variable, user in keys_needed(settings, backend).items():
        if not os.environ.get(variable):
            raise SystemExit(f"{variable} is not set: {user} needs it")
    changed = {"MAX_STEPS": options.max_steps, "MAX_HOURS": options.max_hours}
    plan = make_plan(
        settings | changed,
        len(training),
        len(validation),
        price=options.gpu_price,
        cost=options.max_cost,
    )
    judge = settings.get("JUDGE_MODEL")
    # A judge alone compares the episodes of a group, and those of one step only.
    alone = bool(judge) and settings.get("RULER_WEIGHT") is None
    comparable = not alone or all(map(_is_comparable, validation))
    plan = replace(plan, held_out=digest(validation), comparable=comparable)
    demonstrations: Sequence[art.Trajectory] = ()
    if options.task is Task.TRAIN:
        folder = Path(FILES, settings["PROJECT"], "models", options.run_name)
        step = 0
        if options.backend == Backend.LOCAL:
            set_aside_partial(folder)
            step = max(checkpoints_in(folder), default=0)
            if not validation or step in validated_in(folder):
                _refuse_finished(options.run_name, folder, step, plan)
        if options.warm_start is not None and not step:
            _refuse_warm_start(options.backend, settings.get("MODEL", {}))
            demonstrations = read_demonstrations(Path(options.warm_start))
        print(described(plan, len(validation)))
        if validation and not comparable:
            print(INCOMPARABLE)
        refuse_absent(options.backend)  # which no answer of a judge can mend
    if judge and (why := try_judge(str(judge), module.get("judge"))) is not None:
        raise SystemExit(why)
    return Run(
        options.run_name,
        training,
        validation,
        options.backend,
        options.show_trajectories,
        plan,
        options.task,
        options.endpoint,
        tuple(options.model),
        _asks_production(options),
        options.rollouts,
        options.least_reward,
        demonstrations,
    )


def _collect_seldom() -> None:
    """Let this process look for garbage in cycles less often than Python does as a rule.

    A step's trajectories are many small objects that stay: looked through again after
    every 700 new ones, they took a third of the CPU time of 64 rollouts
    (tests/benchmarks/recording.py). What is imported by now stays for good.
    """
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


def _options(documentation: str, scenarios: str, settings: Mapping[str, Any]) -> Any:
    parser = argparse.ArgumentParser(description=documentation.partition("\n")[0])
    add = parser.add_argument
    add(
        "task", nargs="?", type=Task, choices=list(Task), default=Task.TRAIN, help=TASKS
    )
    about = "a JSONL or CSV file, a dataset's folder, or module:NAME"
    add("--scenarios", default=scenarios, help=about)
    add(
        "--validation",
        help="separate validation scenarios; by default some of --scenarios",
    )
    add(
        "--run-name",
        default=settings.get("RUN_NAME", "run"),
        help="the name of its checkpoints",
    )
    steps = "steps in total; a later run continues from the last checkpoint"
    add("--max-steps", type=int, default=settings.get("MAX_STEPS"), help=steps)
    hours = "start no step after this time; the final validation is extra"
    add("--max-hours", type=float, default=settings.get("MAX_HOURS"), help=hours)
    add("--gpu-price", type=float, help="dollars per hour, to print what the run costs")
    add(
        "--max-cost",
        type=float,
        help="dollars; start no step after this cost; needs --gpu-price",
    )
    if "BACKEND" in settings:
        add(
            "--backend",
            choices=[each.value for each in Backend],
            default=settings["BACKEND"],
        )
        shown = "conversations to imitate first, from demonstrate"
        warm_start = settings.get("WARM_START")
        add("--warm-start", metavar="FILE", default=warm_start, help=shown)
    else:  # a pipeline: on GPUs of its own a trainer of ART can't imitate
        parser.set_defaults(backend="local", warm_start=None)
    page = "write a page with the N best, worst and other episodes of each step"
    add("--show-trajectories", type=int, default=0, metavar="N", help=page)
    add = parser.add_argument_group("evaluate, probe, demonstrate").add_argument
    add(
        "--endpoint",
        metavar="URL",
        help="an endpoint that serves models; its key is ENDPOINT_API_KEY",
    )
    add(
        "--model",
        action="append",
        default=[],
        help="a model that it serves; by default all",
    )
    add("--no-production", action="store_true", help="leave out the agent's own model")
    add("--rollouts", type=int, help="rollouts of each scenario by each model")
    least = "lowest reward of an episode to keep; by default the mean"
    add("--least-reward", type=float, help=least)
    options = parser.parse_args()
    if not re.fullmatch(r"[\w.-]+", options.run_name):
        parser.error(
            "--run-name: use only letters, digits, dots, hyphens and underscores"
        )
    if options.rollouts is None:
        of_task = {
            Task.PROBE: "ROLLOUTS_PER_GROUP",
            Task.EVALUATE: "VALIDATION_ROLLOUTS",
            Task.DEMONSTRATE: "VALIDATION_ROLLOUTS",
        }
        options.rollouts = settings.get(of_task.get(options.task, ""), 1)
    if options.max_cost is not None and options.gpu_price is None:
        parser.error("--max-cost needs --gpu-price")
    return options


def _asks_production(options: Any) -> bool:
    """Tell whether the agent's own model is run: compared, or in demonstrations alone."""
    if options.task is Task.DEMONSTRATE:
        return options.endpoint is None
    return options.task is Task.EVALUATE and not options.no_production


def _is_comparable(scenario: Any) -> bool:
    """Tell whether a scenario shows its judge what any episode can be held against."""
    given = (getattr(scenario, name, None) for name in ("reference", "rubric"))
    return any(each is not None for each in given)


def keys_needed(settings: Mapping[str, Any], backend: str | None) -> dict[str, str]:
    """Return the variables with keys that a run needs, each with what needs it.

    ``backend`` is None where no model is trained.
    """
    needed: dict[str, str] = dict.fromkeys(settings.get("KEYS", ()), "a side job")
    if backend in KEYS:
        needed[KEYS[Backend(backend)]] = f"the {backend} backend"
    if str(settings.get("JUDGE_MODEL", "")).startswith("openai/"):
        needed["OPENAI_API_KEY"] = "RULER's judge"
    return needed


def _refuse_finished(name: str, folder: Path, reached: int, plan: Plan) -> None:
    """Stop before an engine is started for a run that is done."""
    imitated = imitated_in(folder)
    step = reached - imitated
    if step <= 0:
        return
    if step >= plan.steps:
        more = "raise EPOCHS" if plan.steps == plan.wanted else "raise --max-steps"
        raise SystemExit(
            f"{name} has done its {plan.steps} steps: {more} to continue, or start a new run with --run-name"
        )
    if plan.wanted is not None and batches_at(folder, reached, imitated) >= plan.wanted:
        raise SystemExit(
            f"{name} has been through all its epochs at step {step}, because steps without "
            "variance are not counted: raise EPOCHS to continue, or start a new run with "
            "--run-name"
        )


def _refuse_warm_start(backend: str, model: Mapping[str, Any]) -> None:
    """Stop where ART has no supervised fine-tuning.

    Art 0.5.23: tinker_native/backend.py, _train_sft; unsloth/service.py:714.
    """
    what = None
    if backend == Backend.TINKER:
        what = "on the tinker backend"
    elif "trainer_gpu_ids" in model or "vllm_runtime" in model:
        what = "with separate GPUs for the trainer"
    if what is not None:
        raise SystemExit(
            f"--warm-start does not work here: ART has no supervised fine-tuning {what}"
        )


def scenario_stream(run: Run[S], epochs: int) -> Iterator[Any]:
    """Return the scenarios epoch after epoch, in the same order in every run.

    PipelineTrainer passes over those that an earlier run has done. The stream ends
    when the run's hours are over.
    """
    batches = iterate_dataset(
        run.scenarios, num_epochs=epochs or UNTIL_STOPPED, use_tqdm=False
    )
    hours = run.plan.hours
    ends = math.inf if hours is None else run.plan.started + hours * 3600
    return _until(ends, batches)


def _until(ends: float, batches: Iterable[Any]) -> Iterator[Any]:
    for batch in batches:
        if time.monotonic() >= ends:
            return
        yield from batch.items
