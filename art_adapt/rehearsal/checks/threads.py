"""Check that what an episode uses works outside the main thread, where training runs it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from art_adapt.rehearsal.parts import EPISODE
from art_adapt.rehearsal.seen import Finding, Seen

# What the standard library says, and how to avoid it. An agent that gives such an error to
# its model as a tool's result does not fail: it trains a model whose tools never work.
BOUND = {
    "SQLite objects created in a thread can only be used in that same thread": "connect "
    "in the function that uses the database, or with "
    "sqlite3.connect(..., check_same_thread=False)",
    "There is no current event loop in thread": "call asyncio.run(...) instead of "
    "asyncio.get_event_loop(), or adapt again with --isolate process",
    "signal only works in main thread": "adapt the agent again with --isolate process: then each "
    "episode has the main thread of a process of its own",
}


def bound_to_main_thread(seen: Seen) -> Iterator[Finding]:
    """Report errors that tell the model that something works in the main thread only."""
    for error, fix in BOUND.items():
        told = sum(
            error in json.dumps(message.get("content"))
            for exchange in seen.policy
            for message in exchange.request.get("messages") or ()
            if message.get("role") in ("tool", "function", "user")
        )
        if told:
            yield seen.finding(
                "threads",
                f'the model got the error "{error}" instead of a result '
                f"({told} messages): each episode runs in a thread of its own",
                fix,
                seen.agent.answers_tools,  # the agent is to be changed
                EPISODE,
            )
