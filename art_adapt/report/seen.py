"""Say what was seen of an agent in a run."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

from art_adapt.paths import at
from art_adapt.printable import printable
from art_adapt.seen.episodes import conversations_of
from art_adapt.seen.notes import Run
from art_adapt.survey.model import EntryPoint


def say_seen(runs: Sequence[Run]) -> None:
    """Print on standard error what the model was asked."""
    say = sys.stderr.write
    requests = [request for run in runs for request in run.requests]
    if not requests:
        say(
            "\nno request to a model was seen: does another Python run it, or another client?\n"
        )
        return
    conversations = sum(len(conversations_of(run.requests)) for run in runs)
    say(
        f"\nSeen: {_number(len(requests), 'request')} in {_number(conversations, 'conversation')}\n"
    )
    called = Counter(
        str((call.get("function") or {}).get("name"))
        for request in requests
        for call in request.message.get("tool_calls") or ()
    )
    if called:
        tools = ", ".join(f"{name} ({count})" for name, count in called.items())
        say(f"  tools    {printable(tools)}\n")


def say_episode(entry: EntryPoint) -> None:
    """Print on standard error which function runs an episode."""
    sys.stderr.write(f"  episode  {entry.called} ({at(entry.place)})\n")


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
