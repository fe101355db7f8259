"""Runs each episode in a process of its own, for agents that keep state in modules."""

from __future__ import annotations

import asyncio
import functools
import inspect
import multiprocessing
import multiprocessing.forkserver
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

import art

from art_adapt.forked_from import TOLD
from art_adapt.project_copy import Copy
from art_adapt.recording import RecordingError
from art_adapt.recording.state import expect_one_rollout, say_once
from art_adapt.rehearsed import noted_episode
from art_adapt.training import preloaded, project_copies
from art_adapt.training.threads import in_thread, lend_main_thread
from art_adapt.training.time_limits import OutOfTime

S = TypeVar("S")
R = TypeVar("R")
AsyncRollout = Callable[[Any, S], Awaitable[R]]
ATTEMPTS = 3  # of an episode, as record() makes
STARTING = 60.0  # seconds that a process may take to import ART and the agent
ELSEWHERE = (
    "the run's working folder {here} is not in {project}: files that the agent opens by a "
    "relative path are shared by all episodes. Start the run in that folder."
)
NOT_FORKED = (
    "episodes cannot be forked from a process that has imported {what}: {problem}. Each "
    "episode's process imports {what} anew."
)


class CannotFork(Exception):
    """The episode was not run: the process that it was forked from has a problem."""


class CannotImport(CannotFork):
    """That process cannot import the agent; nor can what is forked before the import."""


def isolated(
    at_once: int, timeout: float | None = None, copy_of: Path | None = None
) -> Callable[[AsyncRollout[S, R]], AsyncRollout[S, R]]:
    """Decorate a train module's ``rollout`` so that a fresh process runs each episode.

    ART and the agent are imported once, by a process that does nothing else; those of
    the episodes are forked from it, so that each finds the modules as they were after
    their import. Where modules start threads or open files, that process imports ART alone
    and each episode's imports the agent; on other systems than Linux each imports both.
    A trajectory's ``duration`` is that of its process. ``rollout`` must be a function at
    the top of its module, its scenario and trajectory picklable.

    Args:
        at_once: how many processes run side by side.
        timeout: of an episode, in seconds. It ends by itself then; a process that does
            not let its episode end is killed, and the episode is lost.
        copy_of: a folder of which each episode gets a copy to work in, with the agent's
            modules and its data: what one writes there, no other sees, and your own files
            stay as they are. Each process imports the agent anew, from its copy.
            Environments, builds and files over 64 MB are shared.
    """
    slots = asyncio.Semaphore(at_once)
    limit = None if timeout is None else ATTEMPTS * timeout + STARTING

    def decorate(rollout: AsyncRollout[S, R]) -> AsyncRollout[S, R]:
        @functools.wraps(rollout)
        async def in_process(model: Any, scenario: S) -> R:
            work = (in_process, _address(model), scenario)
            async with slots:
                began = time.monotonic()
                if copy_of is None:
                    trajectory = await _forked_or_spawned(rollout, work, limit)
                else:
                    async with _copied(copy_of.resolve()) as copy:
                        trajectory = await _in_copy(copy, work, limit)
                trajectory.metrics["duration"] = time.monotonic() - began
                return trajectory  # type: ignore[no-any-return]

        return in_process

    return decorate


@asynccontextmanager
async def _copied(project: Path) -> AsyncIterator[Copy]:
    """Make a folder for an episode's copy, which the episode's process fills."""
    folder = tempfile.TemporaryDirectory(
        prefix="art-adapt-", ignore_cleanup_errors=True
    )
    try:
        # Beside "copy" are the temporary files of the episode.
        inside = Path(folder.name).resolve() / "copy"
        yield Copy(project, inside / (project.name or "project"))
    finally:
        await in_thread(folder.cleanup)


async def _in_copy(copy: Copy, work: tuple[Any, ...], limit: float | None) -> Any:
    """Run an episode in a process that imports the agent from its copy of the project."""
    if not Path.cwd().resolve().is_relative_to(copy.project):
        say_once(ELSEWHERE.format(here=Path.cwd(), project=copy.project))
    # The names in it are looked up once the copy's modules are imported.
    moved = (preloaded.started_as(), copy, pickle.dumps(work))
    return await _first_that_can([("ART alone", None)], _send_from_copy, moved, limit)


async def _forked_or_spawned(
    rollout: Any, work: tuple[Any, ...], limit: float | None
) -> Any:
    """Run an episode in a process that is forked from one with as much as it can hold."""
    forked_from = [("the agent", rollout.__module__), ("ART", None)]
    return await _first_that_can(forked_from, _send, work, limit)


async def _first_that_can(
    forked_from: Sequence[tuple[str, str | None]],
    target: Callable[..., None],
    work: tuple[Any, ...],
    limit: float | None,
) -> Any:
    """Run an episode in a fork of the first process that one can be forked from, or in a new one."""
    for what, module in forked_from:
        if sys.platform == "linux" and what not in _cannot_fork:
            try:
                context = _fork_server(what, module)
                return await _in_process(context, target, work, limit)
            except CannotFork as error:
                if _give_up(what):  # else the process was ended for another episode
                    say_once(NOT_FORKED.format(what=what, problem=error))
                    if isinstance(error, CannotImport):
                        _give_up("ART")
    spawning = multiprocessing.get_context("spawn")
    return await _in_process(spawning, target, work, limit)


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


# What a process has imported that no episode's can be forked from.
_cannot_fork: set[str] = set()
_imported = ""  # what the process that others are forked from was told to import
_starting = threading.Lock()


def _give_up(what: str) -> bool:
    """End the process that has imported ``what``; return False if another episode did."""
    with _starting:
        if what in _cannot_fork:
            return False
        _cannot_fork.add(what)
        _end_server()
        return True


def _end_server() -> None:
    """End the process that others are forked from, and wait until it is gone."""
    if (server := _server()) is not None:
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(server, signal.SIGKILL)
            os.waitid(os.P_PID, server, os.WEXITED | os.WNOWAIT)


def _fork_server(what: str, module: str | None) -> Any:
    """Return the context whose processes are forked from one that has imported ``what``.

    Raises:
        CannotFork: another episode has shown that none can be.
    """
    global _imported
    context = multiprocessing.get_context("forkserver")
    with _starting:
        if what in _cannot_fork:
            raise CannotFork
        if _imported not in ("", what):  # multiprocessing may have started it again
            _end_server()
        _imported = what
        context.set_forkserver_preload(["art_adapt.forked_from"])
        os.environ[TOLD] = preloaded.told(module, alone=what == "ART alone")
        try:
            multiprocessing.forkserver.ensure_running()  # if it is not yet
        finally:
            del os.environ[TOLD]
    return context


async def _in_process(
    context: Any,
    target: Callable[..., None],
    work: tuple[Any, ...],
    limit: float | None,
) -> Any:
    """Run an episode in a process, and kill it if it takes too long or is cancelled."""
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=target, args=(theirs, dict(os.environ), *work))
    over = threading.Event()

    def start() -> None:
        process.start()
        theirs.close()
        if over.is_set():
            process.kill()

    try:
        await (_forked(start) if _is_forking(context) else in_thread(start))
        result, error = await in_thread(lambda: _received(ours, limit))
    except EOFError:
        process.join()
        raise RuntimeError(
            f"the episode's process ended with exit code {process.exitcode}"
        ) from None
    finally:
        over.set()
        if process.pid is not None:
            if process.exitcode is None:  # else its number may be another's by now
                process.kill()  # what it still does is nobody's any more
            process.join()
    if error is not None:
        raise error
    return result


async def _forked(start: Callable[[], None]) -> None:
    """Start a process once the one that it is forked from has imported everything.

    Raises:
        CannotImport: that takes too long, or ends it. The import may wait for something that
            this process holds, as a lock, and a spawned one would find another way.
    """
    try:
        await asyncio.wait_for(in_thread(start), STARTING)
    except TimeoutError:
        raise CannotImport(
            f"importing them takes more than {STARTING:g} seconds"
        ) from None
    except (EOFError, ConnectionError):
        raise CannotImport("importing them ends that process") from None


def _is_forking(context: Any) -> bool:
    return bool(context.get_start_method() == "forkserver")


def _server() -> int | None:
    """Return the process that others are forked from, which no public name tells."""
    return getattr(multiprocessing.forkserver._forkserver, "_forkserver_pid", None)


def _received(connection: Connection, limit: float | None) -> Any:
    """Wait for what an episode sends; a killed process ends the waiting, too."""
    with connection:
        if not connection.poll(limit):
            raise OutOfTime(f"its process took longer than {limit:g} seconds")
        return connection.recv()


def _send(
    connection: Connection,
    environment: dict[str, str],
    decorated: Any,
    model: Any,
    scenario: Any,
) -> None:
    """Run an episode in this process, and send what it gives or raises."""
    if _begin(connection, environment):
        _run(connection, decorated, model, scenario)


def _send_from_copy(
    connection: Connection,
    environment: dict[str, str],
    started_as: dict[str, Any],
    copy: Copy,
    work: bytes,
) -> None:
    """Run an episode in this process, with the agent of a copy of the project."""
    if not _begin(connection, environment):
        return
    try:
        project_copies.filled(copy)
        project_copies.work_in(copy, started_as)
        decorated, model, scenario = pickle.loads(work)
    except (Exception, SystemExit) as error:
        connection.send(_sendable((None, error)))
        return
    _run(connection, decorated, model, scenario)


def _begin(connection: Connection, environment: dict[str, str]) -> bool:
    """Make this process one of an episode; False, and said, if it cannot be one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C lets a step be finished
    os.environ.clear()  # as it was when the one that this is forked from was started
    os.environ.update(environment)
    if preloaded.problem:
        connection.send((None, CannotFork(preloaded.problem)))
        return False
    preloaded.start_anew()
    expect_one_rollout()
    return True


def _run(connection: Connection, decorated: Any, model: Any, scenario: Any) -> None:
    preloaded.build_types()

    def run() -> None:
        asyncio.new_event_loop().run_until_complete(
            _sent(connection, decorated, model, scenario)
        )

    module = sys.modules.get(decorated.__module__)
    episode = getattr(module, "episode", None)
    if episode is None or inspect.iscoroutinefunction(episode):
        run()
    else:
        lend_main_thread(run)


async def _sent(
    connection: Connection, decorated: Any, model: Any, scenario: Any
) -> None:
    outcome: tuple[Any, BaseException | None]
    try:
        with noted_episode():
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
    if error is not None:
        return None, error if _can_be_sent(error) else RuntimeError(repr(error))
    # The rest of it is ART's own, and large.
    for name in ("final_answer", "returned"):
        if not _can_be_sent(value := getattr(trajectory, name)):
            setattr(trajectory, name, str(value))
    return trajectory, None


def _can_be_sent(value: Any) -> bool:
    try:
        pickle.loads(pickle.dumps(value))
    except Exception:
        return False
    return True
