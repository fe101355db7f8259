"""Answer in the form in which a model answered in runs that were watched.

A form that only the agent's code knows, no prompt describes: what a model said there shows it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any

from art_adapt.conversation_signs import text_of
from art_adapt.secret_texts import HIDDEN
from art_adapt.seen.notes import Request, Run

Json = dict[str, Any]

OFTEN = 0.75  # of the answers to a request of which one answer is known
ALIKE = 40  # characters that two prompts made of one template begin with, at least
CLOSE = 0.6  # of the lines that a request has in common with the closest one


@dataclass(frozen=True)
class Said:
    """What a model said: JSON that was read, or another text.

    ``began`` is the text that its conversation began with, ``asked`` the lines of all of it.
    """

    began: str
    asked: frozenset[str]
    said: Any


@dataclass(frozen=True)
class Heard:
    """What models said in runs."""

    every: tuple[Said, ...] = ()

    @staticmethod
    def of(runs: Sequence[Run]) -> Heard:
        every: list[Said] = []
        for run in runs:
            tried: dict[str, Said] = {}  # replies that were read, by their texts
            for request in run.requests:
                said = text_of(request.message).strip()
                if request.called or not (said and request.messages) or HIDDEN in said:
                    continue
                # The Responses API has the system prompt beside the conversation.
                prompt = request.body.get("instructions")
                messages = [
                    *([{"content": prompt}] if prompt else ()),
                    *request.messages,
                ]
                began, lines, value = (
                    text_of(messages[0]),
                    _lines(messages),
                    _read(said),
                )
                if not isinstance(value, dict):
                    every.append(Said(began, lines, said))
                    continue
                before = tried.get(_said_before(request))
                if before is not None and before.said.keys() == value.keys():
                    with suppress(ValueError):  # the agent asked for it again
                        every.remove(before)
                tried[said] = Said(began, lines, value)
                every.append(tried[said])
        return Heard(tuple(every))

    def answer(
        self, request: Json, random: Random, words: Callable[[], str]
    ) -> tuple[str | None, bool]:
        """Return an answer like those to such a request; None for one that may be any text.

        Also whether it is another text than models said, although what they said is known: a
        single one would make all episodes alike.
        """
        messages = request.get("messages") or [{}]
        began = text_of(messages[0])
        alike = [each for each in self.every if each.began == began] or [
            each for each in self.every if _is_alike(each.began, began)
        ]
        answers = [each.said for each in _of_one_form(alike, _lines(messages))]
        if not answers:
            return None, False
        said = [each for each in answers if isinstance(each, dict)]
        texts = [each for each in answers if isinstance(each, str)]
        one = random.choice(answers)
        if isinstance(one, str):
            if said or len(set(texts)) > 1 or random.random() < OFTEN:
                return one, False
            return None, True
        same = [each for each in said if _form(each) == _form(one)]
        changes = len(same) == same.count(one) and random.random() > OFTEN
        made = _mixed(same, random, words if changes else None)
        return json.dumps(made), made not in same and changes


def _lines(messages: Sequence[Json]) -> frozenset[str]:
    return frozenset(line for each in messages for line in text_of(each).splitlines())


def _of_one_form(alike: Sequence[Said], asked: frozenset[str]) -> Sequence[Said]:
    """Return what was said to the requests of one template, where JSON of several forms was said.

    Those have most of their lines in common, beside the lines that all have: the roles of a
    debate have one system prompt.
    """
    forms = {_form(each.said) for each in alike if isinstance(each.said, dict)}
    if len(forms) < 2:
        return alike
    telling = asked - frozenset.intersection(*(each.asked for each in alike))
    shared = [len(each.asked & telling) for each in alike]
    pairs = zip(alike, shared, strict=True)
    return [each for each, count in pairs if count >= CLOSE * max(shared)]


def _form(value: Any) -> Any:
    """Return the keys of JSON, with the kinds of what they hold."""
    if isinstance(value, dict):
        return frozenset((key, _form(each)) for key, each in value.items())
    return type(value).__name__


NOTHING = Heard()


def _is_alike(text: str, began: str) -> bool:
    """True if two conversations begin alike: with one prompt, or with one template."""
    return text == began or (
        len(text) >= ALIKE <= len(began) and text[:ALIKE] == began[:ALIKE]
    )


def _said_before(request: Request) -> str:
    """Return what the model said last in the conversation of a request."""
    said = [text_of(m) for m in request.messages if m.get("role") == "assistant"]
    return said[-1].strip() if said else ""


def _read(text: str) -> Any:
    """Return the JSON that a text is, or has between fences; None for anything else."""
    inner = text.removeprefix("```json").removeprefix("```").removesuffix("```")
    try:
        return json.loads(inner)
    except ValueError:
        return None


def _mixed(
    values: Sequence[Any], random: Random, words: Callable[[], str] | None
) -> Any:
    """Make a value of those that several have; with ``words``, texts of several are made up."""
    one = random.choice(values)
    if isinstance(one, dict):
        return {
            key: _mixed(
                [v[key] for v in values if isinstance(v, dict) and key in v],
                random,
                words,
            )
            for key in one
        }
    if isinstance(one, list):
        every = [each for v in values if isinstance(v, list) for each in v]
        return [_mixed(every, random, words) for _ in one]
    is_long = isinstance(one, str) and " " in one.strip()
    return words() if is_long and words is not None else one
