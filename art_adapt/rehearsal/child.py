"""Run a train module's ``main()`` in a process of its own, and write down what it did.

``child_process.run_child`` starts it, with its settings in the environment.
The train module is not modified and ART is the real one. Only ART's backends are replaced:
``stand_in`` serves the scripted model and takes the groups where a gradient step would be;
with ``--train`` it is ART's LocalBackend with a tiny model behind it (``training``).
"""

from __future__ import annotations

import gc
import importlib
import inspect
import itertools
import math
import os
import sys
import tempfile
import threading
import time
import traceback
import types
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from art_adapt.backends import Backend
from art_adapt.comparison import Result
from art_adapt.rehearsal.observed import (
    Observed,
    Rehearsed,
    plain_scenario,
    rollouts_of,
    trajectory_of,
)
from art_adapt.rehearsal.places import places
from art_adapt.rehearsal.protocol import (
    Bounds,
    Evaluated,
    Notes,
    Progress,
    Raised,
    Settings,
    StoppedBy,
    from_json,
    progress_file,
    to_json,
)
from art_adapt.rehearsal.recorders import episodes_folder, watch_recorders
from art_adapt.rehearsal.stand_in import make_stand_in
from art_adapt.rehearsed import SETTINGS  # whose import sets the conditions
from art_adapt.stops import Stop
from art_adapt.train_file import import_name
from art_adapt.without_torch import without_torch

TOLD_EVERY = 0.3  # seconds
UNBOUNDED = {"MAX_STEPS": 1_000_000}
LEAST = {"EPOCHS": 1_000_000, "ROLLOUTS_PER_GROUP": 8, "GROUPS_PER_STEP": 4}


def main(settings: Settings) -> None:
    """Run the train module and write the notes."""
    _write(Path(settings.out), to_json(run(settings)))


def _write(path: Path, text: str) -> None:
    """Write a file that is read meanwhile: its reader finds all of it or nothing."""
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def run(settings: Settings) -> Notes:
    """Run the train module to its end or its last step, and return what was seen."""
    seen = Observed(folder=episodes_folder(settings))
    telling = threading.Thread(target=_tell, args=[seen, settings.out], daemon=True)
    telling.start()
    file = Path(settings.file)
    root, name = import_name(file)
    sys.path.insert(0, str(root))
    sys.argv = [str(file)]
    constants: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as temporary:
        trains = bool(settings.train or settings.evaluated or settings.engine)
        gc.disable()  # what importing ART makes stays: looking for garbage took a quarter of it
        with nullcontext() if trains else without_torch():
            _replace_backends(_backend(settings, settings.storage or temporary, seen))
            _watch_art(seen, keep=settings.train is None)
        gc.enable()
        if b"PipelineTrainer" in file.read_bytes():
            _limit_pipeline(settings.steps, seen)
        try:
            module: Any = importlib.import_module(name)
            seen.module = module
            seen.notes = replace(seen.notes, at_import=_asked())
            constants = {k: v for k, v in vars(module).items() if k.isupper()}
            _raise(module, UNBOUNDED)
            _watch_reward(seen)
            if hasattr(module, "RUN_NAME"):  # which a real run may have finished
                module.RUN_NAME = "rehearsal"
            if settings.engine is not None:
                # It ends as a real run does: by its own bound, with what it prints then.
                module.BASE_MODEL, module.MAX_STEPS = (
                    settings.engine.base,
                    settings.steps,
                )
                _raise(module, LEAST)
            if settings.train is None:
                watch_recorders(seen)
            else:
                _raise(module, LEAST)
                module.VALIDATION_SCENARIOS = 0  # all are trained on
            if settings.evaluated is None:
                module.main()
            else:
                seen.notes = replace(
                    seen.notes, results=_evaluated(module, settings.evaluated)
                )
        except Rehearsed:
            pass
        except SystemExit as stop:
            said = str(stop.code or 0)
            seen.notes = replace(seen.notes, stopped=said, stopped_by=_cause(stop))
        except BaseException as error:
            seen.notes = replace(seen.notes, raised=_raised(error, root))
    seen.collect()
    return replace(
        seen.notes,
        bounds=_bounds(constants, len(seen.notes.scenarios)),
        rollouts=(*rollouts_of(seen.rollouts), *seen.elsewhere),
        training=seen.training if settings.train or settings.engine else None,
    )


def _tell(seen: Observed, out: str) -> None:
    """Write down how far the run is, for as long as it lasts."""
    while True:
        progress = Progress(seen.steps, len(seen.rollouts), places(seen.loop))
        _write(progress_file(out), to_json(progress))
        time.sleep(TOLD_EVERY)


def _bounds(constants: Mapping[str, Any], scenarios: int) -> Bounds | None:
    """Return the bounds that a train module's constants set; None: it has none of ours."""
    from art_adapt.training.plan import make_plan

    try:
        plan = make_plan(constants, scenarios, 0)
        return Bounds(
            Backend(constants.get("BACKEND", Backend.LOCAL)),
            plan.steps,
            plan.hours,
            int(constants["MAX_COMPLETION_TOKENS"]),
            str(constants.get("JUDGE_MODEL", "")),
            _waves(constants),
        )
    except (SystemExit, KeyError, TypeError, ValueError):
        return None


def _waves(constants: Mapping[str, Any]) -> int:
    """Return how often in a step as many episodes begin as run side by side."""
    names = ("ROLLOUTS_PER_GROUP", "GROUPS_PER_STEP", "CONCURRENCY")
    rollouts, groups, at_once = (int(constants.get(name, 1)) for name in names)
    return max(1, math.ceil(rollouts * groups / max(1, at_once)))


def _evaluated(module: Any, evaluated: Evaluated) -> tuple[Result, ...]:
    from art_adapt.rehearsal.evaluation import evaluate_checkpoints  # needs torch

    return evaluate_checkpoints(module, evaluated)


def _raised(error: BaseException, root: Path) -> Raised:
    """Describe an exception, at its last frame below ``root`` if it has one."""
    frames = traceback.extract_tb(error.__traceback__)
    while isinstance(error, BaseExceptionGroup):  # of a task group
        error = error.exceptions[0]
        frames = traceback.extract_tb(error.__traceback__) or frames
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(root)]
    last = (own or frames)[-1]
    path, line = last.filename, last.lineno
    if isinstance(error, SyntaxError) and error.filename:
        path, line = error.filename, error.lineno
    return Raised(_said(error), path, line or 1)


def _cause(stop: SystemExit) -> StoppedBy | None:
    return StoppedBy(stop.at, stop.constant) if isinstance(stop, Stop) else None


def _said(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception as another:  # its own __str__ raised
        return f"{type(error).__name__}, whose text raised {type(another).__name__}"


def _asked() -> tuple[tuple[str, int], ...]:
    """Return the places where a model was asked so far, with hooks and outside of episodes."""
    # A train module of one's own may run without the recorder.
    state = sys.modules.get("art_adapt.recording.state")
    return tuple(sorted(state.outside)) if state is not None else ()


def _class_name(spelled: str) -> str:
    """Return the name of a class in its repr, as ART 0.5.18 notes the types of exceptions."""
    return spelled.removeprefix("<class '").removesuffix("'>").rpartition(".")[2]


# ------------------------------------------------------------------- what is replaced


def _backend(settings: Settings, storage: str, seen: Observed) -> type[Any]:
    """Make the class that stands in for ART's backends."""
    if settings.engine is not None:
        from art_adapt.rehearsal.engine import service  # needs torch

        return service.make_backend(storage, settings.engine, seen)
    if settings.train is None:
        return make_stand_in(settings, storage, seen)
    from art_adapt.rehearsal.training import make_backend  # needs torch

    return make_backend(storage, settings.train, settings.steps, seen)


def _replace_backends(backend: type[Any]) -> None:
    """Put ``backend`` where train modules import backends from.

    Without torch ART's own modules cannot be imported; then empty ones take their place.
    """
    for name, class_name in (
        ("art.local", "LocalBackend"),
        ("art.local.backend", "LocalBackend"),
        ("art.serverless", "ServerlessBackend"),
        ("art.serverless.backend", "ServerlessBackend"),
        ("art.tinker_native", "TinkerNativeBackend"),
    ):
        try:
            module: Any = importlib.import_module(name)
        except ImportError:
            module = sys.modules[name] = types.ModuleType(name)
        setattr(module, class_name, backend)


def _limit_pipeline(steps: int, seen: Observed) -> None:
    """Let a PipelineTrainer end by itself after ``steps`` steps."""
    from art import pipeline_trainer

    trainer: Any = pipeline_trainer.PipelineTrainer
    made = trainer.__init__

    def limited(self: Any, *arguments: Any, **named: Any) -> None:
        given = inspect.signature(made).bind(self, *arguments, **named).arguments
        scenarios = given["scenarios"]
        if isinstance(scenarios, Iterable):  # an asynchronous iterator stays as it is
            given["scenarios"] = itertools.takewhile(
                lambda _: seen.steps < steps, scenarios
            )
        given["max_steps"] = steps
        # A pipeline resumes by itself: where the loop began says nothing.
        seen.notes = replace(seen.notes, pipeline=True, initial_step=None)
        made(**given)

    trainer.__init__ = limited


def _raise(module: Any, least_values: Mapping[str, int]) -> None:
    """Raise constants of the train modules that art-adapt writes.

    A rehearsal has bounds of its own; and an untrained model needs larger groups.
    """
    for name, least in least_values.items():
        if hasattr(module, name):
            setattr(module, name, max(least, getattr(module, name)))


# -------------------------------------------------------------------- what is watched


def _watch_art(seen: Observed, *, keep: bool) -> None:
    """Watch ART for what finished groups do not show, and keep it from reporting to W&B.

    ``keep``: also the episodes, where other processes have recorded them.
    """
    import art
    import art.utils as utils

    art.Model._get_wandb_run = lambda self: None  # type: ignore[method-assign]
    gather = art.gather_trajectory_groups

    async def watched(groups: Iterable[Any], *arguments: Any, **named: Any) -> Any:
        given = list(groups)
        if any(isinstance(group, art.TrajectoryGroup) for group in given):
            seen.notes = replace(seen.notes, awaited_early=True)
        if seen.begin is not None and seen.scenarios:
            begin, seen.begin = seen.begin, None
            await begin()
        gathered = await gather(given, *arguments, **named)
        lost = tuple(
            f"{_class_name(each.type)}: {each.message}"
            for group in gathered
            for each in group.exceptions
        )
        exceptions = (*seen.notes.exceptions, *lost)
        seen.notes = replace(seen.notes, exceptions=exceptions)
        if keep and not seen.rollouts:
            new = (trajectory_of(t) for group in gathered for t in group.trajectories)
            seen.notes = replace(seen.notes, gathered=(*seen.notes.gathered, *new))
        return gathered

    art.gather_trajectory_groups = watched

    iterate = utils.iterate_dataset

    def iterated(dataset: Any, *arguments: Any, **named: Any) -> Any:
        seen.scenarios = list(dataset)
        seen.notes = replace(
            seen.notes,
            scenarios=tuple(map(plain_scenario, seen.scenarios)),
            initial_step=named.get("initial_step", 0),
        )
        return iterate(dataset, *arguments, **named)

    utils.iterate_dataset = iterated


def _watch_reward(seen: Observed) -> None:
    """Note where the user's reward function raises: ART keeps a text of it only.

    Its error is made where it raises, and anew where it comes from an episode's process.
    """
    from art_adapt.training.rewards import RewardError

    error: Any = RewardError
    make = error.__init__

    def noted(self: Any, *given: Any, **named: Any) -> None:
        make(self, *given, **named)
        if self.path and not seen.repeating:
            raised = Raised(self.error, self.path, self.line)
            seen.notes = replace(seen.notes, reward_raised=raised)

    error.__init__ = noted


if __name__ == "__main__":
    main(from_json(Settings, Path(os.environ[SETTINGS]).read_text(encoding="utf-8")))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # threads and processes that go on are not waited for
