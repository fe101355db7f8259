"""How far a run is: when it validates, which checkpoints it keeps, when it ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import art

from art_adapt.rehearsed import IS_REHEARSAL
from art_adapt.training.checkpoints import (
    checkpoints_in,
    compares,
    folder_of,
    history_in,
    trained_in,
    validated_in,
)
from art_adapt.training.groups import usable, why_unusable
from art_adapt.training.plan import Plan
from art_adapt.training.reports import report

MOST_SKIPPED = 3  # steps in a row without an episode that has a reward
BATCHES = "batches.json"  # in the model's folder
# ART's metrics of a step (0.5.18 and 0.5.23, metrics_taxonomy.py), as they are printed.
MEASURED = {
    "loss/train": "loss",
    "loss/entropy": "entropy",
    "loss/kl_policy_ref": "KL to the reference",
    "loss/grad_norm": "gradient norm",
}
# What ART counts of the groups that it was given to train on: of those that are logged it
# counts it again.
COUNTED = tuple(
    f"data/step_num_{each}"
    for each in ("scenarios", "trajectories", "groups_submitted", "groups_trainable")
)
MOST_FLAT = 10  # steps in a row without a group that has variance


class Patience:
    """Ends a run that has had nothing to learn from several times in a row.

    ``what`` is counted: steps, or groups; ``most`` of them may be without.
    """

    def __init__(self, what: str, most: int) -> None:
        self._what = what
        self._most = most
        self._skipped = 0

    def usable(
        self, groups: Sequence[art.TrajectoryGroup]
    ) -> list[art.TrajectoryGroup]:
        """Return the groups that can be learned from; say what is lost.

        Raises:
            SystemExit: there was none too often, or the reward function raised.
        """
        found = usable(groups)
        self._skipped = 0 if found else self._skipped + 1
        if not found:
            print("Step skipped: there is nothing to learn from.")
        if self._skipped == self._most:
            raise SystemExit(
                f"{self._most} {self._what} in a row had nothing to learn from, the "
                f"last one because: {why_unusable(groups)}"
            )
        return found


class Progress:
    """Follows one run, from the step that its model has reached.

    Attributes:
        began: the step that the run goes on from.
        batches: how many batches of scenarios have been sampled: those of its steps, and
            those without variance. A warm start is a step without one.

    Args:
        plan: the run's bounds.
        step: that the model has reached.
        imitated: how many steps were the warm start.
        folder: the model's, where the number of batches is kept for a later run.
    """

    def __init__(
        self, plan: Plan, step: int, imitated: int = 0, folder: Path | None = None
    ) -> None:
        self.began = step
        self._imitated = imitated
        self._plan = plan
        self._folder = folder
        self.batches = batches_at(folder, step, imitated)
        validated = {} if folder is None else validated_in(folder)
        self._validated = max(validated, default=None)
        self._flat_groups: list[art.TrajectoryGroup] = []
        # Whether this machine has seen what an earlier run has validated.
        seen = () if folder is None else history_in(folder)
        self._knows = step <= imitated or any(r.get("step", 0) <= step for r in seen)
        self._patience = Patience("steps", MOST_SKIPPED)
        self._flat = 0
        self._stopping = _stopped_by_ctrl_c()

    def usable(
        self, groups: Sequence[art.TrajectoryGroup]
    ) -> list[art.TrajectoryGroup]:
        """Return the groups that have rewards, as ``Patience`` does: a step's.

        Batches without variance belong to the step after them, so that what is logged of
        a step is all that its policy has done.
        """
        self.batches += 1
        return [*self._flat_groups, *self._patience.usable(groups)]

    def note(self, result: Any) -> dict[str, float]:
        """Print what ART measured in a step of training, and note how far the run is.

        ``result``: what ``backend.train`` has returned. Returns the metrics to log beside
        all groups of the step.
        """
        measured = [
            f"{name} {result.metrics[key]:.3g}"
            for key, name in MEASURED.items()
            if isinstance(result.metrics.get(key), int | float)
        ]
        print(f"step {result.step}: {', '.join(measured) or 'trained'}")
        if self._folder is not None:
            text = json.dumps({result.step: self.batches})
            (self._folder / BATCHES).write_text(text, encoding="utf-8")
        self._flat_groups = []
        metrics: Mapping[str, float] = result.metrics
        return {k: v for k, v in metrics.items() if k not in COUNTED}

    async def prune(self, model: art.TrainableModel[Any, Any]) -> None:
        """Delete all checkpoints but the latest and the best, where nothing needs them.

        A KL penalty's reference is one of them. Where this machine does not know what an
        earlier run has validated, none is deleted. Where validation does not tell which
        one is best, all that were validated stay, for ``evaluate``.

        ART's own ``delete_checkpoints`` takes the columns of history.jsonl from its first
        hundred rows: it finds no validation that comes later, as after a warm start, and
        deletes the best one (0.5.18 and 0.5.23, model.py; polars, read_ndjson).
        """
        folder = folder_of(model)
        train = self._plan.settings.get("TRAIN", {})
        reference = {"kl_penalty_reference_step", "kl_ref_adapter_path"} & train.keys()
        if reference or not self._knows:
            return
        validated = validated_in(folder)
        if compares(folder):
            best = _best_of(validated or trained_in(folder), folder)
            kept = set() if best is None else {best}
        else:
            kept = set(validated)
        backend: Any = model.backend()
        kept.add(await model.get_step())
        await backend._delete_checkpoint_files(model, sorted(kept))

    def learnable(
        self, groups: Sequence[art.TrajectoryGroup]
    ) -> list[art.TrajectoryGroup]:
        """Return the groups whose rewards differ; print what the step learns from.

        The others teach nothing. ART would count the step all the same, and save the
        weights as they were. A rehearsal is given them all, to report on.

        Raises:
            SystemExit: there was none in ten steps, which cost as much as any others.
        """
        new = groups[len(self._flat_groups) :]
        if not new:
            return []
        report(new)
        if IS_REHEARSAL:
            return list(new)
        found = [g for g in new if len({t.reward for t in g.trajectories}) > 1]
        self._flat = 0 if found else self._flat + 1
        self._flat_groups = list(groups)  # until the next step
        if self._flat == MOST_FLAT:
            raise SystemExit(
                f"{MOST_FLAT} steps in a row had no group with variance: all episodes of a "
                "scenario get the same reward. `probe` finds scenarios whose rewards differ."
            )
        return found

    def is_over(self, step: int) -> bool:
        """Tell whether the run ends at this step, and say why."""
        hours = (time.monotonic() - self._plan.started) / 3600
        if self._stopping.is_set():
            print("Stopped by Ctrl-C.")
        elif step - self._imitated >= self._plan.steps:
            done = step - self._imitated
            print(
                f"{done} steps are done. Raise --max-steps to continue from the checkpoint."
            )
        elif self._plan.hours is not None and hours >= self._plan.hours:
            print(f"{self._plan.hours:g} hours are over. Run it again to continue.")
        else:
            return False
        return True

    def validates_at(self, step: int) -> bool:
        """Tell whether validation is due: before the first step, then by its share.

        The first shows what training has to beat, if validations can be compared.
        """
        every, last = self._plan.validate_every, self._validated
        if last is None and not self._plan.validates_first:
            last = self._imitated
        if every is None or (last is not None and step - last < every):
            return False
        self._validated = step
        return True


def is_validated(model: art.TrainableModel[Any, Any], step: int) -> bool:
    """Tell whether the model has been validated at this step."""
    return step in validated_in(folder_of(model))


def best_step(model: art.TrainableModel[Any, Any]) -> int | None:
    """Return the step that did best in validation; None: validation does not tell."""
    folder = folder_of(model)
    return _best_of(validated_in(folder), folder) if compares(folder) else None


def _best_of(rewards: Mapping[int, float], folder: Path) -> int | None:
    """Return the step with the highest reward, of those whose checkpoints are still there.

    Other backends than the local one keep theirs elsewhere.
    """
    kept = checkpoints_in(folder)
    means = {step: mean for step, mean in rewards.items() if step in kept} or rewards
    return max(means, key=lambda step: (means[step], step), default=None)


def batches_at(folder: Path | None, step: int, imitated: int) -> int:
    """Return how many batches were sampled up to a step, as the run has noted it."""
    noted: dict[str, int] = {}
    if folder is not None:
        with contextlib.suppress(OSError, ValueError):
            noted = json.loads((folder / BATCHES).read_text(encoding="utf-8"))
    return int(noted.get(str(step), step - imitated))


def _stopped_by_ctrl_c() -> asyncio.Event:
    """Return an event that the first Ctrl-C sets; the second one interrupts."""
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        print("Finishing this step. Press Ctrl-C again to stop at once.")
        loop.remove_signal_handler(signal.SIGINT)
        asked.set()

    with contextlib.suppress(NotImplementedError):  # Windows has none
        loop.add_signal_handler(signal.SIGINT, stop)
    return asked
