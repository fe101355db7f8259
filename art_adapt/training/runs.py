"""A training run: its command line, its scenarios, its model and backend, its end."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import resolve_name
from pathlib import Path
from typing import Any, Generic, TypeVar

import art
import pydantic
from art.utils import iterate_dataset

from art_adapt.scenario_sources import SourceKind, source_kind
from art_adapt.training.scenarios import load_scenarios, split

S = TypeVar("S", bound=pydantic.BaseModel)
UNTIL_STOPPED = 1_000_000  # epochs


@dataclass(frozen=True)
class Run(Generic[S]):
    """What a run was asked for on its command line.

    Attributes:
        scenarios: to train on.
        validation: held out; may be empty.
        backend: ``local`` or ``serverless``.
        shown: how many episodes of a step to write as a page.
    """

    scenarios: list[S]
    validation: list[S]
    backend: str
    shown: int


def prepare(
    scenario: type[S],
    scenarios: str,
    *,
    backend: str | None = None,
    judge: str | None = None,
) -> Run[S]:
    """Read the command line and the scenarios of a train module.

    Args:
        scenario: the module's ``Scenario``.
        scenarios: where they are, unless the command line says otherwise: a path
            beside the module, or ``module:NAME``.
        backend: the default; None offers no choice, and is ``local``.
        judge: the model that judges, if one does.

    Raises:
        SystemExit: a scenario, or the key of a service that the run needs, is missing.
    """
    module = sys._getframe(1).f_globals  # of the train module
    if source_kind(scenarios) is not SourceKind.ROWS:
        scenarios = str(Path(module["__file__"]).parent / scenarios)
    elif scenarios.startswith("."):
        scenarios = resolve_name(scenarios, module["__package__"])
    options = _options(module["__doc__"] or "", scenarios, backend)
    training = load_scenarios(scenario, options.scenarios)
    if options.validation:
        validation = load_scenarios(scenario, options.validation)
    else:
        training, validation = split(training)
    if not training:
        raise SystemExit("there is no scenario to train on")
    if options.backend == "serverless":
        _require("WANDB_API_KEY", "the serverless backend")
    if judge is not None and judge.startswith("openai/"):
        _require("OPENAI_API_KEY", "RULER's judge")
    return Run(training, validation, options.backend, options.show_trajectories)


def _options(documentation: str, scenarios: str, backend: str | None) -> Any:
    parser = argparse.ArgumentParser(description=documentation.partition("\n")[0])
    parser.add_argument(
        "--scenarios",
        default=scenarios,
        help="a JSONL or CSV file, a dataset's folder, or module:NAME",
    )
    parser.add_argument(
        "--validation", help="scenarios of its own; else a tenth of the others"
    )
    if backend is None:
        parser.set_defaults(backend="local")
    else:
        choices = ("local", "serverless")
        parser.add_argument("--backend", choices=choices, default=backend)
    parser.add_argument(
        "--show-trajectories",
        type=int,
        default=0,
        metavar="N",
        help="write the best N episodes of each step as a page",
    )
    return parser.parse_args()


def _require(variable: str, user: str) -> None:
    if not os.environ.get(variable):
        raise SystemExit(f"{variable} is not set: {user} needs it")


def make_model(
    name: str,
    project: str,
    base_model: str,
    engine: dict[str, Any] | None = None,
    **settings: Any,
) -> art.TrainableModel[Any, Any]:
    """Return the model to train, as the installed ART wants it.

    Args:
        name: the run's name.
        project: the project's name in ART.
        base_model: the model to start from.
        engine: vLLM's settings, such as ``{"gpu_memory_utilization": 0.8}``.
        settings: further keys of ART's ``_internal_config``, such as
            ``trainer_gpu_ids``.
    """
    options: dict[str, Any] = {}
    if "run_name" in art.TrainableModel.model_fields:  # art 0.5.23 asks for it
        options["run_name"] = name
    else:  # art 0.5.18 renders tools anew: with their keys in vLLM's order
        settings["chat_template_tool_schema_format"] = "vllm_openai"
    if engine:
        settings["engine_args"] = engine
    if settings:
        options["_internal_config"] = settings
    return art.TrainableModel(
        name=name, project=project, base_model=base_model, **options
    )


def make_backend(kind: str) -> Any:
    """Return ART's backend of that kind, ``local`` or ``serverless``."""
    if kind == "serverless":
        from art.serverless.backend import ServerlessBackend

        return ServerlessBackend()
    from art.local import LocalBackend

    return LocalBackend()


def stop_after_step() -> asyncio.Event:
    """Return an event that the first Ctrl-C sets; the second one interrupts."""
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        print("Finishing this step. Ctrl-C again stops at once.")
        loop.remove_signal_handler(signal.SIGINT)
        asked.set()

    with contextlib.suppress(NotImplementedError):  # Windows has none
        loop.add_signal_handler(signal.SIGINT, stop)
    return asked


def scenario_stream(scenarios: list[S], epochs: int) -> Iterator[Any]:
    """Return the scenarios epoch after epoch, in the same order in every run.

    PipelineTrainer passes over those that an earlier run has done.
    """
    batches = iterate_dataset(
        scenarios, num_epochs=epochs or UNTIL_STOPPED, use_tqdm=False
    )
    return (scenario for batch in batches for scenario in batch.items)
