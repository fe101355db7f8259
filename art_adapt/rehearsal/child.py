"""Runs a train module's ``main()`` in a process of its own, unmodified, and writes down
what it did: ``python -m art_adapt.rehearsal.child SETTINGS`` (``run.run_child`` writes it).

ART is the real one. Only its backends are replaced. ``StandIn`` serves the scripted
model, and where a gradient step would be it takes the groups and counts; with
``--train`` it is ART's LocalBackend with a tiny model behind it (``training``).
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import inspect
import itertools
import json
import sys
import tempfile
import time
import traceback
import types
import urllib.request
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

from art_adapt.rehearsal.scripted_model import POLICY_KEY

Json = dict[str, Any]
seen: Json = {
    "steps": [],
    "rollouts": [],
    "exceptions": [],
    "names": [],
    "closed": 0,
    "awaited_early": False,
    "scenarios": [],
    "pipeline": False,
}
live: list[Any] = []  # the recorders of all rollouts
storage = ""
LEAST = {"EPOCHS": 1_000_000, "ROLLOUTS_PER_GROUP": 8, "GROUPS_PER_STEP": 4}


class Rehearsed(SystemExit):
    """The steps that were asked for have been run."""


class StandIn:
    """ART's ``Backend`` protocol (art 0.5.18 and 0.5.23, backend.py) without a GPU."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.step = 0

    async def register(self, model: Any) -> None:
        seen["base_model"] = model.base_model
        model.inference_base_url = url
        model.inference_api_key = POLICY_KEY
        model.base_path = storage
        self._serve(model)

    def _serve(self, model: Any) -> None:
        name = self._model_inference_name(model)
        seen["names"].append(name)
        # On GPUs of its own the engine goes on serving earlier steps.
        dedicated = self._supports_concurrent_training_and_inference(model)
        names = seen["names"] if dedicated else [name]
        body = json.dumps({"names": names}).encode()
        server = url.removesuffix("/v1")
        asked = urllib.request.Request(f"{server}/served", body)
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(asked)

    def _model_inference_name(self, model: Any, step: int | None = None) -> str:
        return f"{model.name}@{self.step if step is None else step}"

    async def _get_step(self, _: Any) -> int:
        return self.step

    async def _prepare_backend_for_training(self, *_: Any) -> tuple[str, str]:
        return url, POLICY_KEY

    async def _delete_checkpoint_files(self, *_: Any) -> None:
        self._stop_if_done()

    def _stop_if_done(self) -> None:
        if self.step >= steps and not seen["pipeline"]:
            raise Rehearsed

    async def train(
        self, model: Any, trajectory_groups: Iterable[Any], **_: Any
    ) -> Any:
        from art.types import TrainResult

        self._stop_if_done()
        groups = list(trajectory_groups)
        seen["steps"].append([_group(group) for group in groups])
        self.step += 1
        self._serve(model)
        if seen["pipeline"] and self.step == steps:
            await _last_ones()
        return TrainResult(step=self.step, metrics={"loss": 0.0})

    async def close(self) -> None:
        seen["closed"] += 1

    # What PipelineTrainer asks on top (art, pipeline_trainer/trainer.py).

    def _supports_concurrent_training_and_inference(self, model: Any) -> bool:
        from art.dev.validate import is_dedicated_mode

        config: Any = model._internal_config or {}
        return is_dedicated_mode(config)

    @contextlib.asynccontextmanager
    async def exact_adapter_lease(self, *_: Any) -> AsyncIterator[None]:
        yield


def _group(group: Any) -> Json:
    return {"trajectories": [_trajectory(t) for t in group.trajectories]}


def _trajectory(trajectory: Any) -> Json:
    answer = getattr(trajectory, "final_answer", None)
    return {
        "reward": trajectory.reward,
        "answer": None if answer is None else repr(answer)[:200],
        "bad_metrics": [
            name
            for name, value in trajectory.metrics.items()
            if not isinstance(value, int | float | bool)
        ],
        "histories": [
            {
                "tools": history.tools,
                "items": [_item(item) for item in history.messages_and_choices],
            }
            for history in (trajectory, *trajectory.additional_histories)
        ],
    }


def _item(item: Any) -> Json:
    if isinstance(item, dict):
        return {"message": item}
    extra = item.model_extra or {}
    tokens = getattr(item.logprobs, "content", None) or []
    return {
        "message": item.message.model_dump(mode="json", exclude_none=True),
        "choice": True,
        "ids": extra.get("token_ids") or [],
        "mark": round(-tokens[0].logprob * 1e6) if tokens else None,
        "anew": bool(extra.get("rendered_anew")),
    }


def _backend() -> type[Any]:
    """What stands in for ART's backends."""
    if settings["train"] is None:
        return StandIn
    from art_adapt.rehearsal.replies import Reply
    from art_adapt.rehearsal.training import make_backend

    turns = [
        Reply(turn["content"], tuple(map(tuple, turn["tool_calls"])))
        for turn in settings["train"]["turns"]
    ]
    return make_backend(
        storage,
        turns,
        {**settings["train"], "steps": steps, "notes": seen, "done": Rehearsed()},
    )


def _replace_backends() -> None:
    """Put the stand-in where train modules import backends from; without torch the
    modules themselves cannot be imported.
    """
    backend = _backend()
    for name, class_name in (
        ("art.local", "LocalBackend"),
        ("art.local.backend", "LocalBackend"),
        ("art.serverless", "ServerlessBackend"),
        ("art.serverless.backend", "ServerlessBackend"),
    ):
        try:
            module: Any = importlib.import_module(name)
        except ImportError:
            module = sys.modules[name] = types.ModuleType(name)
        setattr(module, class_name, backend)


def _watch_art() -> None:
    """Notice what a finished group does not show. Nothing is reported to W&B."""
    import art

    art.Model._get_wandb_run = lambda self: None  # type: ignore[method-assign]
    gather = art.gather_trajectory_groups

    async def watched(groups: Iterable[Any], *arguments: Any, **named: Any) -> Any:
        given = list(groups)
        if any(isinstance(group, art.TrajectoryGroup) for group in given):
            seen["awaited_early"] = True
        gathered = await gather(given, *arguments, **named)
        for group in gathered:
            seen["exceptions"] += [f"{e.type}: {e.message}" for e in group.exceptions]
        return gathered

    art.gather_trajectory_groups = watched

    import art.utils as utils

    iterate = utils.iterate_dataset

    def iterated(dataset: Any, *arguments: Any, **named: Any) -> Any:
        seen["scenarios"] = [_plain(scenario) for scenario in dataset]
        seen["initial_step"] = named.get("initial_step", 0)
        return iterate(dataset, *arguments, **named)

    utils.iterate_dataset = iterated


def _limit_pipeline() -> None:
    """Let a PipelineTrainer end by itself after the steps that were asked for."""
    from art import pipeline_trainer

    trainer: Any = pipeline_trainer.PipelineTrainer
    made = trainer.__init__

    def limited(self: Any, *arguments: Any, **named: Any) -> None:
        given = inspect.signature(made).bind(self, *arguments, **named).arguments
        given["scenarios"] = _until_enough(given["scenarios"])
        given["max_steps"] = steps
        seen["pipeline"] = True
        seen.pop("initial_step", None)  # it goes on by itself
        made(**given)

    trainer.__init__ = limited


def _until_enough(scenarios: Any) -> Any:
    if not isinstance(scenarios, Iterable):
        return scenarios  # an asynchronous iterator
    return itertools.takewhile(lambda _: len(seen["steps"]) < steps, scenarios)


async def _last_ones() -> None:
    """Wait for the episodes that are under way. PipelineTrainer would cancel them, and
    threads that outlive their rollout look like recordings that were lost.
    """
    while not all(hasattr(recorder, "rehearsed") for recorder in live):
        await asyncio.sleep(0.02)


def _plain(scenario: Any) -> Any:
    dump = getattr(scenario, "model_dump", None)
    return dump(mode="json") if dump is not None else scenario


def _watch_recorders() -> None:
    """Keep every rollout's recorder: those of lost episodes are in no group."""
    from art_adapt.recording import Rollout

    opened, closed = Rollout.__init__, Rollout.close

    def open_(self: Any, *arguments: Any, **named: Any) -> None:
        opened(self, *arguments, **named)
        self.rehearsed_from = time.perf_counter()
        live.append(self)

    def close(self: Any) -> None:
        closed(self)
        self.rehearsed = time.perf_counter() - self.rehearsed_from

    Rollout.__init__, Rollout.close = open_, close  # type: ignore[method-assign]


def _make_room(module: Any) -> None:
    """Groups that a model can learn from that knows nothing yet, and epochs enough.
    The constants are those of the train modules that art-adapt writes.
    """
    for name, least in LEAST.items():
        if hasattr(module, name):
            setattr(module, name, max(least, getattr(module, name)))


def _package_of(file: Path) -> tuple[Path, str]:
    """The folder to import from, and the module's dotted name."""
    parts = [file.stem]
    folder = file.parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    return folder, ".".join(parts)


def main() -> None:
    """Run, and write down everything that was seen."""
    global storage  # where ART keeps its files
    root, name = _package_of(file)
    sys.path.insert(0, str(root))
    sys.argv = [str(file)]
    with tempfile.TemporaryDirectory() as temporary:
        storage = settings["storage"] or temporary
        _replace_backends()
        _watch_art()
        if "PipelineTrainer" in file.read_text(encoding="utf-8"):
            _limit_pipeline()
        try:
            module = importlib.import_module(name)
            if settings["train"] is None:
                _watch_recorders()
            else:
                _make_room(module)
            module.main()
        except Rehearsed:
            pass
        except SystemExit as stop:
            seen["stopped"] = str(stop)
        except BaseException as raised:
            error = raised
            while isinstance(error, BaseExceptionGroup):  # of a task group
                error = error.exceptions[0]
            frames = traceback.extract_tb(error.__traceback__)
            own = [f for f in frames if Path(f.filename).is_relative_to(root)]
            last = (own or frames)[-1]
            path, line = last.filename, last.lineno
            if isinstance(error, SyntaxError) and error.filename:
                path, line = error.filename, error.lineno
            seen["raised"] = {
                "error": f"{type(error).__name__}: {error}",
                "path": path,
                "line": line,
            }
    seen["rollouts"] = [
        {
            "began": recorder.rehearsed_from,
            "seconds": getattr(recorder, "rehearsed", None),
            "stopped": str(recorder.stopped) if recorder.stopped else None,
            "trajectory": _trajectory(recorder.trajectory),
        }
        for recorder in live
    ]
    Path(settings["out"]).write_text(json.dumps(seen, default=repr), encoding="utf-8")


if __name__ == "__main__":
    settings: Json = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    file, url, steps = Path(settings["file"]), settings["url"], settings["steps"]
    main()
