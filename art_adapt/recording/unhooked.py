"""Sees the requests that no hook makes: those of frameworks, and calls that were missed.

Every call of the SDK ends in its clients' ``request`` (openai 2 and 3, _base_client.py).
A rollout with ``every_client`` records what it sees there. Any other reports it: such a
call would go to production, and the episode lack one of its turns, in silence.
"""

from __future__ import annotations

import asyncio
import functools
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from art_adapt.calls import is_function
from art_adapt.recording.installed import is_installed
from art_adapt.recording.state import (
    current,
    is_judging,
    open_rollouts,
    say_once,
    stop,
)

Json = dict[str, Any]
RECORDED = ("/chat/completions", "/responses")
# How else a model can be asked for a turn: text completions, and runs of assistants.
ASKING = re.compile(r"/(chat/completions|responses|completions|threads/(.+/)?runs)")
# What a request's options may hold, besides where it goes and what it says.
OPTIONS = ("headers", "params", "extra_json", "timeout", "max_retries", "post_parser")
# What frameworks call an agent that they run, in their own functions.
AGENTS = ("agent", "self", "current_agent", "public_agent", "from_agent")
MISSED = (
    "without a hook: the model in training does not answer it, and does not learn it"
)
OURS = ("openai.", "art_adapt.")
JUDGES = "art.rewards."
LOST = (
    "{asked} outside its rollout while training: the thread or task that runs it has "
    "lost the context. Start it with carried(function) from art_recording, or adapt the "
    "agent again with --isolate process. If it is an auxiliary call (a judge), name "
    "its function or model in the train module's AUXILIARY."
)


@dataclass(frozen=True)
class Asked:
    """A request that no hook makes.

    Attributes:
        model: that is asked, by the name that the agent gives.
        path: of the request.
        functions: of the user's own code that wait for it, the nearest one first. A task
            that was started with the SDK's coroutine has none.
        agent: the name that a framework's agent has, which asks on behalf of the nearest
            one; "" if none is known.
        file, line: of the nearest one, else of the library that asks.
    """

    model: str
    path: str
    functions: tuple[str, ...]
    agent: str
    file: str
    line: int

    @property
    def function(self) -> str:
        return self.functions[0] if self.functions else ""

    @property
    def asking(self) -> str:
        """Return the name of the conversation: of its agent, or else of its function."""
        return self.agent or self.function

    def is_named(self, names: Iterable[str]) -> bool:
        """Tell whether its model or agent is named, or a function that waits for it.

        A class is named for all of its methods. ``summarize > complete`` names what
        ``complete`` asks while ``summarize`` waits for it.
        """
        # A script's "<module>" waits for all that it does: only as the nearest it counts.
        waiting = [self.function, *(f for f in self.functions if "<" not in f)]
        return any(
            name in (self.model, *waiting)
            or (name == self.agent and self.agent != "")
            or any(is_function(f, name) for f in waiting)
            or is_aside(waiting, name)
            for name in names
        )

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"

    @property
    def what(self) -> str:
        by = self.function or "a separate task"
        how = "" if self.path in RECORDED else f" at {self.path}"
        return f"{by} called {self.model}{how}"

    @property
    def remedy(self) -> str:
        """Say what to do about a request that was neither recorded nor expected."""
        own = (
            "adapt the agent again with this file named as well, or hook it: "
            "recorded(client.chat.completions.create)(...)"
        )
        named = self.function or self.model
        aside = f'name it in the train module: AUXILIARY = ("{named}",)'
        if self.file and "site-packages" not in PurePath(self.file).parts:
            # The function may have hooked calls as well: its line names this one alone.
            where = f"{os.path.relpath(self.file)}:{self.line}"
            aside = f"adapt the agent again with --auxiliary {where}"
        elif self.file:
            own = (
                "add every_client=True to training.record(...) in the train module, because a "
                "library asks here, through a client of its own"
            )
        return (
            f"if it is the agent's own turn, {own}. If it is an auxiliary call "
            f"(a summary, a judge), {aside}"
        )


@functools.cache
def watch_clients() -> None:
    """Override the SDK clients' ``request``, once, for as long as the process lives.

    Where no rollout is open, requests are made as they were.
    """
    from openai._base_client import AsyncAPIClient, SyncAPIClient

    sync: Any = SyncAPIClient.request
    asynchronous: Any = AsyncAPIClient.request

    @functools.wraps(sync)
    def request(self: Any, cast_to: Any, options: Any, **rest: Any) -> Any:
        if not open_rollouts or not (asked := _asked(self, options)):
            return sync(self, cast_to, options, **rest)
        if (recording := _recording(asked)) is None:
            return sync(self, cast_to, options, **rest)
        send = functools.partial(sync, self, cast_to, **rest)
        return recording.relay(self, send, cast_to, options, rest, asked.asking)

    @functools.wraps(asynchronous)
    async def request_async(self: Any, cast_to: Any, options: Any, **rest: Any) -> Any:
        if not open_rollouts or not (asked := _asked(self, options)):
            return await asynchronous(self, cast_to, options, **rest)
        if (recording := _recording(asked)) is None:
            return await asynchronous(self, cast_to, options, **rest)
        send = functools.partial(asynchronous, self, cast_to, **rest)
        return await recording.relay(self, send, cast_to, options, rest, asked.asking)

    patched: Any = SyncAPIClient
    patched.request = request
    patched = AsyncAPIClient
    patched.request = request_async


def _asked(client: Any, options: Any) -> Asked | None:
    """Return the request, if it asks a model for a turn and no hook makes it."""
    if getattr(client, "is_of_rollout", False) or options.method.lower() != "post":
        return None
    if not ASKING.fullmatch(options.url) or is_judging():
        return None
    if (waiting := _waiting()) is None:
        return None
    body = options.json_data if isinstance(options.json_data, dict) else {}
    return Asked(str(body.get("model")), options.url, *waiting)


def _recording(asked: Asked) -> Any:
    """Return the recorder that takes a request; None: it is made as it is.

    Raises:
        RecordingError: it should have a hook, and its rollout is strict.
    """
    recording = current()
    if recording is None:
        return _without_context(asked)
    if asked.is_named(recording.auxiliary):
        return None
    if recording.every_client and asked.path in RECORDED:
        return recording
    recording.missed(asked)
    return None


def _without_context(asked: Asked) -> None:
    """Report a request that may belong to any of the open rollouts, or to none."""
    still_open: list[Any] = list(open_rollouts.values())
    concerned = [each for each in still_open if each.every_client or each.strict]
    if not concerned or any(asked.is_named(each.auxiliary) for each in concerned):
        return
    if any(each.every_client and each.strict for each in concerned):
        raise stop(LOST.format(asked=asked))
    say_once(LOST.format(asked=asked))


def options_of(options: Any) -> Json:
    """Return a request's options as the SDK's ``post`` takes them."""
    import openai

    given = {name: getattr(options, name, None) for name in OPTIONS}
    absent = (openai.NotGiven, openai.Omit, type(None))
    return {k: v for k, v in given.items() if not isinstance(v, absent)}


def is_aside(waiting: Sequence[str], name: str) -> bool:
    """Tell whether ``outer > inner`` names a request for which functions wait, nearest first."""
    outer, arrow, inner = name.partition(" > ")
    return arrow != "" and any(
        is_function(asking, inner)
        and any(is_function(each, outer) for each in waiting[at + 1 :])
        for at, asking in enumerate(waiting)
    )


def waits_aside(names: Iterable[str]) -> bool:
    """Tell whether functions that wait here ask a side job through one that has a hook."""
    asides = [name for name in names if " > " in name]
    waiting = _waiting() if asides else None
    return waiting is not None and any(is_aside(waiting[0], each) for each in asides)


def waiting() -> tuple[str, ...]:
    """Return the functions of the user's own code that wait here, nearest first."""
    found = _waiting()
    return found[0] if found is not None else ()


def _waiting() -> tuple[tuple[str, ...], str, str, int] | None:
    """Return the functions of the user's own code that wait here, nearest first.

    None: it is one of ART's judges that waits, whoever has called it.

    With them come the framework's agent that asks for the nearest one, and the file and
    line of that, or of the library that asks.
    """
    functions: list[str] = []
    agent = ""
    own = library = None
    frame: Any = sys._getframe(2)
    # Above a task's own frames are those of whatever has started the loop.
    while frame is not None and frame.f_code is not asyncio.Handle._run.__code__:
        code = frame.f_code
        if not is_installed(code.co_filename):
            own = own or (code.co_filename, frame.f_lineno)
            functions.append(code.co_qualname.replace(".<locals>", ""))
        elif (module := frame.f_globals.get("__name__", "")).startswith(JUDGES):
            return None
        elif not module.startswith(OURS):
            library = library or (code.co_filename, frame.f_lineno)
            if own is None and not agent:
                agent = _agent_of(frame.f_locals)
        frame = frame.f_back
    return tuple(functions), agent, *(own or library or ("", 0))


def _agent_of(local: Mapping[str, Any]) -> str:
    """Return the name of the agent that a framework's function runs, as it calls it."""
    if isinstance(name := local.get("agent_name"), str):
        return name
    for variable in AGENTS:
        if "Agent" in type(value := local.get(variable)).__name__:
            for name in (getattr(value, "name", None), getattr(value, "role", None)):
                if isinstance(name, str) and name:
                    return name
    return ""
