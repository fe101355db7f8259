"""How far a run is: when it validates, which checkpoints it keeps, when it ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import art

from art_adapt.rehearsed import IS_REHEARSAL
from art_adapt.training.checkpoints import checkpoints_in, folder_of, history_of
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
        self.batches = self._batches_at(step)
        self._validated = step
        self._patience = Patience("steps", MOST_SKIPPED)
        self._flat = 0
        self._stopping = _stopped_by_ctrl_c()

    def usable(
        self, groups: Sequence[art.TrajectoryGroup]
    ) -> list[art.TrajectoryGroup]:
        """Return the groups of a step that have rewards, as ``Patience`` does."""
        self.batches += 1
        return self._patience.usable(groups)

    def _batches_at(self, step: int) -> int:
        """Return how many batches were sampled up to a step, as the run has noted it."""
        noted: dict[str, int] = {}
        if self._folder is not None:
            with contextlib.suppress(OSError, ValueError):
                text = (self._folder / BATCHES).read_text(encoding="utf-8")
                noted = json.loads(text)
        return int(noted.get(str(step), step - self._imitated))

    def note(self, result: Any) -> None:
        """Print what ART measured in a step of training, and note how far the run is.

        ``result``: what ``backend.train`` has returned.
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

    async def prune(self, model: art.TrainableModel[Any, Any]) -> None:
        """Delete all checkpoints but the latest and the best, where nothing needs them.

        A KL penalty's reference is one of them. Where this machine does not know what an
        earlier run has validated, ART would take another one for the best (model.py,
        delete_checkpoints): none is deleted then.
        """
        train = self._plan.settings.get("TRAIN", {})
        reference = {"kl_penalty_reference_step", "kl_ref_adapter_path"} & train.keys()
        known = any(row.get("step", 0) <= self.began for row in history_of(model))
        if reference or (self.began > self._imitated and not known):
            return
        await model.delete_checkpoints(kept_by(model))

    def learnable(
        self, groups: Sequence[art.TrajectoryGroup]
    ) -> list[art.TrajectoryGroup]:
        """Return the groups whose rewards differ; print what the step learns from.

        The others teach nothing. ART would count the step all the same, and save the
        weights as they were. A rehearsal is given them all, to report on.

        Raises:
            SystemExit: there was none in ten steps, which cost as much as any others.
        """
        if not groups:
            return []
        report(groups)
        if IS_REHEARSAL:
            return list(groups)
        found = [g for g in groups if len({t.reward for t in g.trajectories}) > 1]
        self._flat = 0 if found else self._flat + 1
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
        """Tell whether validation is due, by its share of the episodes."""
        every = self._plan.validate_every
        if every is None or step - self._validated < every:
            return False
        self._validated = step
        return True


def is_validated(model: art.TrainableModel[Any, Any], step: int) -> bool:
    """Tell whether the model has been validated at this step."""
    return any(r.get("step") == step and "val/reward" in r for r in history_of(model))


def kept_by(model: art.TrainableModel[Any, Any]) -> str:
    """Return the metric by which checkpoints are kept: one that has been logged."""
    validated = any("val/reward" in row for row in history_of(model))
    return "val/reward" if validated else "train/reward"


def best_step(model: art.TrainableModel[Any, Any]) -> int | None:
    """Return the step that did best in validation; None: nothing has been validated.

    Of a local run that is one whose checkpoint is still there: where several steps did
    equally well, ART keeps any of them.
    """
    rewards: dict[int, list[float]] = {}
    for row in history_of(model):
        if row.get("val/reward") is not None:
            rewards.setdefault(int(row["step"]), []).append(row["val/reward"])
    means = {step: statistics.fmean(of_step) for step, of_step in rewards.items()}
    kept = checkpoints_in(folder_of(model))
    means = {step: mean for step, mean in means.items() if step in kept} or means
    return max(means, key=lambda step: (means[step], step), default=None)


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
