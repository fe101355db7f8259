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


def offer_to_watch(agent: Path, failed: Collection[Watch] = ()) -> Watch | None:
    """Ask whether the agent may be watched, where a command is known that runs it.

    ``failed``: what was tried and asked no model comes last. What failed with a scripted model
    fails with another one as well; without a key the scripted one may do.

    Raises:
        Refusal: whoever was asked has not answered.
    """
    known = commands_of(agent)
    if not known:
        return None
    folders = list(agent.absolute().parents)[:DEEPEST]
    has_key = bool(os.environ.get(DEFAULT_KEY)) or any(
        (each / ".env").exists() for each in folders
    )
    choices = [_choice(known[0], scripted=each) for each in (not has_key, has_key)]
    choices += [_choice(each, scripted=not has_key) for each in known[1:]]
    no = Choice("no", {}, "continue with what the code shows")

    def is_spent(choice: Choice) -> bool:
        return Watch(**choice.sets) in failed or (
            Watch(str(choice.sets["command"]), scripted=True) in failed
        )

    choices = sorted([*choices, no], key=lambda c: 1 if c is no else 2 * is_spent(c))
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
    # What is typed sets no model.
    return Watch(**{"scripted": not has_key, **answer.sets})


def _choice(command: str, *, scripted: bool) -> Choice:
    """Make the choice to run a command with the user's model, or with a scripted one."""
    sets = {"command": command, "scripted": scripted}
    if not scripted:
        return Choice(f"yes, with your model: {command}", sets)
    harmless = "no key is needed, and your files stay as they are"
    return Choice(f"yes, with a scripted model: {command}", sets, harmless)
