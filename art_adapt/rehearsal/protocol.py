"""Define what a rehearsal and its child process tell each other, and its JSON.

``child_process.run_child`` writes ``Settings`` to a file and names it on the child's command line;
``child`` writes its ``Notes`` to ``Settings.out``. Nothing else reads or writes either.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from art_adapt.backends import Backend
from art_adapt.comparison import Result
from art_adapt.rehearsal.outside import Overlay
from art_adapt.rehearsal.replies import Reply

Json = dict[str, Any]
T = TypeVar("T")

# ---------------------------------------------------------------------- to the child


@dataclass(frozen=True)
class TinyModelSettings:
    """What the tiny model is made from, and how it is trained.

    ``shuffle``: train on rewards that are shuffled within each group, as a control.
    """

    turns: tuple[Reply, ...]
    prompts: tuple[Json, ...]
    scenarios: tuple[Any, ...]
    seed: int
    shuffle: bool = False
    device: str = "cpu"


@dataclass(frozen=True)
class EngineSettings:
    """A real engine that runs: its address, and the folder of its base model."""

    url: str
    base: str


@dataclass(frozen=True)
class Evaluated:
    """Tiny models to compare: their names and the files with their weights."""

    model: TinyModelSettings
    weights: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Stub:
    """A function that is not to run, by its qualified name, and what it returns."""

    function: str
    returns: Any


MOST_CALLS = 300  # agents that end are seldom past a hundred


@dataclass(frozen=True)
class Settings:
    """One run of a train module.

    ``url`` is the scripted model's, ``out`` the file for the notes, ``storage`` where ART
    keeps its files (None: in a temporary folder). Without ``train`` and ``engine`` nothing is
    trained.
    ``evaluated``: compare these in the place of ``main()``. ``stubs``: functions of the
    project that are not to run, and what each returns. ``let_through``: variables that it
    may have, whatever they hold. ``overlay``: where files outside of the project are copied.
    ``most_calls``: of the model, by one episode.
    """

    file: str
    url: str
    steps: int
    out: str
    storage: str | None = None
    train: TinyModelSettings | None = None
    evaluated: Evaluated | None = None
    engine: EngineSettings | None = None
    stubs: tuple[Stub, ...] = ()
    let_through: tuple[str, ...] = ()
    overlay: Overlay | None = None
    most_calls: int = MOST_CALLS


# -------------------------------------------------------------------- from the child


def progress_file(out: str | Path) -> Path:
    """Return where a child writes its ``Progress``, as it goes."""
    return Path(out).with_suffix(".progress")


@dataclass(frozen=True)
class Progress:
    """How far a train module is.

    ``at``: file and line that each thread and task of the user's own code has come to.
    """

    steps: int
    episodes: int
    at: tuple[str, ...]


@dataclass(frozen=True)
class Choice:
    """The data that identifies a recorded Choice and makes it trainable.

    ``ids`` are its token ids. ``mark`` comes from its first logprob (see
    ``scripted_model.mark``); 0 without logprobs. ``anew``: its prompt does not continue
    what was sampled before.
    """

    ids: tuple[int, ...]
    mark: int
    anew: bool


@dataclass(frozen=True)
class Item:
    """A message of a history, with its ``choice`` if the model sampled it."""

    message: Json
    choice: Choice | None = None


@dataclass(frozen=True)
class History:
    """Messages and Choices in order, and the tools that they were sampled with."""

    tools: Any
    items: tuple[Item, ...]

    @property
    def choices(self) -> list[Item]:
        return [item for item in self.items if item.choice is not None]


LONGEST = 200  # characters that are kept of an answer


@dataclass(frozen=True)
class Trajectory:
    """A recorded episode."""

    reward: float
    answer: str | None  # the start of its repr
    metrics: dict[str, float | None]  # None: it is no number
    histories: tuple[History, ...]  # those that are not empty
    failure: str | None = None  # what the agent raised, and where
    timed_out: bool = False
    ended: str | None = None  # what it was at when its time was over
    seconds: float | None = None  # with its process, if it had one
    missed: tuple[tuple[str, str, int], ...] = ()  # metrics that its reward asked for

    @property
    def choices(self) -> list[Item]:
        return [item for history in self.histories for item in history.choices]


@dataclass(frozen=True)
class Group:
    """The episodes of one scenario, as the train module handed them to training."""

    trajectories: tuple[Trajectory, ...]


@dataclass(frozen=True)
class Unhooked:
    """A completion that was asked for without a hook: where, by what, what to do."""

    file: str
    line: int
    asked: str
    remedy: str


@dataclass(frozen=True)
class Opened:
    """How a request's conversation begins, and the functions that waited for it, nearest first."""

    text: str
    functions: tuple[str, ...]


@dataclass(frozen=True)
class Rollout:
    """An episode as its recorder saw it.

    ``began`` is in seconds on the child's clock; ``seconds`` is None if the rollout was
    never closed; ``stopped`` says why the recorder refused a call. ``asked_by``: the
    functions whose hooked calls asked, by their qualified names. ``models``: the names that
    the agent's own requests had, before the recorder sent them to the model in training.
    ``is_marked``: a hook marked the answer. ``opened``: how its requests begin. ``longest``:
    the tokens that the agent allows a reply, at most; 0 if it does not say. ``read_arguments``:
    where the agent read the train module's command line.
    """

    began: float
    seconds: float | None
    stopped: str | None
    unhooked: tuple[Unhooked, ...]
    trajectory: Trajectory
    asked_by: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    is_marked: bool = False
    opened: tuple[Opened, ...] = ()
    longest: int = 0
    read_arguments: str | None = None


@dataclass(frozen=True)
class Raised:
    """An exception that ended the train module, and the user's last line in it."""

    error: str
    path: str
    line: int


@dataclass(frozen=True)
class Checkpoint:
    """A training step and a fingerprint of its weights."""

    step: int
    weights: str


@dataclass(frozen=True)
class Training:
    """The results of training the tiny model.

    ``rewards`` are those the train module set: by step, group and episode. ``apart`` is
    the largest difference between a trained token's logprob and the one it was sampled
    with. ``seconds``: of each gradient step. ``imitated``: steps of a warm start.
    ``agreed``: trained tokens whose logprob was the same at sampling.
    """

    rewards: tuple[tuple[tuple[float, ...], ...], ...] = ()
    began: Checkpoint | None = None
    ended: Checkpoint | None = None
    tokens: int = 0  # trained on
    read: int = 0  # with those of the prompts
    apart: float = 0.0
    seconds: tuple[float, ...] = ()
    imitated: int = 0
    agreed: int = 0


@dataclass(frozen=True)
class Bounds:
    """The bounds of a real run, which a rehearsal puts its own in the place of.

    ``steps`` and ``hours`` at most; ``reply_tokens`` of a completion. ``judge`` is RULER's
    model, empty without one. ``waves``: how often in a step episodes begin side by side.
    """

    backend: Backend
    steps: int
    hours: float | None
    reply_tokens: int
    judge: str
    waves: int = 1


@dataclass(frozen=True)
class Refused:
    """The end of an episode whose model refused whatever it was asked.

    ``is_own``: its answer is one, and has nothing of what the model said.
    """

    reward: float
    answer: str  # the start of it
    is_own: bool


@dataclass(frozen=True)
class Repeat:
    """The end of an episode that was run alone, in a phase of ``repeats``.

    ``is_late``: it took too long. ``failure`` is what the agent raised. ``replayed`` is the
    scenario, if the episode was told what the model said in the run that it comes from;
    ``answer`` is the start of its answer, if that is a text. ``reward``: None if it got none.
    """

    phase: str
    is_late: bool = False
    failure: str | None = None
    replayed: Any = None
    answer: str | None = None
    reward: float | None = None

    @property
    def is_well(self) -> bool:
        return self.failure is None and not self.is_late


@dataclass(frozen=True)
class StoppedBy:
    """What ended a run: a row, as ``FILE:LINE``, or a constant of the train module; or neither."""

    row: str
    constant: str


@dataclass(frozen=True)
class Notes:
    """Everything that a child process saw.

    ``gathered`` are the episodes of groups, where other processes have run them.
    ``exceptions`` are those of lost episodes, ``names`` the inference names in the order
    in which they were served. ``initial_step`` is where the module's own loop began, None
    if it has none. ``stopped`` is the message of a ``SystemExit``, and ``stopped_by`` what it is about.
    ``training`` is None
    unless the tiny model was trained; then there are no ``steps``. ``results`` are those
    of evaluated models. ``at_import`` are the places, as file and line, where importing the
    agent asked its model. ``repeated`` are the episodes that
    ``repeats`` ran; ``refused`` is how the one ended whose model refused.
    ``bounds``: the module's own, None if it sets none.
    """

    steps: tuple[tuple[Group, ...], ...] = ()
    rollouts: tuple[Rollout, ...] = ()
    gathered: tuple[Trajectory, ...] = ()
    exceptions: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    scenarios: tuple[Any, ...] = ()
    base_model: str = ""
    closed: int = 0  # how often the backend was
    awaited_early: bool = False
    pipeline: bool = False
    initial_step: int | None = None
    stopped: str | None = None
    stopped_by: StoppedBy | None = None
    raised: Raised | None = None
    training: Training | None = None
    results: tuple[Result, ...] = ()
    at_import: tuple[tuple[str, int], ...] = ()
    reward_raised: Raised | None = None
    bounds: Bounds | None = None
    repeated: tuple[Repeat, ...] = ()
    refused: Refused | None = None

    def repeat(self, phase: str) -> Repeat | None:
        """Return how the episode of a phase ended; None: there was none."""
        return next((each for each in self.repeated if each.phase == phase), None)


# ------------------------------------------------------------------------------ JSON


def to_json(value: Settings | Progress | Notes | Rollout) -> str:
    """Write ``value`` as JSON, with foreign objects in scenarios or tools as their repr."""

    def plain(each: object) -> object:
        ours = type(each).__module__.startswith("art_adapt.")
        return vars(each) if ours else repr(each)

    return json.dumps(value, default=plain)


def from_json(kind: type[T], text: str) -> T:
    """Read what ``to_json`` wrote."""
    import pydantic  # ART brings it; this package is also read where ART is missing

    return pydantic.TypeAdapter(kind).validate_python(json.loads(text))
