"""Looks in a run for what spoils it: tool calls that no parser read, thinking in answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import art

from art_adapt.conversation_signs import (
    REASONING_PARSER,
    TOOL_PARSER,
    replies_without_call,
    unread_call,
    unread_thinking,
)
from art_adapt.training.histories import choices_of, histories_of, messages_of


def refuse_unread_calls(groups: Sequence[art.TrajectoryGroup]) -> None:
    """Stop a run whose engine leaves most tool calls in the text.

    Raises:
        SystemExit: more than half of the completions that could call a tool hold a call as
            text. The agent takes these for answers, and would learn to give them.
    """
    offered, unread, markup = 0, 0, ""
    for history in _histories(groups):
        if history.tools:
            messages = messages_of(history)
            for choice in choices_of(history):
                offered += 1
                found = unread_call(choice.message.content, messages)
                unread += found is not None
                markup = found or markup
    if 2 * unread > offered:
        raise SystemExit(
            f"{unread} of {offered} completions contain a tool call as text, with {markup}: the engine's "
            "parser does not fit this model, so no tool runs. Name the right parser: "
            f"{TOOL_PARSER}."
        )


def odd(groups: Sequence[art.TrajectoryGroup]) -> Iterator[str]:
    """Say what else should not be in conversations, a line each."""
    histories = [(each, messages_of(each)) for each in _histories(groups)]
    thought = sum(
        unread_thinking(choice.message.content, messages) is not None
        for history, messages in histories
        for choice in choices_of(history)
    )
    if thought:
        yield (
            f"{thought} completions contain their thinking as text, which becomes part of the answer "
            f"and of later requests: set {REASONING_PARSER}."
        )
    alone = sum(bool(replies_without_call(messages)) for _, messages in histories)
    if alone:
        yield (
            f"{alone} of {len(histories)} histories contain a tool message without the call that it "
            "answers: keep both together when the agent shortens its messages."
        )


def _histories(groups: Sequence[art.TrajectoryGroup]) -> Iterator[Any]:
    for group in groups:
        for trajectory in group.trajectories:
            yield from histories_of(trajectory)
