"""Say which message differs where a turn opens a history of its own."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any

from art_adapt.recording.messages import essence
from art_adapt.rehearsal.protocol import History, Item, Trajectory
from art_adapt.rehearsal.seen import identity
from art_adapt.secret_texts import without_secrets
from art_adapt.words import INSTRUCT

Json = dict[str, Any]

EXCERPT = 40  # characters of a message's text

CALLS = "sends the model's tool calls back in a message each"
BESIDE = "leaves out the text beside the model's tool calls"
SPELLED = "sends the model's replies back in another form than the model wrote them, such as JSON with other spaces"
REPLY = "changes the model's replies before it sends them back"
OWN = "changes messages that it has already sent"
DROPS = "leaves out the system message that it has sent before"
FORGETS = "leaves the model's own replies out of its messages"


@dataclass(frozen=True)
class Reopened:
    """A history that goes on from an earlier one, and the first message that differs.

    ``now`` is None where the later history ends there. ``forgets``: all was sent again, and more,
    but for what the model said.
    """

    was: Item
    now: Item | None
    forgets: bool = False

    @property
    def cause(self) -> str:
        """Return what the agent does, as a predicate."""
        if self.was.choice is None:
            roles = [each.message.get("role") for each in (self.was, self.now) if each]
            drops = roles[0] in INSTRUCT and roles[-1] not in INSTRUCT
            return DROPS if drops else OWN
        if self.forgets:
            return FORGETS
        if self.now is None or self.now.message.get("role") != "assistant":
            return OWN  # a reply is missing: messages were cut
        was, now = self.was.message, self.now.message
        called, calls = (
            len(was.get("tool_calls") or ()),
            len(now.get("tool_calls") or ()),
        )
        if 0 < calls < called:
            return CALLS
        if called and was.get("content") and not now.get("content"):
            return BESIDE
        texts = _text(was), _text(now)
        if texts[0] != texts[1] and _plain(texts[0]) == _plain(texts[1]):
            return SPELLED
        return REPLY

    @property
    def instance(self) -> str:
        """Return what stood there, and what stands there in the later request."""
        now = "missing" if self.now is None else _excerpt(self.now.message)
        return f"{_excerpt(self.was.message)}, later {now}"


def reopened(episode: Trajectory) -> list[Reopened]:
    """Return the histories that go on from an earlier one with a changed message.

    A history that goes on from all messages with other tools is not among them.
    """
    found = []
    for at, history in enumerate(episode.histories[1:], 1):
        earlier = episode.histories[:at]
        alike = [_alike(each.items, history.items) for each in earlier]
        same = max(alike)
        nearest = earlier[alike.index(same)].items
        if same == len(nearest):
            continue
        rest = history.items[same : same + 1]
        forgets = _forgets(nearest[same], history.items[same:])
        if forgets or any(_goes_on(each, history) for each in earlier):
            found.append(Reopened(nearest[same], rest[0] if rest else None, forgets))
    return found


def _forgets(reply: Item, rest: Sequence[Item]) -> bool:
    """True if more was said by others where the model's reply stood, and no reply at all is left."""
    sent = [item for item in rest if item.choice is None]
    roles = {item.message.get("role") for item in sent}
    return reply.choice is not None and bool(sent) and "assistant" not in roles


def _goes_on(earlier: History, later: History) -> bool:
    """True if a reply of the model stands in a later history: as it was, or in its place.

    A step that is only told what an earlier one said begins anew: it has no other message of it.
    """
    said = {identity(item.message) for item in earlier.choices}
    asked = {
        identity(item.message)
        for item in earlier.items
        if item.choice is None and item.message.get("role") not in INSTRUCT
    }
    is_told = any(identity(item.message) in asked for item in later.items)
    answers = [
        (at, item)
        for at, item in enumerate(later.items)
        if item.choice is None and item.message.get("role") == "assistant"
    ]
    alike = _alike(earlier.items, later.items)
    return any(
        (identity(item.message) in said and (is_told or _stood_at(earlier, item, at)))
        or (at == alike < len(earlier.items) and earlier.items[at].choice is not None)
        for at, item in answers
    )


def _stood_at(earlier: History, item: Item, at: int) -> bool:
    """True if an earlier history has the same message in the same place."""
    there = earlier.items[at : at + 1]
    return any(identity(each.message) == identity(item.message) for each in there)


def _alike(earlier: Sequence[Item], later: Sequence[Item]) -> int:
    """Return how many messages two histories begin with in common, as the recorder compares."""
    pairs = zip(earlier, later, strict=False)
    same = (essence(was.message) == essence(now.message) for was, now in pairs)
    return sum(1 for _ in itertools.takewhile(bool, same))


def _text(message: Json) -> str:
    return str(message.get("content") or "")


def _plain(text: str) -> object:
    """Return what a text says as JSON; of any other text its words."""
    try:
        return json.loads(text)
    except ValueError:
        return text.split()


def _excerpt(message: Json) -> str:
    """Return what a message holds, in a few words."""
    role = message.get("role")
    calls = [call["function"]["name"] for call in message.get("tool_calls") or ()]
    text = shorten(without_secrets(_text(message)), EXCERPT, placeholder=" ...")
    parts = [repr(text)] * bool(text) + [f"calls of {', '.join(calls)}"] * bool(calls)
    return f"{role}: {' and '.join(parts) or 'no text'}"
