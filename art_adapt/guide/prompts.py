"""Shows questions and takes answers, on the terminal, whatever is piped.

With arrow keys where the terminal can do that; line by line, with a letter an answer, on a
dumb one, and for screen readers, which ``ACCESSIBLE=1`` says.
"""

from __future__ import annotations

import os
import re
from contextlib import ExitStack
from string import ascii_lowercase
from textwrap import fill
from types import TracebackType
from typing import Any, TextIO

from art_adapt.errors import Refusal
from art_adapt.guide.question import Choice, Question
from art_adapt.printable import printable
from art_adapt.report.lines import Line, write
from art_adapt.settings import SETTINGS, Origin, check_setting
from art_adapt.terminal import opened_terminal

WIDEST, NARROWEST = 90, 20
LABEL = len("Description: ")
BACK_KEY = "<"


class Prompts:
    """Questions on one terminal; a context manager."""

    def __enter__(self) -> Prompts:
        self._opened = ExitStack()
        reading = self._opened.enter_context(opened_terminal("r"))
        writing = self._opened.enter_context(opened_terminal("w"))
        assert reading is not None and writing is not None  # the caller has looked
        self._reading, self._writing = reading, writing
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._opened.close()

    def ask(self, question: Question, *, can_go_back: bool) -> Choice | None:
        """Return what is answered; None: the last answer is taken back.

        Raises:
            KeyboardInterrupt, EOFError: there is no answer.
        """
        self._say("")
        if question.why:
            self._say(question.why)
        if is_plain():
            return self._ask_plainly(question, can_go_back=can_go_back)
        return self._ask_with_arrows(question, can_go_back=can_go_back)

    def show(self, lines: list[Line]) -> None:
        """Show lines of a report before the first question."""
        write(lines, self._writing)
        self._writing.flush()

    def _say(self, text: str) -> None:
        wide = max(NARROWEST, min(WIDEST, _columns(self._writing) - 1))
        lines = (fill(printable(line), wide) for line in text.split("\n"))
        self._writing.write("\n".join(lines) + "\n")
        self._writing.flush()

    def _ask_plainly(self, question: Question, *, can_go_back: bool) -> Choice | None:
        self._say(question.asks)
        letters = dict(zip(ascii_lowercase, question.choices, strict=False))
        for letter, choice in letters.items():
            self._say(f"  {letter}  {_shown(choice, question)}")
        if question.typed:
            self._say(f"  or type: {question.example}")
        back = f", {BACK_KEY} for the last question" if can_go_back else ""
        usual = question.earlier or (None if question.open else question.choices[0])
        default = next((f" [{k}]" for k, each in letters.items() if each is usual), "")
        while True:
            self._writing.write(f"Answer{default}{back}: ")
            self._writing.flush()
            try:
                line = self._reading.readline()
            except UnicodeDecodeError:
                line = "\n"
            if not line:
                raise EOFError
            said = line.strip()
            if said == BACK_KEY and can_go_back:
                return None
            if said in letters:
                return letters[said]
            if said == "" and usual is not None:
                return usual
            if question.typed and said and (taken := self._taken(question, said)):
                return taken
            if not question.typed or not said:
                self._say(f"Please answer with one of {', '.join(letters)}.")

    def _ask_with_arrows(
        self, question: Question, *, can_go_back: bool
    ) -> Choice | None:
        import questionary
        from prompt_toolkit.input import create_input
        from prompt_toolkit.output import ColorDepth
        from prompt_toolkit.output.defaults import create_output

        plain = ColorDepth.DEPTH_1_BIT if os.environ.get("NO_COLOR") else None
        on: dict[str, Any] = {
            "input": create_input(self._reading),
            "output": create_output(self._writing),
            "color_depth": plain,
        }
        typing, back = object(), object()
        wide = max(NARROWEST, _columns(self._writing) - 4)
        told = [(e, printable(_about(e, question))) for e in question.choices]
        # Questionary writes what is said of a choice in one line, behind its label.
        fits = all(len(about) <= wide - LABEL for _, about in told)
        for each, about in told if not fits else ():
            self._say(f"  {each.says}: {about}" if about else f"  {each.says}")
        choices = [
            questionary.Choice(
                _cut(printable(each.says), wide),
                each,
                description=(about or None) if fits else None,
            )
            for each, about in told
        ]
        default = next((e for e in choices if e.value is question.earlier), None)
        if question.typed:
            choices.append(questionary.Choice("something else", typing))
        if can_go_back:
            choices.append(questionary.Choice("back to the last question", back))
        while True:
            chosen = questionary.select(
                fill(printable(question.asks), wide),
                choices,
                default=default,
                instruction=" ",
                **on,
            ).unsafe_ask()
            if isinstance(chosen, Choice):
                return chosen
            if chosen is back:
                return None
            self._say(f"{question.example}:")
            said = ""
            while said := questionary.text("", default=said, **on).unsafe_ask().strip():
                if taken := self._taken(question, said):
                    return taken

    def _taken(self, question: Question, said: str) -> Choice | None:
        """Return what a typed answer sets; None, and say why, if it cannot."""
        try:
            return Choice(said, typed_options(question, said))
        except Refusal as refusal:
            self._say(str(refusal))
            return None


def typed_options(question: Question, said: str) -> dict[str, Any]:
    """Read what was typed as the options that the question takes.

    Raises:
        Refusal: there are more or fewer, or one fails its check.
    """
    if not said.isprintable():
        raise Refusal("this text has characters that cannot be written to a file")
    names = question.typed
    parts = re.split(r"[\s,]+", said) if len(names) > 1 else [said]
    if len(parts) != len(names):
        raise Refusal(f"enter {len(names)} values: {question.example}")
    settings = {setting.name: setting for setting in SETTINGS}
    values: dict[str, Any] = {}
    for name, part in zip(names, parts, strict=True):
        if name not in settings:  # of no train module
            values[name] = part
            continue
        setting = settings[name]
        try:
            value = setting.meant(setting.kind(part))
        except ValueError:
            number = "whole number" if setting.kind is int else "number"
            raise Refusal(f"{part!r} is not a {number}") from None
        check_setting(setting, value, Origin.ANSWER)
        values[name] = value
    return values if question.meant is None else dict(question.meant(values))


def is_plain() -> bool:
    """Tell whether a terminal, or whoever sits there, wants lines of text only."""
    return (
        bool(os.environ.get("ACCESSIBLE")) or os.environ.get("TERM", "dumb") == "dumb"
    )


def _shown(choice: Choice, question: Question) -> str:
    about = _about(choice, question)
    return f"{choice.says} ({about})" if about else choice.says


def _about(choice: Choice, question: Question) -> str:
    unranked = question.open or question.unranked or len(question.choices) == 1
    first = choice is question.choices[0] and not unranked
    return "; ".join(filter(None, [choice.because, "recommended" if first else ""]))


def _cut(text: str, wide: int) -> str:
    """Cut a text in the middle: the ends of paths tell most."""
    left = (wide - 3) // 2
    return text if len(text) <= wide else f"{text[:left]}...{text[left + 3 - wide :]}"


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except OSError:
        return 80
