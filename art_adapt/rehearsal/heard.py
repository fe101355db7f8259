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


@dataclass(frozen=True)
class Heard:
    """What models said in runs, each with the text that its conversation began with.

    ``replies`` are those that were JSON, and ``texts`` all others.
    """

    replies: tuple[tuple[str, Any], ...] = ()
    texts: tuple[tuple[str, str], ...] = ()

    @staticmethod
    def of(runs: Sequence[Run]) -> Heard:
        replies: list[tuple[str, Any]] = []
        texts: list[tuple[str, str]] = []
        for run in runs:
            tried: dict[str, Any] = {}  # replies that were read, by their texts
            for request in run.requests:
                said = text_of(request.message).strip()
                if request.called or not (said and request.messages) or HIDDEN in said:
                    continue
                began, value = text_of(request.messages[0]), _read(said)
                if not isinstance(value, dict):
                    texts.append((began, said))
                    continue
                before = tried.get(_said_before(request))
                if before is not None and before.keys() == value.keys():
                    with suppress(ValueError):  # the agent asked for it again
                        replies.remove((began, before))
                tried[said] = value
                replies.append((began, value))
        return Heard(tuple(replies), tuple(texts))

    def answer(
        self, request: Json, random: Random, words: Callable[[], str]
    ) -> tuple[str | None, bool]:
        """Return an answer like those to such a request; None for one that may be any text.

        Also whether it is another text than models said, although what they said is known: a
        single one would make all episodes alike.
        """
        began = text_of(next(iter(request.get("messages") or ()), {}))
        said = [value for text, value in self.replies if _is_alike(text, began)]
        texts = [text for first, text in self.texts if _is_alike(first, began)]
        if not (said or texts):
            return None, False
        one = random.choice([*said, *texts])
        if isinstance(one, str):
            if said or len(set(texts)) > 1 or random.random() < OFTEN:
                return one, False
            return None, True
        same = [each for each in said if each.keys() == one.keys()]
        changes = len(same) == same.count(one) and random.random() > OFTEN
        made = _mixed(same, random, words if changes else None)
        return json.dumps(made), made not in same and changes


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
