"""What a survey finds: frozen data that later steps decide and edit by, and never look
up again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from art_adapt.source import Place, Source
from art_adapt.span import Span as Span
from art_adapt.survey.roles import Role


@dataclass(frozen=True)
class ToolLoop:
    """The loop that calls the model again after its tools have run."""

    place: Place
    header: str
    turn_limit: str | None


@dataclass(frozen=True)
class CompletionCall:
    """A place where the agent asks a chat model for a completion.

    ``span`` is the callee, which ``recorded(...)`` goes around; ``referenced`` says
    that it is handed on (to a retry helper, a thread, a partial) and not called here.
    """

    place: Place
    span: Span
    function: str  # qualified name of the function it stands in
    callee: str
    method: str  # create, parse, stream, completion, ...
    api: str  # chat.completions, responses, litellm or completions
    supported: bool
    referenced: bool
    recorded: bool
    client: str
    model: str | None
    messages: str | None
    conversation: str
    tools: str | None
    streams: bool
    around: (
        Span | None
    )  # the call on whose line it stands: its own, or the one it is handed to
    loop: ToolLoop | None
    role: Role
    reason: str


@dataclass(frozen=True)
class ToolExecution:
    """How the tool is found that the model asked for."""

    place: Place
    how: str


@dataclass(frozen=True)
class Exit:
    """Where an episode ends with an answer: ``spans`` are the expressions that
    ``final_answer(...)`` goes around.
    """

    place: Place
    span: Span
    answer: str
    how: str  # returned, printed, stored
    marked: bool  # has its hook already
    around: Span | None = None  # the call that it is an argument of
    element: int | None = None  # its place in a returned tuple, beside a reward


@dataclass(frozen=True)
class RewardSite:
    """An expression of the agent that is the outcome of an episode."""

    place: Place
    span: Span
    expression: str
    marked: bool


@dataclass(frozen=True)
class ThreadStart:
    """A function handed to an executor or thread that may reach a policy call; ``span``
    is the function.
    """

    place: Place
    span: Span
    function: str
    starter: str
    marked: bool
    around: Span


@dataclass(frozen=True)
class Parameter:
    """A parameter of an entry point (or of its class): ``annotation`` and ``default``
    as source text.
    """

    name: str
    annotation: str | None
    default: str | None
    is_client: bool = False


@dataclass(frozen=True)
class EntryPoint:
    """A function or method that runs one episode."""

    place: Place
    name: str  # qualified: "run_agent", "Agent.run"
    module: str  # how an importer beside the train module names the file
    parameters: tuple[Parameter, ...]
    constructor: tuple[Parameter, ...]
    class_name: str | None
    is_async: bool
    is_generator: bool
    returns: str | None
    exits: tuple[Exit, ...]
    rewards: tuple[RewardSite, ...]
    score: int
    documentation: str = ""

    def __str__(self) -> str:
        return self.name


class Harm(StrEnum):
    """What a side effect stands against when an episode is run many times over."""

    ASKS = "asks a person"
    WRITES = "writes outside the episode"
    NETWORK = "talks to a service"
    CLOCK = "depends on time or chance"
    SHARED = "is shared between rollouts"
    PROCESS = "starts a process"


@dataclass(frozen=True)
class Effect:
    """Something that stands against replaying an episode."""

    place: Place
    harm: Harm
    what: str


@dataclass(frozen=True)
class Obstacle:
    """A framework or kind of call that is recognised and not handled, and what works
    instead.
    """

    place: Place
    what: str
    instead: str
    calls_model: bool = True  # the model itself is called that way


@dataclass(frozen=True)
class FileSurvey:
    """What is in one file. ``names`` are all identifiers it uses, ``hooks`` the hooks
    it imports by local name.
    """

    source: Source
    given: bool  # named by the user, not found through an import
    package: str  # dotted package that the file is in, "" for a script
    calls: tuple[CompletionCall, ...]
    threads: tuple[ThreadStart, ...]
    effects: tuple[Effect, ...]
    obstacles: tuple[Obstacle, ...]
    names: frozenset[str]
    hooks: dict[str, str] = field(default_factory=dict)
    recording_level: int | None = None  # the dots of that import
    imports_relatively: bool = False  # so it is never run by its path
    tool_execution: ToolExecution | None = None
    uses_art: Place | None = None


@dataclass(frozen=True)
class Survey:
    """What is in an agent: its files, and the functions that could run an episode,
    likeliest first.
    """

    files: tuple[FileSurvey, ...]
    entry_points: tuple[EntryPoint, ...]

    @property
    def calls(self) -> tuple[CompletionCall, ...]:
        return tuple(call for file in self.files for call in file.calls)
