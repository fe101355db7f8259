"""The result of a survey: frozen data from which later steps decide and edit.

No later step parses the source again to find out what is in here.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from art_adapt.calls import Api
from art_adapt.code.classes import FunctionKey
from art_adapt.code.hooks import HooksPlace
from art_adapt.code.importable import ImportedName
from art_adapt.code.project import Project
from art_adapt.code.syntax import MODULE_LEVEL, Syntax
from art_adapt.errors import Refusal
from art_adapt.source import Place, Source
from art_adapt.span import Span as Span
from art_adapt.survey.calls.asides import Asker
from art_adapt.survey.calls.completion_calls import FoundCall
from art_adapt.survey.calls.roles import (
    Role,
    begins_in_function,
    models_side_by_side,
    usual_model,
)
from art_adapt.survey.calls.said import NOTHING, Said
from art_adapt.survey.side_effects.harm import Effect, Harm, Obstacle, isolation


@dataclass(frozen=True)
class ToolLoop:
    """The loop that calls the model again after its tools have run, and the function it is in."""

    place: Place
    header: str
    turn_limit: str | None
    function: str


@dataclass(frozen=True)
class CompletionCall:
    """A place where the agent asks a chat model for a completion.

    ``span`` is the callee, which ``recorded(...)`` goes around. ``referenced``: the callee
    is passed on (to a retry helper, a thread, a partial) and not called here. ``askers``:
    functions that ask through the one that makes it. ``in_episode``: whether the likeliest
    entry point runs it. ``asked_other``: runs show that it asks another model than the
    conversation around it.
    """

    place: Place
    span: Span
    function: str  # qualified name of the function that contains it
    callee: str
    method: str  # create, parse, stream, completion, ...
    api: Api
    supported: bool
    referenced: bool
    recorded: bool
    client: str
    model: str | None
    asks: str | None  # the model's name, if the file says it
    messages: str | None
    conversation: str
    begins: bool  # in this function, which does not go on with it
    is_of_module: bool  # the conversation is a list of the module
    tools: str | None
    streams: bool
    around: Span | None  # the call with the arguments: its own, or what it is passed to
    loop: ToolLoop | None
    role: Role
    reason: str
    askers: tuple[Asker, ...] = ()
    in_episode: bool = True
    asked_other: bool = False
    several: tuple[str, ...] = ()  # models that one episode may ask, or did in a run
    unasked: bool = False  # by runs that asked others

    @property
    def asides(self) -> tuple[Asker, ...]:
        """Return the functions whose side jobs go through a call that is trained."""
        is_trained = self.role is Role.POLICY
        return tuple(each for each in self.askers if each.reason and is_trained)

    @property
    def beside(self) -> tuple[Asker, ...]:
        """Return the functions whose own conversations are trained beside the turns."""
        is_trained = self.role is Role.POLICY
        return tuple(e for e in self.askers if e.apart and not e.reason and is_trained)

    @staticmethod
    def of(
        project: Project,
        call: FoundCall,
        loop: ToolLoop | None,
        role: Role,
        reason: str,
        askers: tuple[Asker, ...] = (),
    ) -> CompletionCall:
        """Describe a call that was found, with the loop around it and the role it has."""
        syntax = call.syntax
        return CompletionCall(
            place=syntax.place(call.callee),
            span=Span.of(call.callee),
            function=call.function,
            callee=syntax.text(call.callee),
            method=call.method,
            api=call.api,
            supported=call.supported,
            referenced=call.referenced,
            recorded=call.recorded,
            client=syntax.text(call.client),
            model=syntax.text(call.model) if call.model is not None else None,
            asks=usual_model(project, call),
            messages=syntax.text(call.messages) if call.messages is not None else None,
            conversation=call.conversation(),
            begins=begins_in_function(call),
            is_of_module=call.is_of_module(),
            tools=syntax.text(call.tools) if call.tools is not None else None,
            streams=call.streams,
            around=Span.of(call.call) if call.call is not None else None,
            loop=loop,
            role=role,
            reason=reason,
            askers=askers,
            several=models_side_by_side(project, call),
        )


@dataclass(frozen=True)
class ToolExecution:
    """How the agent looks up the tool that the model asked for."""

    place: Place
    how: str


@dataclass(frozen=True)
class Exit:
    """A place where an episode ends with an answer."""

    place: Place
    span: Span  # of the expression that final_answer(...) goes around
    answer: str
    how: str  # returned, printed, stored in x, added to x
    marked: bool  # has its hook already
    around: Span | None = None  # the call that it is an argument of
    element: int | None = None  # its place in a returned tuple, beside a reward


@dataclass(frozen=True)
class RewardSite:
    """An expression of the agent that computes the outcome of an episode."""

    place: Place
    span: Span
    expression: str
    marked: bool


@dataclass(frozen=True)
class ThreadStart:
    """A function that an executor or thread runs and that may reach a policy call.

    ``span`` is the function.
    """

    place: Place
    span: Span
    function: str
    starter: str
    marked: bool
    around: Span


REST = "**"  # the name of what a call spreads: Agent(model, **CONFIG)


@dataclass(frozen=True)
class Parameter:
    """A parameter of an entry point or of its class.

    ``annotation`` and ``default`` are source text. ``is_object``: JSON cannot hold it.
    ``fields`` are those of the dataclass or pydantic model that it is annotated with, or
    what the constructor of the class ``made`` takes. Without them, ``made`` is how the
    project makes such an object, if some place shows it. ``passed`` is where the project
    passes one.
    """

    name: str
    annotation: str | None
    default: str | None
    is_client: bool = False
    is_object: bool = False
    fields: tuple[Parameter, ...] | None = None
    made: Construction | None = None
    passed: Place | None = None
    positional_only: bool = False
    declared: bool = False  # its default has to be passed: typer.Option(5) is none
    command_line: bool = False  # its default reads that of the process
    typed: bool = False  # a person says it on the command line: typer.Argument("")
    supplied: str = ""  # what a train module gives it as: see supplied.py
    # What a handler reads of it, where a stand-in takes the place of a platform's object.
    stand_in: tuple[str, ...] | None = None
    # What returns it: open() of say(open(), text), search() of answer(search(text), text)
    opened: SetupCall | None = None
    asks_as: str = ""  # the class of a client, as its use shows
    element: str = ""  # the record of which it is a list, as the agent's file names it
    validated: str = (
        ""  # its pydantic class, as the agent's file names it, which reads a dict
    )
    rebuilt: str = ""  # the annotation or class by which a row's value is made again
    members: tuple[str, ...] | None = None  # of an enumeration, their values as source
    annotated_in: Path | None = None  # the file that has the names of its annotation
    otherwise: tuple[Place, ...] = ()  # where the project makes it in another way
    set_later: tuple[Place, ...] = ()  # where it sets attributes of what it made

    @property
    def is_record(self) -> bool:
        """True if episode() makes an object of the scenario's fields for it."""
        return self.fields is not None and self.default is None


@dataclass(frozen=True)
class Statement:
    """A statement of the project's, as its author laid it out, with the names that it binds.

    ``once``: it fills an object of a module, which all episodes share.
    """

    text: str
    binds: frozenset[str] = frozenset()
    is_definition: bool = False
    once: bool = False


@dataclass(frozen=True)
class Construction:
    """How the project itself makes an object that an episode needs.

    ``statements`` come before the expression ``value``. ``functions`` are those of the
    project that it hands over, as tools, by their file. ``foreign``: it holds something of
    a library. ``uses_endpoint``: it names ``endpoint``, which says where the model is.
    ``needs_key``: it makes a client of OpenAI's that is given no key. ``left_out``: what else
    happens to it if somebody types an option.
    """

    place: Place
    value: str
    imports: tuple[ImportedName, ...] = ()
    statements: tuple[Statement, ...] = ()
    functions: tuple[FunctionKey, ...] = ()
    foreign: bool = False
    uses_endpoint: bool = False
    needs_key: bool = False
    left_out: tuple[Place, ...] = ()

    def is_like(self, other: Construction) -> bool:
        """True if both are made by the same code, wherever it stands."""
        return (self.value, self.statements) == (other.value, other.statements)


@dataclass(frozen=True)
class SetupCall:
    """A call that the project makes before or after an agent runs: ``connect()``.

    ``name`` is that of a method of the agent, or of a function of ``module``: in its own
    file where that is "".
    """

    place: Place
    name: str
    key: FunctionKey
    is_async: bool
    parameters: tuple[Parameter, ...] = ()
    module: str = ""


@dataclass(frozen=True)
class Route:
    """How a request reaches a handler: ``application`` is the name in its file.

    ``encoding`` is the way in which httpx sends the scenario: json, data or params.
    ``streams``: it answers event by event, which is no answer as such.
    """

    application: str
    method: str
    path: str
    encoding: str
    streams: bool = False


@dataclass(frozen=True)
class Terminal:
    """What an episode reads from a terminal, in the place of parameters."""

    asks: bool  # input(), prompts
    reads_arguments: bool  # sys.argv
    only_keys: bool = False  # all that it asks for are keys


@dataclass(frozen=True)
class Given:
    """What a scenario's field takes the place of, in a call that a program makes.

    ``call`` is "" for the one that runs the episode. ``path``: a parameter, and attributes of it.
    """

    call: str
    path: str
    field: str


@dataclass(frozen=True)
class Program:
    """The program that a watched run started, which calls what runs an episode.

    ``command`` is what followed ``python``, and ``typed`` what a person typed before the call.
    Functions are named by their files, from ``folder``. ``makes``: parameters that nothing else
    could make. ``runs``: functions that ran before the call, for what they do. ``arguments``:
    the rest of the command, where each scenario says its own.
    """

    folder: Path
    command: tuple[str, ...]
    typed: tuple[str, ...]
    until: str
    given: tuple[Given, ...]
    arguments: tuple[str, ...] = ()
    makes: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        """Return why an episode starts it; "" if somebody asked for that."""
        whats = [
            f"it makes {', '.join(self.makes)}" * bool(self.makes),
            f"it runs {', '.join(self.runs[:3])} first" * bool(self.runs),
        ]
        return " and ".join(filter(None, whats))

    @property
    def shown(self) -> str:
        """Return its command as somebody would type it."""
        is_installed = self.command[0] != "-m" and not self.command[0].endswith(".py")
        words = (*self.command, *self.arguments)
        return shlex.join(["python"] * (not is_installed) + [*words])


@dataclass(frozen=True)
class EntryPoint:
    """A function or method that runs one episode, or a whole file that is run."""

    place: Place
    name: str  # qualified, where it is defined: "run_agent", "Base.run"
    called: str  # with the class that is made, which may inherit it: "Agent.run"
    home: Path  # the file that a train module lies beside, and imports it from
    package: str  # dotted package that this file is in, "" for a script
    parameters: tuple[Parameter, ...] = ()
    constructor: tuple[Parameter, ...] = ()
    class_name: str | None = None
    is_async: bool = False
    is_generator: bool = False
    returns: str | None = None
    exits: tuple[Exit, ...] = ()
    rewards: tuple[RewardSite, ...] = ()
    score: int = 0
    documentation: str = ""
    terminal: Terminal | None = None  # of one that has to be given none
    attribute: str = ""  # of the object that its decorator makes, with the function
    route: Route | None = None  # of a handler that only a request can call
    setup: tuple[SetupCall, ...] = ()
    cleanup: tuple[SetupCall, ...] = ()
    is_abstract: bool = False  # its class is, and nothing in the project implements it
    decorated: bool = False  # by something that may change what a call returns
    context: str = ""  # "with" or "async with", around an instance of its class
    is_request: bool = False  # an episode is a request that was recorded there
    returns_value: bool = True  # and not a status, or nothing
    implements: FunctionKey | None = None  # the method of an interface
    is_helper: bool = False  # it asks what its callers want to have asked
    is_turn: bool = False  # it asks once, and its object keeps the conversation
    feeds_back: bool = False  # it asks what the answers before have led to
    goes_through_rows: bool = False  # it asks only in a call for each of some rows
    side_job: str = ""  # what it is named after, if that is no agent's job: "judge"
    instance: Parameter | None = None  # of its class, as the project makes it whole
    before: tuple[Construction, ...] = ()  # what modules hold, set before all episodes
    registering: tuple[str, ...] = ()  # modules to import, which register its tools
    shares_client: bool = False  # side jobs ask over what it is given to ask with
    features: tuple[str, ...] = ()  # what speaks for and against it, by name
    is_apart: bool = False  # from the files that the user named: another feature
    was_seen: bool = False  # to ask the model, in a run
    led_to_by: frozenset[FunctionKey] = frozenset()  # functions that may lead to it
    classes: tuple[ImportedName, ...] = ()  # named in annotations, and not in its file
    program: Program | None = None  # that calls it, where each episode starts that

    @property
    def key(self) -> FunctionKey:
        """Return the file that defines the function, and its name there."""
        return self.place.path, self.name

    @property
    def module(self) -> str:
        """Return how an importer beside the train module names the entry point's file."""
        in_package = self.package and not self.is_script
        return f".{self.home.stem}" if in_package else self.home.stem

    @property
    def needs(self) -> tuple[Parameter, ...]:
        """Return what an episode has to be given: by its class, its setup and the function."""
        opened = (each.opened for each in self.parameters if each.opened is not None)
        setup = (p for call in (*self.setup, *opened) for p in call.parameters)
        instance = self.instance
        if self.is_abstract:
            instance = Parameter("agent", self.class_name, None, is_object=True)
        made = self.constructor if instance is None else (instance,)
        return (*made, *setup, *self.parameters)

    @property
    def parts(self) -> tuple[Parameter, ...]:
        """Return the needs, and what episode() puts into those that it makes."""
        return tuple(part for parameter in self.needs for part in _parts(parameter))

    @property
    def runs_shared_object(self) -> bool:
        """True if all episodes run the object that a module makes and fills."""
        whole = self.instance
        if whole is None or whole.made is None:
            return False
        return whole.is_object and not whole.made.statements

    @property
    def is_script(self) -> bool:
        return self.name == MODULE_LEVEL

    @property
    def is_typed_to(self) -> bool:
        """True if a person types a whole conversation to it, turn by turn."""
        typed = self.terminal is not None and self.terminal.asks
        return typed and "relays_a_person" in self.features

    @property
    def needs_its_module(self) -> bool:
        """True if only its module can run it: it makes a turn of its loop, or reads what it sets."""
        return self.is_unset or "step_of_module" in self.features

    @property
    def is_unset(self) -> bool:
        """True if it reads a variable that an import of its file leaves unset."""
        return "set_by_module" in self.features

    @property
    def keeps_answer(self) -> bool:
        """True if the function returns no answer: what the model says last is.

        Places where it shows or stores one are marked, which goes before; but a branch may
        pass them by, as one that prints a stream does.
        """
        typed = self.terminal is not None or self.route is not None
        returned = any(each.how == "returned" for each in self.exits)
        return not (returned or self.returns_value or typed or self.is_request)

    def __str__(self) -> str:
        return self.called


def _parts(parameter: Parameter) -> Iterator[Parameter]:
    yield parameter
    if parameter.is_record:
        for field_ in parameter.fields or ():
            yield from _parts(field_)


@dataclass(frozen=True)
class FileSurvey:
    """The findings in one file.

    ``names`` are all identifiers that the file uses, or may bind by a string. ``hooks`` maps local names to the
    hooks they import.
    """

    source: Source
    given: bool  # named by the user, not found through an import
    edited: (
        bool  # may be given hooks; other files are only read, for what their code does
    )
    package: str  # dotted package that the file is in, "" for a script
    calls: tuple[CompletionCall, ...]
    threads: tuple[ThreadStart, ...]
    effects: tuple[Effect, ...]
    obstacles: tuple[Obstacle, ...]
    names: frozenset[str]
    hooks: dict[str, str] = field(default_factory=dict)
    hooks_place: HooksPlace | None = None  # where that import leads
    hooks_places: tuple[HooksPlace, ...] = ()  # where it may lead, the best first
    tool_execution: ToolExecution | None = None
    uses_art: Place | None = None


@dataclass(frozen=True)
class Survey:
    """The findings in an agent: its files, and its entry points, likeliest first.

    ``read``: all files that they rest on. ``unreached``: completion calls in imported files to
    which nothing in a named file leads. ``said``: what somebody says of its calls. ``unread``:
    files that use the agent and cannot be read, with why; ``broken``: such files that it imports.
    """

    files: tuple[FileSurvey, ...]
    entry_points: tuple[EntryPoint, ...]
    read: tuple[Source, ...] = field(default=(), repr=False)
    unreached: tuple[Place, ...] = ()
    said: Said = NOTHING
    unread: tuple[Refusal, ...] = ()
    broken: tuple[Refusal, ...] = ()

    @property
    def calls(self) -> tuple[CompletionCall, ...]:
        return tuple(call for file in self.files for call in file.calls)

    @property
    def models(self) -> frozenset[str]:
        """Return the names of the models that its calls are known to ask."""
        return frozenset(
            name
            for call in self.calls
            for name in (call.asks, *call.several, *(a.model for a in call.askers))
            if name
        )

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """Return what is not handled, each once: several files may say the same of a folder."""
        return tuple(dict.fromkeys(o for file in self.files for o in file.obstacles))

    @property
    def left_out(self) -> tuple[str, ...]:
        """Return the calls at module level that a train module imports the agent without."""
        effects = (e for file in self.files for e in file.effects)
        return tuple(dict.fromkeys(call for e in effects for call in e.calls))

    def syntax_of(self, path: Path) -> Syntax | None:
        """Return what was read of a file, by its real path; None if it was not."""
        found = (s for s in self.read if os.path.realpath(s.path) == f"{path}")
        source = next(found, None)
        return None if source is None else Syntax.of(source)

    def isolation(self, *, can_copy: bool = True) -> str | None:
        """Return what keeps episodes apart that would see each other's changes."""
        effects = [effect for file in self.files for effect in file.effects]
        return isolation(effects, can_copy=can_copy)

    def effects(self, *harms: Harm) -> list[Effect]:
        """Return the side effects of these kinds, of whatever file they are in."""
        return [e for file in self.files for e in file.effects if e.harm in harms]
