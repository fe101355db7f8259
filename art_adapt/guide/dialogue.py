"""Asks the questions that are open, in their order, and takes answers back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from art_adapt.errors import Refusal
from art_adapt.guide import questions
from art_adapt.guide.prompts import Prompts
from art_adapt.guide.question import Choice, Question, QuestionModule, Situation
from art_adapt.guide.sources import project_files
from art_adapt.settings import Options, Origin
from art_adapt.survey.model import Survey

EACH, RECOMMENDED = {"guide": "each"}, {"guide": "recommended"}


def guided(survey: Survey, options: Options) -> Options:
    """Ask what is not known yet; return the options with the answers.

    Answers have the origin ``ANSWER``. What is only recommended stays as it is.

    Raises:
        Refusal: whoever was asked has not answered.
    """
    given = next(file for file in survey.files if file.given)
    files = project_files(given.source.path)
    situation = Situation(survey, options, files)
    if next(_open(situation), None) is None:
        return options
    with Prompts() as prompts:
        try:
            return _asked(situation, prompts)
        except (KeyboardInterrupt, EOFError):
            raise Refusal("nobody has answered, so nothing was written") from None


def _asked(situation: Situation, prompts: Prompts) -> Options:
    before: list[Situation] = []
    how = prompts.ask(_how(situation), can_go_back=False)
    each = how is not None and how.sets == EACH
    while question := next(_open(situation), None):
        answer: Choice | None = question.choices[0]
        if each or question.open:
            answer = prompts.ask(question, can_go_back=bool(before))
        if answer is None:
            situation = before.pop()
        else:
            before.append(situation)
            options = _with(situation.options, answer, asked=each or question.open)
            situation = replace(situation, options=options)
    return situation.options


def _how(situation: Situation) -> Question:
    number = sum(1 for _ in _open(situation))
    return Question(
        f"The source does not tell {number} thing{'s' * (number > 1)}. How to settle them?",
        (
            Choice("ask me", EACH, "one at a time, each with what is recommended"),
            Choice("take what is recommended", RECOMMENDED, "all of it can be changed"),
        ),
    )


def _open(situation: Situation) -> Iterator[Question]:
    if not situation.is_start:
        return
    for module in _modules():
        yield from module.questions(situation)


@cache
def _modules() -> tuple[QuestionModule, ...]:
    names = (found.name for found in iter_modules(questions.__path__))
    modules = (import_module(f"{questions.__name__}.{name}") for name in names)
    return tuple(sorted(map(QuestionModule.of, modules), key=lambda each: each.order))


def _with(options: Options, answer: Choice, *, asked: bool) -> Options:
    """Return the options with an answer; what would come of none is not to be kept."""
    usual = Options()
    origins = {
        name: Origin.DEFAULT
        if answer.is_usual or (not asked and value == getattr(usual, name))
        else Origin.ANSWER
        for name, value in answer.sets.items()
    }
    return replace(options, **answer.sets, origins={**options.origins, **origins})
