"""Collect what a child process sees, and turn ART's objects into notes."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from art_adapt.rehearsal.protocol import (
    LONGEST,
    Choice,
    Group,
    History,
    Item,
    Notes,
    Opened,
    Rollout,
    Training,
    Trajectory,
    Unhooked,
    from_json,
)
from art_adapt.reward_signs import NO_METRIC

OPENING = 2_000  # characters that tell how a conversation begins


class Rehearsed(SystemExit):
    """Raised when the requested steps have been run."""


@dataclass
class Watched:
    """The recorder of one rollout, when it began and closed, who asked, and for which models."""

    recorder: Any
    began: float
    seconds: float | None = None
    asked_by: set[str] = field(default_factory=set)
    models: set[str] = field(default_factory=set)
    is_repeat: bool = False
    is_marked: bool = False  # its answer, by a hook
    opened: list[Opened] = field(default_factory=list)
    longest: int = 0  # tokens of a reply that its requests allow


@dataclass
class Observed:
    """Notes that grow while the train module runs, and the recorders of its rollouts.

    A run either fills ``notes.steps`` or, with ``--train``, ``training``. ``module`` is the
    train module and ``scenarios`` are its own objects; ``loop`` is that of its rollouts;
    ``repeating``: the steps are done.
    """

    notes: Notes = field(default_factory=Notes)
    training: Training = field(default_factory=Training)
    rollouts: list[Watched] = field(default_factory=list)
    module: Any = None
    scenarios: list[Any] = field(default_factory=list)
    loop: AbstractEventLoop | None = None
    begin: Callable[[], Awaitable[None]] | None = None
    repeating: bool = False
    folder: Path | None = None  # in which episodes of other processes are noted
    elsewhere: list[Rollout] = field(default_factory=list)

    def collect(self) -> None:
        """Take in the episodes that other processes have noted, unless they are repeated ones."""
        for file in sorted(self.folder.glob("*.json")) if self.folder else ():
            if not self.repeating:
                noted = from_json(Rollout, file.read_text(encoding="utf-8"))
                self.elsewhere.append(noted)
            file.unlink()

    @property
    def steps(self) -> int:
        """Return the number of steps that have been handed to training."""
        return len(self.notes.steps) + len(self.training.rewards)


def groups_of(groups: Iterable[Any]) -> tuple[Group, ...]:
    """Turn ``art.TrajectoryGroup`` objects into notes."""
    return tuple(Group(tuple(map(trajectory_of, g.trajectories))) for g in groups)


def rollouts_of(rollouts: Iterable[Watched]) -> tuple[Rollout, ...]:
    """Turn watched rollouts into notes."""
    return tuple(
        Rollout(
            watched.began,
            watched.seconds,
            str(stopped) if (stopped := watched.recorder.stopped) else None,
            tuple(
                Unhooked(each.file, each.line, each.what, each.remedy)
                for each in watched.recorder.unhooked
            ),
            trajectory_of(watched.recorder.trajectory),
            tuple(sorted(watched.asked_by)),
            tuple(sorted(watched.models)),
            watched.is_marked,
            tuple(watched.opened),
            watched.longest,
            watched.recorder.read_arguments,
        )
        for watched in rollouts
        if not watched.is_repeat
    )


def opening_of(request: Mapping[str, Any]) -> str:
    """Return the start of the text that a request's conversation begins with; "" for none."""
    told = request.get("instructions") or request.get("input")
    messages = request.get("messages") or told
    match messages:
        case [{"content": content}, *_]:
            told = content
    return told[:OPENING] if isinstance(told, str) else ""


def plain_scenario(scenario: Any) -> Any:
    """Return what a scenario of the train module holds, as its row has it."""
    dump = getattr(scenario, "model_dump", None)
    return dump(mode="json") if dump is not None else scenario


# How training.record says it; importing that imports ART.
FAILURE = "the agent raised"
ENDED = "the episode was ended: "
ANSWERED = "never called the model: it answered"


def trajectory_of(trajectory: Any) -> Trajectory:
    """Turn an ``art.Trajectory`` into notes."""
    answer = getattr(trajectory, "final_answer", None)
    return Trajectory(
        trajectory.reward,
        None if answer is None else repr(answer)[:LONGEST],
        {
            name: value if isinstance(value, int | float) else None
            for name, value in trajectory.metrics.items()
        },
        tuple(
            History(history.tools, tuple(map(_item, history.messages_and_choices)))
            for history in (trajectory, *trajectory.additional_histories)
            if history.messages_and_choices
        ),
        failure_of(trajectory),
        bool(trajectory.metrics.get("timed_out")),
        next((log for log in trajectory.logs if log.startswith(ENDED)), None),
        trajectory.metrics.get("duration"),
        tuple(_missed(trajectory)),
    )


def _missed(trajectory: Any) -> Iterator[tuple[str, str, int]]:
    """Yield the metrics that the reward asked an episode for in vain: name, file and line."""
    for log in trajectory.logs:
        if log.startswith(NO_METRIC):
            name, _, place = log.removeprefix(NO_METRIC).rpartition(" at ")
            file, _, line = place.rpartition(":")
            yield name, file, int(line)


def failure_of(trajectory: Any) -> str | None:
    """Return what the agent raised in an episode, and where; None if it raised nothing."""
    if not trajectory.metrics.get("failed"):
        return None
    return next((log for log in trajectory.logs if log.startswith(FAILURE)), None)


def _item(item: Any) -> Item:
    if isinstance(item, dict):
        return Item(item)
    extra = item.model_extra or {}
    tokens = getattr(item.logprobs, "content", None) or []
    choice = Choice(
        tuple(extra.get("token_ids") or ()),
        round(-tokens[0].logprob * 1e6) if tokens else 0,
        bool(extra.get("rendered_anew")),
    )
    return Item(item.message.model_dump(mode="json", exclude_none=True), choice)
