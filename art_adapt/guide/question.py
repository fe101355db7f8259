"""What a question is, and what it may look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from art_adapt.entry_decision import decide_entry
from art_adapt.errors import Refusal
from art_adapt.settings import Options
from art_adapt.survey.model import EntryPoint, Survey
from art_adapt.train_file import train_module_path


@dataclass(frozen=True)
class Choice:
    """A possible answer: its words, the options that it sets, and what speaks for it.

    ``is_usual``: it is what comes of no answer, too, so there is nothing to keep.
    """

    says: str
    sets: Mapping[str, Any]
    because: str = ""
    is_usual: bool = False


@dataclass(frozen=True)
class Question:
    """A question with the answers to choose from.

    Attributes:
        asks: the question, in one line.
        choices: the first one is recommended.
        why: what the answer changes, in a sentence or two.
        typed: options whose values can be typed instead, separated by spaces; the value
            of a single one may hold spaces.
        example: what to type.
        meant: returns typed values as they are kept; raises a Refusal for those that fit
            no training run.
        open: nothing is recommended: it is asked even of those who take all that is.
        unranked: the first choice is a start like any other, and not called recommended.
        of_agent: the answer depends on this agent. The others have good defaults.
        earlier: the answer that it has had, where somebody comes back to it.
    """

    asks: str
    choices: tuple[Choice, ...]
    why: str = ""
    typed: tuple[str, ...] = ()
    example: str = ""
    meant: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    open: bool = False
    unranked: bool = False
    of_agent: bool = False
    earlier: Choice | None = None


@dataclass(frozen=True)
class Situation:
    """What is known when a question is asked: the survey, and the answers so far.

    ``files``: of the project, in which sources are looked for. ``at_first``: the survey
    before any answer.
    """

    survey: Survey
    options: Options
    files: tuple[Path, ...]
    at_first: Survey

    def is_known(self, *names: str) -> bool:
        """Tell whether one of these options was given, configured or answered."""
        return any(name in self.options.origins for name in names)

    @cached_property
    def entry(self) -> EntryPoint | None:
        """Return the entry point, if it is clear by now."""
        return _entry(self.survey, self.options)

    @cached_property
    def entry_at_first(self) -> EntryPoint | None:
        """Return the entry point that was clear before any answer."""
        return _entry(self.at_first, self.options)

    @property
    def is_start(self) -> bool:
        """True if there is no train module yet: what one says is not asked again."""
        return self.entry is None or not train_module_path(self.entry.home).exists()

    @property
    def is_judged(self) -> bool:
        """True if RULER has a say in the reward."""
        options = self.options
        own = options.reward is not None or self.agent_rewards
        return not own or options.ruler_weight is not None

    @property
    def agent_rewards(self) -> bool:
        """True if the agent itself computes its reward."""
        found = self.entry is not None and bool(self.entry.rewards)
        return found and self.options.reward is None


def _entry(survey: Survey, options: Options) -> EntryPoint | None:
    try:
        return decide_entry(survey, options).entry
    except Refusal:
        return None


@dataclass(frozen=True)
class QuestionModule:
    """A module of ``questions``: its place among them, and the questions that are open."""

    order: int
    questions: Callable[[Situation], Iterator[Question]]

    @classmethod
    def of(cls, module: ModuleType) -> QuestionModule:
        return cls(module.ORDER, module.questions)
