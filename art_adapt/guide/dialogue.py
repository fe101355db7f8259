"""Asks the questions that are open, in their order, and takes answers back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from art_adapt.decided import NOW, flags_of
from art_adapt.decisions import decide
from art_adapt.errors import Refusal
from art_adapt.guide import questions
from art_adapt.guide.prompts import Prompts
from art_adapt.guide.question import Choice, Question, QuestionModule, Situation
from art_adapt.guide.sources import project_files
from art_adapt.plan import Reading
from art_adapt.printable import counted
from art_adapt.report.lines import Line
from art_adapt.report.seen import seen_lines
from art_adapt.report.text import found_lines
from art_adapt.seen.decision import Seen
from art_adapt.settings import Options, Origin
from art_adapt.survey.model import Survey

HEADING = Line(text="Found", heading=True)
OF_AGENT, EACH, RECOMMENDED = "of agent", "each", "recommended"
NO_ANSWER = "no answer was given, so the agent was not changed"


@dataclass
class Guide:
    """Asks what is not known yet; ``has_shown``: it has shown what was found, at the beginning."""

    has_shown: bool = False

    def __call__(
        self, survey: Survey, options: Options, reading: Reading, seen: Seen | None
    ) -> Options:
        """Show what was found, ask what is not known yet; return the options with the answers.

        Answers have the origin ``ANSWER``. What is only recommended stays as it is. ``reading``
        reads the agent anew where an answer says whose a request is: another function may run
        an episode then.

        Raises:
            Refusal: whoever was asked has not answered; it names the flags of the answers.
        """
        given = next(file for file in survey.files if file.given)
        files = project_files(given.source.path)
        situation = Situation(survey, options, files, survey)
        if next(_open(situation), None) is None:
            return options
        with Prompts() as prompts:
            with suppress(Refusal):
                # Which function runs an episode, and what keeps episodes apart, is asked.
                found = decide(survey, replace(options, train_module=False))
                lines = (Line(*each) for each in seen_lines(seen))
                prompts.show(
                    [HEADING, *found_lines(survey, found, trains=True), *lines]
                )
                self.has_shown = True
            return _asked(situation, prompts, reading)


def _asked(situation: Situation, prompts: Prompts, reading: Reading) -> Options:
    before: list[Situation] = []
    # What was answered, by the question: the user may go back.
    earlier: dict[str, Choice] = {}
    how = _how_to_ask(situation, prompts)
    while question := next(_open(situation), None):
        answer: Choice | None = question.choices[0]
        asked = question.open or how == EACH or (how == OF_AGENT and question.of_agent)
        if asked:
            left = [q for q in _open(situation) if how == EACH or q.of_agent or q.open]
            number = len(before) + 1
            of = number + len(left) - 1
            shown = _with_earlier(question, earlier.get(question.asks))
            shown = replace(shown, asks=f"{question.asks} ({number} of {of})")
            answer = _answer(situation, prompts, shown, can_go_back=number > 1)
            earlier |= {} if answer is None else {question.asks: answer}
        if answer is None:  # what was taken unasked since then is taken again
            situation = before.pop()
        else:
            before += [situation] if asked else []
            options = _with(situation.options, answer, asked=asked)
            survey, options = reading(situation.survey, options)
            situation = replace(situation, survey=survey, options=options)
    return situation.options


def _with_earlier(question: Question, answer: Choice | None) -> Question:
    """Return a question that comes again with its last answer, typed or chosen, to take again."""
    if answer is None:
        return question
    same = next((e for e in question.choices if e.says == answer.says), None)
    choices = question.choices if same else (*question.choices, answer)
    return replace(question, choices=choices, earlier=same or answer)


def _answer(
    situation: Situation, prompts: Prompts, question: Question, *, can_go_back: bool
) -> Choice | None:
    try:
        return prompts.ask(question, can_go_back=can_go_back)
    except (KeyboardInterrupt, EOFError):
        flags = flags_of(situation.options, NOW)
        again = f"repeat your answers with {' '.join(flags)}" if flags else ""
        raise Refusal(NO_ANSWER, next_step=again) from None


def _how_to_ask(situation: Situation, prompts: Prompts) -> str:
    """Ask whether the questions of this agent are to be asked, all of them, or none."""
    every = list(_open(situation))
    of_agent = [question for question in every if question.of_agent]
    each = Choice(
        f"ask me all {len(every)}", {"guide": EACH}, "from the reward to the names"
    )
    choices = [
        Choice(
            "as recommended", {"guide": RECOMMENDED}, "you can change all of it later"
        )
    ]
    if of_agent and len(of_agent) < len(every):
        said = f"ask me about my agent: {counted(len(of_agent), 'question')} so far"
        choices.insert(
            0,
            Choice(said, {"guide": OF_AGENT}, "the others get the recommended answer"),
        )
        choices.append(each)
    else:
        choices.insert(0, each)
    question = Question(
        f"{counted(len(every), 'setting')} {'are' if len(every) > 1 else 'is'} open. "
        "How do you want to settle them?",
        tuple(choices),
    )
    answer = _answer(situation, prompts, question, can_go_back=False)
    assert answer is not None  # there is nothing to go back to
    return str(answer.sets["guide"])


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
    """Return the options with an answer; what nobody was asked, and would come of none, is not kept."""
    usual = Options()
    origins = {
        name: Origin.FOUND
        if answer.is_usual and not (asked and value)
        else Origin.DEFAULT
        if not asked and value == getattr(usual, name)
        else Origin.ANSWER
        for name, value in answer.sets.items()
    }
    return replace(options, **answer.sets, origins={**options.origins, **origins})
