"""Judge a rehearsal with real training.

Did the mean reward rise, did it rise because of the rewards, and does training resume where
it stopped?
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from art_adapt.comparison import Result
from art_adapt.rehearsal.parts import REWARDS, TRAINS, calls, passes
from art_adapt.rehearsal.protocol import Checkpoint, Notes, Training
from art_adapt.rehearsal.seen import Finding, Seen

ENDS = 5  # steps at the beginning and at the end that are compared


@dataclass(frozen=True)
class Learning:
    """The outcome of three trainings: the real one, its control, and the resumed one.

    ``rewards`` and ``control`` are mean rewards by step. In the control, the rewards of
    each group are shuffled before training on them. ``evaluated`` compares what came out
    of both with the untrained model, which is the first.
    """

    turns: int  # that the model could choose from
    judged: bool  # by a scripted judge, who prefers one of the turns
    rewards: tuple[float, ...]
    control: tuple[float, ...]
    tokens: int  # trained on
    apart: float  # the largest difference between trained and sampled logprobs
    off_policy: bool  # episodes may be some steps old, as with PipelineTrainer
    stopped_at: int
    resumed_at: int
    resumed_same: bool  # with the weights of the step where it stopped
    evaluated: tuple[Result, ...]

    @property
    def rise(self) -> float:
        return _rise(self.rewards)

    @property
    def control_rise(self) -> float:
        return _rise(self.control)

    @property
    def learned(self) -> bool:
        """True if the rise exceeds the control's by twice what chance would explain."""
        spread = statistics.pstdev(self.control) if self.control else 0.0
        chance = 2 * spread * math.sqrt(2 / ENDS)
        return self.rise > self.control_rise + chance


def _rise(rewards: tuple[float, ...]) -> float:
    begun, ended = ends(rewards)
    return ended - begun


def ends(rewards: tuple[float, ...]) -> tuple[float, float]:
    """Return the means of the first few steps and of the last few."""
    if not rewards:
        return 0.0, 0.0
    return statistics.fmean(rewards[:ENDS]), statistics.fmean(rewards[-ENDS:])


def learning(
    real: Notes,
    control: Notes,
    resumed: Notes,
    evaluated: tuple[Result, ...],
    turns: int,
    judged: bool,
) -> Learning:
    """Compare the notes of three trainings."""
    trained = training_of(real)
    return Learning(
        turns,
        judged,
        means(trained),
        means(training_of(control)),
        trained.tokens,
        trained.apart,
        real.pipeline,
        *resumption(real, resumed),
        evaluated,
    )


def training_of(notes: Notes) -> Training:
    """Return the results of training in a child's notes; none of them if it trained nothing."""
    return notes.training or Training()


def resumption(first: Notes, again: Notes) -> tuple[int, int, bool]:
    """Return where a run stopped, where the next went on, and whether with its weights."""
    ended, began = training_of(first).ended, training_of(again).began
    stopped_at = ended.step if ended else 0
    began_at = began.step if began else 0
    if again.initial_step is not None:
        began_at = again.initial_step
        # It counts batches: a warm start is a step without one, and a batch of which every
        # episode was lost is none.
        if began_at + training_of(first).imitated >= stopped_at:
            began_at = stopped_at
    return stopped_at, began_at, _weights(ended) == _weights(began)


def _weights(checkpoint: Checkpoint | None) -> str | None:
    return None if checkpoint is None else checkpoint.weights


def means(training: Training) -> tuple[float, ...]:
    """Return the mean reward of each step."""
    return tuple(
        statistics.fmean(reward for group in step for reward in group)
        for step in training.rewards
    )


def learning_findings(seen: Seen, learned: Learning) -> Iterator[Finding]:
    """Report what would go wrong in a real training run."""
    begun, ended = ends(learned.rewards)
    if not learned.tokens:
        yield seen.finding(
            "nothing trained",
            "ART found no token to train on in any step",
            "run again with --output to read what the module printed",
            TRAINS,
        )
    elif not learned.learned:
        yield seen.finding(
            "did not learn",
            f"in {len(learned.rewards)} steps the mean reward went from {begun:.3f} to "
            f"{ended:.3f} (with shuffled rewards to {ends(learned.control)[1]:.3f}), "
            "no better than chance",
            "if the reward needs turns that the tiny model cannot produce, supply them "
            "with --replies; otherwise check the reward",
            *REWARDS,
            TRAINS,
        )
    if learned.apart > 1e-3 and not learned.off_policy:
        yield seen.finding(
            "logprobs apart",
            f"the trainer's logprobs differ by {learned.apart:.2g} from those at sampling: "
            "it trains on other prompts than those that were sampled from",
            "pass training.for_training(groups) to backend.train",
            TRAINS,
        )
    yield from not_resumed(
        seen, learned.stopped_at, learned.resumed_at, learned.resumed_same
    )


def not_resumed(
    seen: Seen, stopped_at: int, resumed_at: int, same: bool
) -> Iterator[Finding]:
    """Report a run that did not go on where the one before it stopped."""
    if not same or resumed_at != stopped_at:
        yield seen.finding(
            "not resumed",
            f"training stopped at step {stopped_at} and resumed at step {resumed_at}"
            + ("" if same else ", with other weights"),
            "start with initial_step=await model.get_step(), and keep the run name",
            passes("initial_step"),
            calls("get_step"),
            calls("iterate_dataset"),
        )
