"""Offer to watch the agent run once, before anything else is asked."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from art_adapt.calls import DEFAULT_KEY
from art_adapt.errors import Refusal
from art_adapt.guide.commands import commands_of
from art_adapt.guide.prompts import Prompts
from art_adapt.guide.question import Choice, Question

DEEPEST = 4  # folders above an agent in which its keys may be
WHY = (
    "A run shows which function runs one episode, what it is given and how the agent is made, "
    "where reading the source can only infer it. Your agent and its tools really run. With a "
    "scripted model they work on a copy of the project's folder."
)


@dataclass(frozen=True)
class Watch:
    """A command line to watch; ``scripted``: a scripted model answers in the model's place."""

    command: str
    scripted: bool = False


def offer_to_watch(agent: Path, failed: Collection[str] = ()) -> Watch | None:
    """Ask whether the agent may be watched, where a command is known that runs it.

    ``failed``: commands that were tried and asked no model, which come last.

    Raises:
        Refusal: whoever was asked has not answered.
    """
    known = sorted(commands_of(agent), key=failed.__contains__)
    if not known:
        return None
    folders = list(agent.absolute().parents)[:DEEPEST]
    has_key = bool(os.environ.get(DEFAULT_KEY)) or any(
        (each / ".env").exists() for each in folders
    )
    answers = "no key is needed, and your files stay as they are"
    scripted = {"command": known[0], "scripted": True}
    choices = [
        Choice(f"yes, with your model: {known[0]}", {"command": known[0]}),
        Choice(f"yes, with a scripted model: {known[0]}", scripted, answers),
    ]
    choices = choices if has_key else choices[::-1]
    choices += [
        Choice(f"yes, with your model: {each}", {"command": each}) for each in known[1:]
    ]
    no = Choice("no", {}, "continue with what the code shows")
    choices = [no, *choices] if known[0] in failed else [*choices, no]
    question = Question(
        "Can you run the agent once while art-adapt watches?",
        tuple(choices),
        WHY,
        typed=("command",),
        example="the command, as you would type it; "
        + (
            "your model answers"
            if has_key
            else "a scripted model answers, without a key"
        ),
    )
    with Prompts() as prompts:
        try:
            answer = prompts.ask(question, can_go_back=False)
        except (KeyboardInterrupt, EOFError):
            raise Refusal("no answer was given, so nothing was written") from None
    if answer is None or not answer.sets:
        return None
    if answer.sets not in [each.sets for each in choices]:  # it is typed
        return Watch(answer.sets["command"], scripted=not has_key)
    return Watch(**answer.sets)
