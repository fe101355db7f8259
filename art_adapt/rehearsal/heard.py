"""Answer in the form in which a model answered in runs that were watched.

A form that only the agent's code knows, no prompt describes: what a model said there shows it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from art_adapt.conversation_signs import text_of
from art_adapt.seen.notes import Request, Run

Json = dict[str, Any]

ALIKE = 40  # characters that two prompts made of one template begin with, at least


@dataclass(frozen=True)
class Heard:
    """What models said in runs that was JSON, each with the text that its conversation began with.

    ``others`` are the beginnings of conversations in which one said anything else.
    """

    replies: tuple[tuple[str, Any], ...] = ()
    others: frozenset[str] = frozenset()

    @staticmethod
    def of(runs: Sequence[Run]) -> Heard:
        replies: list[tuple[str, Any]] = []
        others = set()
        for run in runs:
            tried: dict[str, Any] = {}  # replies that were read, by their texts
            for request in run.requests:
                said = text_of(request.message).strip()
                if request.called or not said or not request.messages:
                    continue
                began, value = text_of(request.messages[0]), _read(said)
                if not isinstance(value, dict):
                    others.add(began)
                    continue
                before = tried.get(_said_before(request))
                if before is not None and before.keys() == value.keys():
                    replies.remove((began, before))  # the agent asked for it again
                tried[said] = value
                replies.append((began, value))
        return Heard(tuple(replies), frozenset(others))

    def answer(
        self, request: Json, random: Random, words: Callable[[], str]
    ) -> str | None:
        """Return an answer like those to such a request; None where they were not all JSON."""
        began = text_of(next(iter(request.get("messages") or ()), {}))
        said = [value for text, value in self.replies if _is_alike(text, began)]
        if not said or any(_is_alike(text, began) for text in self.others):
            return None
        one = random.choice(said)
        same = [each for each in said if each.keys() == one.keys()]
        return json.dumps(_mixed(same, random, words))


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


def _mixed(values: Sequence[Any], random: Random, words: Callable[[], str]) -> Any:
    """Make a value of those that several have; a text of more than one word is made up."""
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
    return words() if isinstance(one, str) and " " in one.strip() else one
