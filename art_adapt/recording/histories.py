"""The conversations of a rollout, and where each request goes on."""

from __future__ import annotations

import itertools
import json
import types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from art_adapt.recording.exactness import RENDERED_ANEW, extras_of
from art_adapt.recording.messages import essence, message_of, plain
from art_adapt.recording.state import say_once


@dataclass
class Request:
    """A request, and the place that its completion belongs to.

    ``history`` holds the first ``start`` messages already; ``new`` are copies of the
    rest.
    """

    number: int
    messages: list[Any]
    tools: Any
    history: History | None
    start: int
    new: list[Any]
    asking: str = ""
    choices: int = 1  # that were asked for
    as_functions: bool = False
    recorded: bool = False

    def sent(self) -> list[Any]:
        """Return all messages as they were when the request was made."""
        return [*(self.history.sent[: self.start] if self.history else []), *self.new]

    def key(self) -> str:
        """Return a key that is equal for the same request made again."""
        return json.dumps([self.sent(), self.tools], default=str)


class History:
    """A conversation as ART trains from it, and as the agent last sent it.

    ``items`` is ART's list of messages and choices, ``sent`` the agent's messages.
    """

    def __init__(self, items: list[Any], tools: Any, name: str | None = None) -> None:
        self.items = items
        self.tools = tools
        self.name = name or ""  # the function that asked first
        # What the engine saw and said so far, or the end of it; unknown where a rollout
        # goes on with a trajectory whose prompts were not kept.
        last = extras_of(items[-1]) if items and not isinstance(items[-1], dict) else {}
        known = last.get("prompt_token_ids") and last.get("token_ids")
        self.prompt: list[int] = last["prompt_token_ids"] if known else []
        self.said: list[int] = last["token_ids"] if known else []
        self.length = len(self.prompt) + len(self.said)
        self._resumes = bool(items) and not known
        self._gathered = 0  # as long as ``sent`` was when it was last copied as a whole
        self.sent = [
            item if isinstance(item, dict) else message_of(item) for item in items
        ]

    def __len__(self) -> int:
        return len(self.sent)

    def is_continued_by(self, messages: list[Any], tools: Any) -> bool:
        if not 0 < len(self.sent) <= len(messages) or self.tools != tools:
            return False
        end = len(self.sent)
        if self.sent != messages[:end]:  # as a whole first: that is one loop in C
            changed = []
            for at, (ours, theirs) in enumerate(zip(self.sent, messages, strict=False)):
                if ours != theirs:
                    if essence(ours) != essence(theirs):
                        return False
                    changed.append(at)
            for at in changed:  # the agent's own spelling compares at once next time
                self.sent[at] = plain(messages[at])
        if end > self._gathered * 1.25:
            # What is copied turn by turn lies all over the heap, and takes several
            # times as long to compare as what was copied in one go.
            self.sent = [plain(message) for message in messages[:end]]
            self._gathered = end
        return True

    def extend(self, messages: list[Any], choice: Any, *, keep_prompt: bool) -> None:
        """Add a completion and the new messages of its request.

        A completion brings the ids of its whole prompt. Kept as they come, those of a
        conversation of a thousand turns fill gigabytes: a prompt that continues the one
        before shares its integers, and is dropped where ART does not read it. Then only
        a prompt that does not continue is marked (``for_training`` looks for the mark);
        the last thousand tokens are enough to tell.
        """
        extra = choice.model_extra
        prompt, said = extra.get("prompt_token_ids"), extra.get("token_ids")
        if prompt and said:
            end = self.length - len(self.said)
            goes_on = (
                prompt[end : self.length] == self.said
                and prompt[end - len(self.prompt) : end] == self.prompt
            )
            if not goes_on:
                say_once(RENDERED_ANEW)
            if self._resumes or not goes_on:
                extra["rendered_anew"] = True
            elif keep_prompt:
                prompt = [*self.prompt, *self.said, *prompt[self.length :]]
                extra["prompt_token_ids"] = prompt
            self._resumes = False
            self.length = len(prompt) + len(said)
            self.prompt = prompt if keep_prompt else prompt[-1000:]
            self.said = said
        if not keep_prompt:
            extra.pop("prompt_token_ids", None)
        self.items += [*messages, choice]
        self.sent += [*messages, message_of(choice)]


def new_history(trajectory: Any, tools: Any, items: Sequence[Any] = ()) -> Any:
    """Make a further history of the class that the trajectory's field names.

    art 0.5.18 calls it History, 0.5.23 LegacyHistory. Trajectories that are not ART's
    get a plain object.
    """
    field = getattr(type(trajectory), "model_fields", {}).get("additional_histories")
    make = (
        field.annotation.__args__[0].model_construct if field else types.SimpleNamespace
    )
    return make(messages_and_choices=list(items), tools=tools)


def recorded_histories(trajectory: Any) -> list[History]:
    """Read a trajectory's histories, so that a second rollout can continue them."""
    found = [trajectory, *trajectory.additional_histories]
    names = str(trajectory.metadata.get("histories", "")).split(", ")
    return [
        History(history.messages_and_choices, history.tools, name)
        for history, name in itertools.zip_longest(found, names[: len(found)])
        if history.messages_and_choices
    ]
