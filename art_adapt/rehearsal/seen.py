"""Bring together the child's notes, the server's log and the train module's source."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from art_adapt.code.syntax import Syntax
from art_adapt.paths import shown
from art_adapt.rehearsal.compared import Compared
from art_adapt.rehearsal.outside import Outside
from art_adapt.rehearsal.parts import (
    NOT_READ,
    AgentParts,
    Part,
    calls,
    line_of,
    passes,
)
from art_adapt.rehearsal.protocol import MOST_CALLS, Group, Notes, Trajectory
from art_adapt.rehearsal.replies import is_judgement
from art_adapt.rehearsal.scripted_model import Exchange, mark
from art_adapt.rehearsal.unreached import Unreached
from art_adapt.seen.notes import Run
from art_adapt.source import Place
from art_adapt.train_file import agent_path
from art_adapt.worth_reading import worth_reading

LONGEST_TOLD = 160  # characters of an answer: an error's last words may be its cause
Json = dict[str, Any]

FEW = 20  # one episode, request or completion of so many may go wrong


@dataclass(frozen=True)
class Finding:
    """Something that would cost a training run, where it is, and how to fix it."""

    name: str
    what: str
    fix: str
    path: Path
    line: int

    @property
    def fatal(self) -> bool:
        """True if training is impossible until it is fixed."""
        return self.name in ("raised", "stopped", "no step", "inference name", "no ids")


@dataclass(frozen=True)
class Witness:
    """Something that adapting states of an agent, and whether the rehearsal saw it.

    ``otherwise``: what it saw instead, if that can be said. ``is_shown``: a person reads it also
    where it was so.
    """

    statement: str
    seen: bool
    otherwise: str = ""
    is_shown: bool = False


@dataclass(frozen=True)
class ToRead:
    """An episode that a person should read, and which it is: the best, say."""

    title: str
    episode: Trajectory


def to_read(notes: Notes) -> list[ToRead]:
    """Choose the best, the worst and another episode of a rehearsal, and one that failed.

    What was trained may be a view without tool calls, for an ART that renders prompts
    itself. People read what was recorded, with the reward that was trained.
    """
    # Those of other processes are known as their groups had them.
    whole = (*notes.gathered, *(r.trajectory for r in notes.rollouts))
    recorded = {mark: each for each in whole if (mark := _begun_with(each))}
    trained = [t for step in notes.steps for group in step for t in group.trajectories]
    every = [
        replace(recorded.get(_begun_with(each), each), reward=each.reward)
        for each in trained
    ]
    failed = [each for each in every if each.failure is not None]
    ended = [each for each in every if each.failure is None]
    chosen = worth_reading([each.reward for each in ended], 1)
    return [
        *(ToRead(title, ended[at]) for title, at in chosen),
        *(ToRead("failed", each) for each in failed[:1]),
    ]


def _begun_with(episode: Trajectory) -> int:
    """Return the mark of an episode's first completion, which no other episode has; or 0."""
    return next((i.choice.mark for i in episode.choices if i.choice), 0)


@dataclass(frozen=True)
class Seen:
    """Everything that the checks read."""

    path: Path
    syntax: Syntax
    notes: Notes
    log: Sequence[Exchange]
    agent: AgentParts = NOT_READ
    written: frozenset[Path] | None = None  # files of the project; None: not looked at
    repeats: Sequence[Exchange] = ()  # the log of repeated episodes
    runs: tuple[Run, ...] = ()  # of the agent itself, which ``capture`` saw
    withheld: tuple[str, ...] = ()  # variables of the user's that the agent reads
    embedded: Sequence[Json] = ()  # requests for embeddings
    outside: tuple[Outside, ...] = ()  # files elsewhere that it would have changed
    unreached: tuple[Unreached, ...] = ()  # programs and services that were not there
    compared: tuple[Compared, ...] = ()  # by the reward function
    most_calls: int = MOST_CALLS  # of the model, by an episode

    @property
    def policy(self) -> list[Exchange]:
        return [e for e in self.log if e.is_policy and e.response is not None]

    @property
    def episodes(self) -> list[Trajectory]:
        """All recorded episodes, including lost ones."""
        # What was trained may be a view of it, for an ART that renders prompts itself.
        recorded = [r.trajectory for r in self.notes.rollouts]
        return recorded or [*self.notes.gathered] or self.trained

    @property
    def groups(self) -> list[Group]:
        return [group for step in self.notes.steps for group in step]

    @property
    def trained(self) -> list[Trajectory]:
        """Return the episodes that were handed to training."""
        return [t for group in self.groups for t in group.trajectories]

    @property
    def isolate(self) -> str | None:
        """Return how the train module keeps episodes apart: "process", "copy", or not at all."""
        nodes = self.syntax.nodes
        if any(map(calls("training.isolated"), nodes)):
            return "copy" if any(map(passes("copy_of"), nodes)) else "process"
        return None

    @property
    def starts_program(self) -> bool:
        """True if each episode is a call of the user's program."""
        return any(map(calls("training.run_program"), self.syntax.nodes))

    @property
    def or_as_watched(self) -> str:
        """Return how episodes could start as the watched run did; "" if no run shows, or they do."""
        if self.starts_program or not any(run.program for run in self.runs):
            return ""
        agent = shown(agent_path(self.path))
        return (
            "; or let each episode start the program that you watched, with "
            f"art-adapt --start program {agent}"
        )

    @property
    def asks(self) -> Place | None:
        """Return where the agent asks its model; None if no hooked call did."""
        asked_by = asking(self)
        places = (place for name, place in self.agent.hooked if name in asked_by)
        return next(places, None)

    @property
    def shared(self) -> Place | None:
        """Return where the agent keeps what outlives an episode, if it is known to."""
        return next((place for _, place in self.agent.shared), None)

    def finding(
        self, name: str, what: str, fix: str, *where: Place | Part | None
    ) -> Finding:
        """Make a finding at the first place, or the first part of the train module, that there is."""
        place = next((each for each in where if isinstance(each, Place)), None)
        if place is not None:
            return Finding(name, what, fix, place.path, place.line)
        parts = (each for each in where if callable(each))
        return Finding(name, what, fix, self.path, line_of(self.syntax, *parts))


def start_of(episode: Trajectory) -> list[Json]:
    """Return the messages before an episode's first completion."""
    items = episode.histories[0].items if episode.histories else ()
    before = itertools.takewhile(lambda item: item.choice is None, items)
    return [item.message for item in before]


def asking(seen: Seen) -> set[str]:
    """Return the functions whose hooked calls asked; none, if they ran in other processes."""
    return {name for rollout in seen.notes.rollouts for name in rollout.asked_by}


def waiting(seen: Seen) -> set[str]:
    """Return the functions that waited for recorded requests, or made them."""
    opened = (each for rollout in seen.notes.rollouts for each in rollout.opened)
    return asking(seen) | {name for each in opened for name in each.functions}


def has_answer(episode: Trajectory) -> bool:
    """True if an episode has a final answer, and that is no empty text."""
    return episode.answer not in (None, "''")


def shortened(answer: str) -> str:
    """Put an answer into one line, and cut a long one so that it is seen to be cut."""
    text = " ".join(answer.split())
    return text if len(text) <= LONGEST_TOLD else f"{text[: LONGEST_TOLD - 3]}..."


def offered_tools(seen: Seen) -> tuple[str, ...]:
    """Return the names of the tools that were offered in some request."""
    names = (str(each.get("name")) for each in offered_functions(seen))
    return tuple(dict.fromkeys(names))


def offered_functions(seen: Seen) -> Iterator[Json]:
    """Yield the tools of each request: their names, and the schemas of their parameters."""
    for exchange in seen.policy:
        for tool in exchange.request.get("tools") or ():
            yield tool.get("function", tool)


def tool_calls(seen: Seen) -> list[Json]:
    """Return the calls of tools that the model made in episodes."""
    said = (item.message for each in seen.episodes for item in each.choices)
    return [call for message in said for call in message.get("tool_calls") or ()]


def given_choices(seen: Seen) -> dict[int, Exchange]:
    """Return the exchange of each choice that the model in training gave, by its mark."""
    return {
        mark(exchange.serial, choice["index"]): exchange
        for exchange in seen.policy
        if not is_judgement(exchange.request)
        for choice in (exchange.response or {})["choices"]
    }


def recorded_choices(seen: Seen) -> Counter[int]:
    """Count how often each choice is on a trajectory, by its mark.

    A choice that has lost its logprobs is recognised by its message.
    """
    by_text = {
        identity(choice["message"]): mark(exchange.serial, choice["index"])
        for exchange in seen.policy
        for choice in (exchange.response or {})["choices"]
    }
    given = given_choices(seen)
    marks = (
        (item.choice and item.choice.mark) or by_text.get(identity(item.message))
        for trajectory in seen.episodes
        for item in trajectory.choices
    )
    return Counter(each for each in marks if each in given)


def identity(message: Json) -> str:
    """Return what identifies a message even if an agent rebuilds it: call ids, or text."""
    calls = [call["id"] for call in message.get("tool_calls") or []]
    return json.dumps(calls or message.get("content") or "")
