"""Records what any client of the openai SDK asks in a rollout, whoever has made it.

Where a framework makes its clients itself, nothing of the agent's own code can be hooked.
Every call of the SDK ends in its clients' ``request`` (openai 2 and 3, _base_client.py).
"""

from __future__ import annotations

import functools
import sys
from typing import Any

from art_adapt.recording.installed import is_installed
from art_adapt.recording.state import active

Json = dict[str, Any]
PATHS = ("/chat/completions", "/responses")
# What a request's options may hold, besides where it goes and what it says.
OPTIONS = ("headers", "params", "extra_json", "timeout", "max_retries", "post_parser")


@functools.cache
def watch_every_client() -> None:
    """Override the SDK clients' ``request``, once, for as long as the process lives.

    Outside a rollout with ``every_client``, requests are made as they were.
    """
    from openai._base_client import AsyncAPIClient, SyncAPIClient

    sync: Any = SyncAPIClient.request
    asynchronous: Any = AsyncAPIClient.request

    @functools.wraps(sync)
    def request(self: Any, cast_to: Any, options: Any, **rest: Any) -> Any:
        if (recording := _recording(self, options)) is None:
            return sync(self, cast_to, options, **rest)
        send = functools.partial(sync, self, cast_to, **rest)
        return recording.relay(self, send, cast_to, options, rest, asked_from())

    @functools.wraps(asynchronous)
    async def request_async(self: Any, cast_to: Any, options: Any, **rest: Any) -> Any:
        if (recording := _recording(self, options)) is None:
            return await asynchronous(self, cast_to, options, **rest)
        send = functools.partial(asynchronous, self, cast_to, **rest)
        return await recording.relay(self, send, cast_to, options, rest, asked_from())

    patched: Any = SyncAPIClient
    patched.request = request
    patched = AsyncAPIClient
    patched.request = request_async


def _recording(client: Any, options: Any) -> Any:
    """Return the recorder that a client's request concerns; None: it is sent as it is."""
    current = active.get()
    if current is None or not current.every_client:
        return None
    if getattr(client, "is_of_rollout", False) or options.url not in PATHS:
        return None
    asked = options.json_data if isinstance(options.json_data, dict) else {}
    return None if asked.get("model") in current.other_models else current


def options_of(options: Any) -> Json:
    """Return a request's options as the SDK's ``post`` takes them."""
    import openai

    given = {name: getattr(options, name, None) for name in OPTIONS}
    absent = (openai.NotGiven, openai.Omit, type(None))
    return {k: v for k, v in given.items() if not isinstance(v, absent)}


def asked_from() -> str:
    """Return the nearest function of the user's own code that waits for this request."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not is_installed(code.co_filename):
            return str(code.co_qualname)
        frame = frame.f_back
    return ""
