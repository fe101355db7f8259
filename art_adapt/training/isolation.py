"""Runs each episode in a process of its own, for agents that keep state in modules."""

from __future__ import annotations

import asyncio
import functools
import multiprocessing
import pickle
import signal
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar

import art

from art_adapt.recording import RecordingError
from art_adapt.recording.state import expect_one_rollout
from art_adapt.training.threads import in_thread
from art_adapt.training.time_limits import OutOfTime

S = TypeVar("S")
R = TypeVar("R")
AsyncRollout = Callable[[Any, S], Awaitable[R]]
ATTEMPTS = 3  # of an episode, as record() makes
STARTING = 60.0  # seconds that a process may take to import ART and the agent


def isolated(
    at_once: int, timeout: float | None = None
) -> Callable[[AsyncRollout[S, R]], AsyncRollout[S, R]]:
    """Decorate a train module's ``rollout`` so that a fresh process runs each episode.

    Each process imports ART and the agent anew, which takes seconds. ``rollout`` must
    be a function at the top of its module, its scenario and trajectory picklable.

    Args:
        at_once: how many processes run side by side.
        timeout: of an episode, in seconds. It ends by itself then; a process that does
            not let its episode end is killed, and the episode is lost.
    """
    slots = asyncio.Semaphore(at_once)
    limit = None if timeout is None else ATTEMPTS * timeout + STARTING

    def decorate(rollout: AsyncRollout[S, R]) -> AsyncRollout[S, R]:
        @functools.wraps(rollout)
        async def in_process(model: Any, scenario: S) -> R:
            work = (in_process, _address(model), scenario)
            async with slots:
                return await _in_process(work, limit)  # type: ignore[no-any-return]

        return in_process

    return decorate


def _address(model: Any) -> Any:
    """Return a model that is no more than the address of ``model``."""
    if model.trainable and model.inference_base_url is None:
        raise RecordingError(f"{model.name} is registered with no backend")
    return art.Model(
        name=model.name,
        project=model.project,
        inference_base_url=model.inference_base_url,
        inference_api_key=model.inference_api_key,
        inference_model_name=model.get_inference_name(),
    )


async def _in_process(work: tuple[Any, Any, Any], limit: float | None) -> Any:
    """Run an episode in a process, and kill it if it takes too long or is cancelled."""
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe(duplex=False)
    process = spawn.Process(target=_send, args=(theirs, *work))
    process.start()
    theirs.close()
    try:
        result, error = await in_thread(functools.partial(_received, ours, limit))
    except EOFError:
        process.join()
        raise RuntimeError(
            f"the episode's process ended with exit code {process.exitcode}"
        ) from None
    finally:
        process.kill()  # what it still does is nobody's any more
        process.join()
    if error is not None:
        raise error
    return result


def _received(connection: Connection, limit: float | None) -> Any:
    """Wait for what an episode sends; a killed process ends the waiting, too."""
    with connection:
        if not connection.poll(limit):
            raise OutOfTime(f"its process took longer than {limit:g} seconds")
        return connection.recv()


def _send(connection: Connection, decorated: Any, model: Any, scenario: Any) -> None:
    """Run an episode in this process, and send what it gives or raises."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C lets a step be finished
    expect_one_rollout()
    asyncio.new_event_loop().run_until_complete(
        _sent(connection, decorated, model, scenario)
    )


async def _sent(
    connection: Connection, decorated: Any, model: Any, scenario: Any
) -> None:
    outcome: tuple[Any, BaseException | None]
    try:
        outcome = await decorated.__wrapped__(model, scenario), None
    except (Exception, SystemExit) as error:
        outcome = None, error
    connection.send(_sendable(outcome))
    connection.close()


def _sendable(
    outcome: tuple[Any, BaseException | None],
) -> tuple[Any, BaseException | None]:
    """Return what can be sent to another process: else it is sent as text."""
    trajectory, error = outcome
    if _can_be_sent(outcome):
        return outcome
    if error is not None:
        return None, RuntimeError(repr(error))
    trajectory.final_answer = str(trajectory.final_answer)
    return trajectory, None


def _can_be_sent(value: Any) -> bool:
    try:
        pickle.loads(pickle.dumps(value))
    except Exception:
        return False
    return True
