"""The parts of an episode, as structures that ``train_module`` renders."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from art_adapt.code.importable import ImportedName
from art_adapt.recipe.fields import Field
from art_adapt.survey.model import Program, Statement


@dataclass(frozen=True)
class FromScenario:
    """What the scenario says in one of its fields."""

    field: str


@dataclass(frozen=True)
class Code:
    """An expression of the project's, or of names that a train module has.

    ``uses_endpoint``: one of them is ``endpoint``, which says where the model is.
    """

    text: str
    uses_endpoint: bool = False


@dataclass(frozen=True)
class New:
    """An object that its class or a factory makes."""

    maker: str
    arguments: tuple[Argument, ...] = ()


@dataclass(frozen=True)
class StandIn:
    """An object in the place of a platform's: each attribute with the field that it shows."""

    attributes: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Missing:
    """An object that only the user can make."""

    what: str


@dataclass(frozen=True)
class Argument:
    """What a call gives; by its position where ``name`` is ""."""

    name: str
    value: Value


@dataclass(frozen=True)
class Call:
    """A call of a function, or of a method of the agent."""

    function: str
    arguments: tuple[Argument, ...]
    is_async: bool


Value = FromScenario | Code | New | StandIn | Missing | Call


class Answer(Enum):
    """Where the answer of an episode comes from, as the docstring of episode() says."""

    RETURNED = "without final_answer(...), it returns the answer"
    PRINTED = "without final_answer(...), what it prints is the answer"
    SAID_UNMARKED = "without final_answer(...), the last reply is the answer"
    SAID = "what the model says last is the answer"
    MARKED = "final_answer(...) marks its answer"


@dataclass(frozen=True)
class Completion:
    """A recorded request, which the model alone answers."""


@dataclass(frozen=True)
class Script:
    """A whole file, run with what is typed: ``inputs``, ``arguments`` or both."""

    file: str
    typed: tuple[str, ...]


@dataclass(frozen=True)
class Request:
    """A request to a web application.

    ``path`` is its parts, in order. ``sent``: keys with their fields, in the way that httpx
    calls ``encoding``. ``streams``: the answer comes event by event.
    """

    application: str
    method: str
    path: tuple[str | FromScenario, ...]
    sent: tuple[tuple[str, str], ...]
    encoding: str
    streams: bool


@dataclass(frozen=True)
class Run:
    """A call of the agent, with all that makes it ready.

    ``statements`` of the project come first. ``agent`` is made next, as ``named``, in a
    ``with`` block where ``context`` says so; None: it has its name by then. ``client`` is
    the class of the client that it is given; ``shares_client``: side jobs ask over it, too.
    ``needs_key``: a client of OpenAI's is made that reads its key itself.
    ``typed``: what it reads from a terminal.
    ``subject`` is what the docstring of episode() calls it.
    """

    statements: tuple[Statement, ...]
    client: str
    shares_client: bool
    needs_key: bool
    uses_endpoint: bool
    named: str
    agent: Value | None
    context: str
    setup: tuple[Call, ...]
    call: Call
    cleanup: tuple[Call, ...]
    is_generator: bool
    typed: tuple[str, ...]
    answer: Answer
    subject: str


@dataclass(frozen=True)
class Started:
    """The user's program, started up to the call that runs the agent.

    ``above``: how many folders its own lies above the train module's, of which it is
    ``below``.
    """

    program: Program
    above: int
    below: str
    answer: Answer


@dataclass(frozen=True)
class Recipe:
    """What one episode of an agent is made of.

    ``imports`` are what it uses of the project and of libraries; ``registering`` are
    modules that are imported for what they register. ``starting`` runs once, before all
    episodes.
    """

    fields: tuple[Field, ...]
    episode: Completion | Script | Request | Run | Started
    imports: tuple[ImportedName, ...]
    registering: tuple[str, ...]
    starting: tuple[Statement, ...]
