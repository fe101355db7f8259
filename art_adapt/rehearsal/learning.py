"""What a rehearsal with real training shows: whether the rewards rose, whether they rose
for the rewards' sake, and whether training goes on where it stopped.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from art_adapt.rehearsal.protocol import Checkpoint, Notes, Training
from art_adapt.rehearsal.seen import Finding, Seen

ENDS = 5  # steps at the beginning and at the end that are compared


@dataclass(frozen=True)
class Learning:
    """Mean rewards, one a step. ``control``: the same with the rewards of each group
    shuffled before training on them.
    """

    turns: int  # that the model could choose among
    judged: bool  # by a scripted judge, who likes one of the turns
    rewards: tuple[float, ...]
    control: tuple[float, ...]
    tokens: int  # trained on
    apart: float  # at most, the trainer's logprobs and those that were sampled with
    off_policy: bool  # what is trained may be some steps old, as with PipelineTrainer
    stopped_at: int
    resumed_at: int
    resumed_same: bool  # with the weights that it stopped with

    @property
    def rise(self) -> float:
        return _rise(self.rewards)

    @property
    def control_rise(self) -> float:
        return _rise(self.control)

    @property
    def learned(self) -> bool:
        """The rise is larger than the control's by twice what chance would make of it."""
        spread = statistics.pstdev(self.control) if self.control else 0.0
        chance = 2 * spread * math.sqrt(2 / ENDS)
        return self.rise > self.control_rise + chance


def _rise(rewards: tuple[float, ...]) -> float:
    begun, ended = ends(rewards)
    return ended - begun


def ends(rewards: tuple[float, ...]) -> tuple[float, float]:
    """The means of the first few steps and of the last."""
    if not rewards:
        return 0.0, 0.0
    return statistics.fmean(rewards[:ENDS]), statistics.fmean(rewards[-ENDS:])


def learning(
    real: Notes, control: Notes, resumed: Notes, turns: int, judged: bool
) -> Learning:
    """Compare the notes of three trainings."""
    trained, again = _training(real), _training(resumed)
    stopped_at = trained.ended.step if trained.ended else 0
    began_at = again.began.step if again.began else 0
    return Learning(
        turns,
        judged,
        _means(trained),
        _means(_training(control)),
        trained.tokens,
        trained.apart,
        real.pipeline,
        stopped_at,
        began_at if resumed.initial_step is None else resumed.initial_step,
        _weights(trained.ended) == _weights(again.began),
    )


def _training(notes: Notes) -> Training:
    return notes.training or Training()


def _weights(checkpoint: Checkpoint | None) -> str | None:
    return None if checkpoint is None else checkpoint.weights


def _means(training: Training) -> tuple[float, ...]:
    return tuple(
        statistics.fmean(reward for group in step for reward in group)
        for step in training.rewards
    )


def learning_findings(seen: Seen, learned: Learning) -> Iterator[Finding]:
    """What would cost a run."""
    begun, ended = ends(learned.rewards)
    if not learned.tokens:
        yield seen.finding(
            "nothing trained",
            "ART found no token to train on in any step",
            "see what the module printed, with --output",
            r"backend\.train",
        )
    elif not learned.learned:
        yield seen.finding(
            "did not learn",
            f"in {len(learned.rewards)} steps the mean reward went from {begun:.3f} to "
            f"{ended:.3f} (with shuffled rewards to {ends(learned.control)[1]:.3f}): it "
            "is no better than chance",
            "if a reward takes turns that the tiny model does not know, write them, with "
            "--replies; else look at the reward",
            r"trajectory\.reward\s*=|def reward|reward\(",
            r"backend\.train",
        )
    if learned.apart > 1e-3 and not learned.off_policy:
        yield seen.finding(
            "logprobs apart",
            f"the trainer's logprobs differ from those sampled with by {learned.apart:.2g}:"
            " it trains on other prompts than the model saw",
            "hand art_recording.for_training(groups) to backend.train",
            r"backend\.train",
        )
    if not learned.resumed_same or learned.resumed_at != learned.stopped_at:
        yield seen.finding(
            "not resumed",
            f"it stopped at step {learned.stopped_at} and went on at step "
            f"{learned.resumed_at}",
            "begin at initial_step=await model.get_step(), with the same run name",
            r"initial_step|get_step",
            r"iterate_dataset",
        )
