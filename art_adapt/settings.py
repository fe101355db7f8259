"""The one table of the options of adapting.

An option is one annotated field of ``Options``: its name gives the flag and the key in
``[tool.art-adapt]``, its annotation the type, the help text and the check, its value the
default. Flags (commands/flags.py), configuration (pyproject.py), checks and the settings
of the train module are read off these fields.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import UnionType
from typing import Annotated, Any, get_args, get_origin

from art_adapt import backends
from art_adapt.backends import Backend
from art_adapt.closed_models import CLOSED_REMEDY, is_closed
from art_adapt.errors import Refusal


class Origin(StrEnum):
    """Where a decision came from."""

    FOUND = "found"
    DEFAULT = "default"
    FLAG = "flag"
    EARLIER = "as before"
    CONFIG = "config"
    ANSWER = "answer"
    SEEN = "seen"


@dataclass(frozen=True)
class Check:
    """What must hold for a value, and the message if it does not.

    ``{said}`` in ``message`` is the option as the user gave it, ``{value}`` its value.
    """

    holds: Callable[[Any], bool]
    message: str
    why: str = ""
    next_step: str = ""


@dataclass(frozen=True)
class Option:
    """The help text of an option, its check, and its default in words where it is computed.

    ``absent``: the word that stands for None, where that is a choice like any other.
    """

    help: str
    check: Check | None = None
    default: str = ""
    absent: str = ""


def _one_of(kind: str, *choices: str, absent: str = "") -> Check:
    *others, last = (*choices, absent) if absent else choices
    return Check(
        choices.__contains__,
        f"no such {kind}: {{value!r}}",
        next_step=f"use {', '.join(others)} or {last}",
    )


def _at_least(least: int, why: str = "") -> Check:
    return Check(
        lambda value: value >= least,
        "{said} is too small",
        why,
        f"use {least} or more",
    )


_NAMES_A_FUNCTION = Check(
    lambda name: re.fullmatch(r"[\w.]+:\w+", name) is not None,
    "{said} does not name a function of a module",
    next_step="write it as module:function",
)
_IS_A_NAME = Check(
    lambda name: re.fullmatch(r"[\w.-]*", name) is not None,
    "{said} is not a valid name for a run",
    why="folders and a model get this name",
    next_step="use letters, digits, dots, hyphens and underscores only",
)
_IS_ONE_FOLDER = Check(
    lambda name: re.search(r"[/\\\x00-\x1f]|^\.\.?$", name) is None,
    "{said} is not a valid name for a project",
    why="the folder of the project's models gets this name",
    next_step="leave out slashes and backslashes",
)
_IS_A_SHARE = Check(lambda share: 0 < share < 1, "{said} is not between 0 and 1")
HIGHEST_RATE = 0.005  # a thousand times that of ART (0.5.18, types.py: 5e-6)
_IS_A_RATE = Check(
    lambda rate: 0 < rate <= HIGHEST_RATE,
    f"{{said}} is not above 0 and at most {HIGHEST_RATE:g}",
    why="a higher learning rate destroys the model in its first steps",
    next_step="use 1e-5, or leave it out",
)
_HAS_WEIGHTS = Check(
    lambda model: not is_closed(model),
    "{said} cannot be trained",
    why="only its maker has its weights",
    next_step=CLOSED_REMEDY,
)


@dataclass(frozen=True)
class TrainingOptions:
    """How to train: the options that end up in the train module."""

    reward: Annotated[
        str | None,
        Option(
            "Your reward, module:function(trajectory, scenario); or ruler.",
            _NAMES_A_FUNCTION,
            default="RULER",
            absent="ruler",
        ),
    ] = None
    ruler_weight: Annotated[
        float | None,
        Option(
            "RULER's share of the reward, beside --reward.",
            _IS_A_SHARE,
            default="none",
        ),
    ] = None
    scenarios: Annotated[
        str,
        Option(
            "A JSONL or CSV file or a dataset's folder, from here or beside the agent, "
            "or module:NAME."
        ),
    ] = "scenarios.jsonl"
    trace: Annotated[
        str | None,
        Option(
            "Trace rollouts: weave or langfuse.", _one_of("tracer", "weave", "langfuse")
        ),
    ] = None
    isolate: Annotated[
        str | None,
        Option(
            "process: run each episode in a fresh process, for agents with shared state; "
            "copy: in a copy of the project's folder as well, for files and databases; "
            "none: all in one process. By default, what is found decides.",
            _one_of("way to isolate episodes", "process", "copy", absent="none"),
            absent="none",
        ),
    ] = None
    start: Annotated[
        str | None,
        Option(
            "program: start your program for each episode, as the watched run did, up to the "
            "call of the entry point; agent: construct the agent. By default, program where "
            "that run did more than episode() could repeat.",
            _one_of("way to start episodes", "program", "agent"),
            default="what was seen decides",
        ),
    ] = None
    single_turn: Annotated[
        bool,
        Option(
            "Train single completions on recorded requests (rows with messages, tools): "
            "for agents that cannot be run again. The agent stays as it is."
        ),
    ] = False
    backend: Annotated[
        str,
        Option(f"{backends.NAMES}.", _one_of("backend", *backends.Backend)),
    ] = "local"
    pipeline: Annotated[
        bool,
        Option("Sample and train at once, with ART's PipelineTrainer: needs two GPUs."),
    ] = False
    base_model: Annotated[str, Option("The model to train.", _HAS_WEIGHTS)] = (
        "OpenPipe/Qwen3-14B-Instruct"
    )
    project: Annotated[
        str,
        Option("The project's name in ART.", _IS_ONE_FOLDER, default="the file's name"),
    ] = ""
    run_name: Annotated[
        str,
        Option("The run's name in ART.", _IS_A_NAME, default="the file's name and 001"),
    ] = ""
    judge_model: Annotated[str, Option("RULER's judge.")] = "openai/gpt-5.4"
    rubric: Annotated[
        str | None,
        Option(
            "What RULER's judge looks for, in a sentence or two.",
            default="ART's own rubric",
            absent="default",
        ),
    ] = None
    learning_rate: Annotated[
        float,
        Option(
            "The optimizer's learning rate.",
            _IS_A_RATE,
        ),
    ] = 1e-5
    rollouts_per_group: Annotated[
        int,
        Option(
            "Episodes of one scenario that are compared.",
            _at_least(2, "a group of one has no advantage: nothing would be learned"),
        ),
    ] = 4
    groups_per_step: Annotated[
        int, Option("Scenarios in a training step.", _at_least(1))
    ] = 2
    epochs: Annotated[
        int,
        Option("Passes over the scenarios; 0 for no end.", _at_least(0)),
    ] = 3
    max_steps: Annotated[
        int,
        Option(
            "Training steps in total, at most; a later run continues from there.",
            _at_least(1),
        ),
    ] = 50
    validation_scenarios: Annotated[
        int, Option("Scenarios held out for validation, at most.", _at_least(0))
    ] = 20


@dataclass(frozen=True)
class Options(TrainingOptions):
    """The options of one run: from flags, else from pyproject.toml, else the defaults."""

    entry: Annotated[
        str | None,
        Option("The function or method that runs one episode, or module:callable."),
    ] = None
    policy: Annotated[
        tuple[str, ...],
        Option("A function (or FILE:LINE) whose model is to be trained."),
    ] = ()
    auxiliary: Annotated[
        tuple[str, ...],
        Option(
            "A function (or FILE:LINE), or a model, that is not to be trained: a judge, a "
            "summariser, an opponent."
        ),
    ] = ()
    train_module: Annotated[
        bool,  # the help text is that of --no-train-module
        Option("Write only hooks and art_recording.py; needs no entry point."),
    ] = True
    line_length: Annotated[
        int,
        Option("Your formatter's line length.", default="from pyproject.toml, else 88"),
    ] = 88
    origins: Mapping[str, Origin] = field(default_factory=dict)

    def origin(self, name: str) -> Origin:
        return self.origins.get(name, Origin.DEFAULT)


@dataclass(frozen=True)
class Setting:
    """An option as read off its field: name, type, default and what its annotation says."""

    name: str
    kind: type  # str, int, float, bool, or tuple: of strings
    default: Any
    option: Option

    @property
    def key(self) -> str:
        return self.name.replace("_", "-")

    @property
    def flag(self) -> str:
        """Return the flag; one that is on by default can only be switched off."""
        return f"--no-{self.key}" if self.default is True else f"--{self.key}"

    @property
    def help(self) -> str:
        shown = self.option.default
        if not shown and self.default and self.kind not in (bool, tuple):
            shown = str(self.default)
        return self.option.help + (f" [{shown}]" if shown else "")

    def meant(self, value: Any) -> Any:
        """Return what a given value stands for: None, where it is the word for that."""
        return None if value == self.option.absent != "" else value

    def said(self, value: Any, origin: Origin) -> str:
        """Return the option as the user gave it."""
        if origin is Origin.CONFIG:
            return f"[tool.art-adapt] {self.key} = {value!r}"
        return f"{self.flag} {value!r}"


def _settings() -> Iterator[Setting]:
    for owner in (Options, TrainingOptions):
        for name, annotation in inspect.get_annotations(owner, eval_str=True).items():
            for option in getattr(annotation, "__metadata__", ()):  # of Annotated
                kind = _kind(annotation.__origin__)
                yield Setting(name, kind, getattr(owner, name), option)


def _kind(declared: Any) -> type:
    """Return the class of values annotated as ``str``, ``str | None`` or ``tuple[str, ...]``."""
    kind: type = get_origin(declared) or declared
    return get_args(declared)[0] if kind is UnionType else kind


SETTINGS = tuple(_settings())


def check(options: Options) -> None:
    """Refuse values that no training run could work with.

    Raises:
        Refusal: a value is empty or fails its check, or two options exclude each other.
    """
    for setting in SETTINGS:
        check_setting(
            setting, getattr(options, setting.name), options.origin(setting.name)
        )
    if options.pipeline and options.backend != Backend.LOCAL:
        raise Refusal(
            f"--pipeline does not work with the {options.backend} backend",
            why="PipelineTrainer samples and trains on local GPUs",
            next_step="leave out one of the two",
        )
    if options.ruler_weight is not None and options.reward is None:
        raise Refusal(
            "--ruler-weight needs --reward",
            why="it sets RULER's share of the reward beside your own function",
            next_step="add --reward module:function, or leave out --ruler-weight to use RULER alone",
        )


def check_setting(setting: Setting, value: Any, origin: Origin) -> None:
    """Refuse a value of one option.

    Raises:
        Refusal: it is empty, or fails its check.
    """
    said = setting.said(value, origin)
    if value == "" and origin is not Origin.DEFAULT:
        raise Refusal(f"{said} is empty", next_step="give it a value, or leave it out")
    wanted = setting.option.check
    if wanted is not None and value is not None and not wanted.holds(value):
        message = wanted.message.format(said=said, value=value)
        raise Refusal(message, why=wanted.why, next_step=wanted.next_step)
