"""Watch the recorders of episodes, in the rehearsal's process and in those that run one episode."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from art_adapt.rehearsal.observed import Observed, Watched, opening_of, rollouts_of
from art_adapt.rehearsal.protocol import Opened, Settings, from_json, to_json

# How a request says how long its reply may be: chat completions, litellm, Responses.
LENGTHS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


def episodes_folder(settings: Settings) -> Path:
    """Return the folder in which episodes of other processes are noted."""
    return Path(f"{settings.out}.episodes")


@contextmanager
def noted(settings_file: str) -> Iterator[None]:
    """Note the episode that this process runs in a file of its own, however it ends."""
    from art_adapt.training.terminal import hide_arguments

    settings = from_json(Settings, Path(settings_file).read_text(encoding="utf-8"))
    hide_arguments()  # this process was started with others
    seen = Observed()
    watch_recorders(seen)
    try:
        yield
    finally:
        folder = episodes_folder(settings)
        for rollout in rollouts_of(seen.rollouts):
            with suppress(OSError):  # a full disk: the episode itself counts
                folder.mkdir(exist_ok=True)
                file = folder / f"{time.time_ns()}-{os.getpid()}"
                file.write_text(to_json(rollout), encoding="utf-8")
                file.rename(file.with_suffix(".json"))  # whole for who reads it


def _names(model: Any) -> set[str]:
    """Return a model's name as it is sent: an Enum of texts is one of them."""
    return {str.__str__(model)} if isinstance(model, str) else set()


def watch_recorders(seen: Observed) -> None:
    """Keep the recorder of each rollout of this process: lost episodes are in no group."""
    from art_adapt import recording as installed
    from art_adapt.recording.callees.litellm import POLICY
    from art_adapt.recording.state import current
    from art_adapt.recording.unhooked import waiting

    recording: Any = installed
    recorder, mark = recording.Rollout, recording.final_answer
    opened, asked, closed = recorder.__init__, recorder.call, recorder.close
    prepared = recorder.prepare

    def of(recorder: Any) -> Watched:
        return next(
            each for each in reversed(seen.rollouts) if each.recorder is recorder
        )

    def open_(self: Any, *arguments: Any, **named: Any) -> None:
        opened(self, *arguments, **named)
        with suppress(RuntimeError):  # a rollout of code that has no loop
            seen.loop = asyncio.get_running_loop()
        watched = Watched(self, time.perf_counter(), is_repeat=seen.repeating)
        seen.rollouts.append(watched)

    def close(self: Any) -> None:
        closed(self)
        watched = of(self)
        watched.seconds = time.perf_counter() - watched.began

    def call(self: Any, create: Any, args: Any, kwargs: Any, asking: str) -> Any:
        watched = of(self)
        watched.asked_by.add(asking)
        watched.models |= _names(kwargs.get("model"))
        asked_for = [kwargs.get(name) for name in LENGTHS]
        watched.longest = max(
            watched.longest, *(n for n in asked_for if isinstance(n, int)), 0
        )
        if told := opening_of(kwargs):
            watched.opened.append(Opened(told, waiting()))
        return asked(self, create, args, kwargs, asking)

    def prepare(self: Any, path: str, body: Any, *others: Any, **named: Any) -> Any:
        if isinstance(body, dict) and body.get("model", POLICY) != POLICY:
            of(self).models |= _names(body["model"])
        return prepared(self, path, body, *others, **named)

    def marked(value: Any) -> Any:
        here = current()
        for each in seen.rollouts:
            each.is_marked |= each.recorder is here
        return mark(value)

    recorder.__init__, recorder.call, recorder.close = open_, call, close
    recorder.prepare, recording.final_answer = prepare, marked
