"""Hooks that record an agent's model calls on an ART trajectory while it trains.

In production the hooks are the identity: ``recorded(create)`` calls ``create``,
``final_answer(x)`` is ``x``. Inside ``with rollout(trajectory, base_url=...,
api_key=..., model=...):`` each recorded call is sent to the model in training and lands
on the trajectory as ART trains from it: the messages that were sent, the tools, the
Choice.

Standard library only: ``openai`` is imported when a rollout makes its first call, ART
never. This file is a copy of ``art_adapt/recording.py``; write to it there,
``art-adapt`` replaces the copies.
"""

from __future__ import annotations

import asyncio
import contextvars
import copy
import functools
import inspect
import json
import math
import os
import sys
import threading
import types
import weakref
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar, overload

__all__ = [
    "RecordingError",
    "Rollout",
    "carried",
    "final_answer",
    "recorded",
    "reward",
    "rollout",
]

T = TypeVar("T")
T1 = TypeVar("T1")
T2 = TypeVar("T2")
F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")


class RecordingError(RuntimeError):
    """The recorder would have lost or falsified a completion, so it stopped instead."""


# ------------------------------------------------------------------- the active rollout

# Agents in two packages have a copy of this file each, and a file can be imported under
# two names. All copies must see the same rollout, so what they share lives in one
# module object that is not a file.
_shared = sys.modules.setdefault(
    "_art_recording_state", types.ModuleType("_art_recording_state")
)
_active: contextvars.ContextVar[Rollout | None] = _shared.__dict__.setdefault(
    "active", contextvars.ContextVar("art_rollout", default=None)
)
_open_rollouts: dict[int, Rollout] = _shared.__dict__.setdefault("open_rollouts", {})
_opening: threading.Lock = _shared.__dict__.setdefault("opening", threading.Lock())


# A process that an agent starts inherits the environment, but no rollout. Read once: it
# costs more than everything else that a hook does in production.
_TRAINING = "ART_RECORDING_PROCESS"
_PROCESS = str(os.getpid())
_OTHER_PROCESS = (
    "a recorded model call was made in another process than its rollout, where it "
    "cannot be recorded: use threads or tasks for what calls the model"
)


@contextmanager
def rollout(
    trajectory: Any, *, base_url: str, api_key: str, model: str
) -> Iterator[Rollout]:
    """Record every policy call made in this block on ``trajectory`` (an
    ``art.Trajectory``).

    ``base_url``, ``api_key`` and ``model`` name the model in training (ART:
    ``model.inference_base_url``, ``model.inference_api_key``,
    ``model.get_inference_name()``). Works around sync and async code; tasks started
    inside inherit it, threads do if their function is ``carried``.

    Raises ``RecordingError`` at its end if the recorder had to stop a call, even where
    the agent has swallowed the error: such an episode is not what the model would do.
    """
    opened = Rollout(trajectory, base_url=base_url, api_key=api_key, model=model)
    with _opening:
        _open_rollouts[id(opened)] = opened
        os.environ[_TRAINING] = str(os.getpid())
    token = _active.set(opened)
    try:
        yield opened
    finally:
        with _opening:
            _open_rollouts.pop(id(opened), None)
            if not _open_rollouts:
                os.environ.pop(_TRAINING, None)
        opened.close()
        with suppress(ValueError):  # a generator's block, closed from another context
            _active.reset(token)
    if opened.stopped is not None:
        raise opened.stopped


def _stop(message: str) -> RecordingError:
    """The error to raise, noted on the rollout that it concerns, or, where that cannot
    be told, on all: agents swallow errors.
    """
    error = RecordingError(message)
    active = _active.get()
    for concerned in [active] if active is not None else list(_open_rollouts.values()):
        concerned.stopped = concerned.stopped or error
    return error


# -------------------------------------------------------------------------------- hooks


def recorded(create: F) -> F:
    """Return ``create`` so that its calls are recorded in a rollout; outside one it is
    only called.

    While a rollout is open somewhere in this process, a call that has lost its context
    (a thread that was started without ``carried``) raises ``RecordingError``: it would
    otherwise go to the production model, unrecorded.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        active = _active.get()
        if active is not None:
            return active.call(create, args, kwargs)
        if os.environ.get(_TRAINING, _PROCESS) != _PROCESS:
            raise _stop(_OTHER_PROCESS)
        if _open_rollouts:
            raise _stop(
                "a recorded model call was made outside its rollout while training: "
                "the thread or executor that runs it has lost the context. "
                "Start it with carried(function) from art_recording."
            )
        return create(*args, **kwargs)

    async def call_async(*args: Any, **kwargs: Any) -> Any:
        return await call(*args, **kwargs)

    hooked = call_async if inspect.iscoroutinefunction(create) else call
    return functools.update_wrapper(hooked, create)  # type: ignore[return-value]


@overload
def final_answer(value: T, /) -> T: ...
@overload
def final_answer(value: T, second: T1, /) -> tuple[T, T1]: ...
@overload
def final_answer(value: T, second: T1, third: T2, /) -> tuple[T, T1, T2]: ...
@overload
def final_answer(
    value: Any, second: Any, third: Any, fourth: Any, /, *more: Any
) -> tuple[Any, ...]: ...
def final_answer(*values: Any) -> Any:
    """Return ``value`` (several values: their tuple) and, in a rollout, note it as the
    episode's answer.
    """
    value = values[0] if len(values) == 1 else values
    active = _active.get()
    if active is not None:
        active.set_final_answer(value)
    return value


def reward(value: T) -> T:
    """Return ``value`` and, in a rollout, set it as the trajectory's reward. The last
    one stands.
    """
    active = _active.get()
    if active is not None:
        active.set_reward(value)
    return value


def carried(function: Callable[P, T]) -> Callable[P, T]:
    """Return ``function`` so that a thread that runs it stays in this rollout; outside
    one, ``function`` itself.

    Executors and threads start with an empty context. A fresh copy of the context for
    every call lets ``executor.map`` run the same function in several threads at once.
    """
    if _active.get() is None:
        return function
    context = contextvars.copy_context()

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return context.copy().run(function, *args, **kwargs)

    return run


# ---------------------------------------------------------------------------- a rollout

# HTTP statuses below 500 that are never the policy's doing: keys, rights, a model that
# is not loaded, timeouts, conflicts, rate limits.
ENDPOINT_FAULTS = (401, 403, 404, 408, 409, 429)
_Scalar = str | int | float | bool | None


class Rollout:
    """One episode being recorded.

    ``calls``, ``failed_calls``: completions received, requests that raised.
    ``answered``, ``rewarded``: whether the agent handed in an answer, a reward.
    ``infrastructure_error``: the last connection, rate-limit or server error that no
    later call made good; such an episode says nothing about the policy.
    """

    def __init__(
        self, trajectory: Any, *, base_url: str, api_key: str, model: str
    ) -> None:
        self.trajectory = trajectory
        self.base_url = base_url
        self.api_key = api_key
        self.model = model
        self.answer: Any = None
        self.answered = False
        self.rewarded = False
        self.calls = 0
        self.failed_calls = 0
        self.tool_calls = 0
        self.truncated = False
        self.closed = False
        self.stopped: RecordingError | None = None
        self.process = os.getpid()
        self._lock = threading.RLock()
        self._clients: dict[Any, Any] = {}
        self._requests = 0
        self._unanswered: dict[str, tuple[int, BaseException]] = {}
        self._open_streams: list[_OpenStream] = []
        self._histories = _recorded_histories(trajectory)

    @property
    def infrastructure_error(self) -> BaseException | None:
        return next((error for _, error in reversed(self._unanswered.values())), None)

    def set_final_answer(self, value: Any) -> None:
        """Note the episode's answer, on the trajectory in a form that ART can write."""
        self._must_be_open()
        self.answer, self.answered = value, True
        fields = getattr(type(self.trajectory), "model_fields", {})
        field = fields.get("final_answer")
        if field is None:  # a plain art.Trajectory; its metadata takes scalars only
            self.trajectory.metadata["final_answer"] = _storable(value, _Scalar)
        else:
            # Past pydantic, which on art 0.5.23 refuses an answer of another type.
            stored = _storable(value, field.annotation)
            object.__setattr__(self.trajectory, "final_answer", stored)

    def set_reward(self, value: Any) -> None:
        """Set the trajectory's reward."""
        self._must_be_open()
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise _stop(
                f"reward({value!r}): a reward must be a finite number, "
                "or it poisons its group"
            )
        self.trajectory.reward = number
        self.rewarded = True

    def close(self) -> None:
        """End the rollout: streams that the agent left open are recorded as far as it
        read them.
        """
        with self._lock:
            for stream in list(self._open_streams):
                stream.finish()
            self.closed = True
            self._clients.clear()

    # -- sending

    def call(
        self, create: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Make the call that ``create`` stands for, on the model in training."""
        self._must_be_open()
        target = _call_target(create)
        if not target.is_async:
            return target.method_on(self._client(target, None))(*args, **kwargs)
        if target.method == "stream":  # a manager, which wants its client at once
            client = self._client(target, asyncio.get_running_loop())
            return target.method_on(client)(*args, **kwargs)
        return self._call_async(target, args, kwargs)

    async def _call_async(
        self, target: _CallTarget, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """The call, on a client of the loop that it is awaited in."""
        client = self._client(target, asyncio.get_running_loop())
        return await target.method_on(client)(*args, **kwargs)

    def _client(
        self, target: _CallTarget, loop: asyncio.AbstractEventLoop | None
    ) -> Any:
        """The client that talks to the model in training, with the timeouts and retries
        that the user's has.
        """
        key = (loop, str(target.options))
        with self._lock:
            if key not in self._clients:
                client = _connected_client(loop).copy(
                    base_url=self.base_url, api_key=self.api_key, **target.options
                )
                client.recording = self
                self._clients[key] = client
            return self._clients[key]

    def prepare(
        self, path: str, body: Any, options: Any
    ) -> tuple[dict[str, Any], dict[str, Any], _Request]:
        """Turn the request that the SDK is about to send into one for the model in
        training.

        The agent's own headers and query stay behind: they belong to the production
        endpoint and may hold its keys.
        """
        self._must_be_open()
        if path != "/chat/completions" or not isinstance(body, dict):
            raise _stop(
                f"the agent called {path}, which the recorder cannot send to the model "
                "in training: it takes chat completions only. If it is auxiliary, "
                "adapt the agent again with --auxiliary FUNCTION."
            )
        body = {**body, **(options.get("extra_json") or {})}
        body |= {"model": self.model, "logprobs": True, "return_token_ids": True}
        kept = {
            key: value
            for key, value in options.items()
            if key not in ("extra_json", "params", "headers")
        }
        kept["headers"] = _sdk_headers(options.get("headers"))
        with self._lock:
            request = self._place(
                list(body.get("messages") or []), _plain(_tools_of(body))
            )
        if parser := options.get("post_parser"):
            # parse() raises on text that does not fit: record before it can.
            kept["post_parser"] = functools.partial(
                self._record_and_parse, request, parser
            )
        return body, kept, request

    def _record_and_parse(
        self, request: _Request, parser: Callable[[Any], Any], completion: Any
    ) -> Any:
        if not request.recorded:
            self.record(request, completion.choices or [], _prompt_extras(completion))
        return parser(completion)

    def _must_be_open(self) -> None:
        if self.process != os.getpid():  # forked: this is a copy that nobody will read
            raise _stop(_OTHER_PROCESS)
        if self.closed:
            raise _stop(
                "a recorded model call was made after its rollout had ended, "
                "by a thread that outlived it"
            )

    # -- recording

    def _place(self, messages: list[Any], tools: Any) -> _Request:
        """Find the history that a request continues, and copy what is new in it before
        the agent can change it.
        """
        for stream in list(self._open_streams):
            if stream.is_continued_by(messages):
                stream.finish()
        continued = None
        for history in self._histories:
            if (
                continued is None or len(history) >= len(continued)
            ) and history.is_continued_by(messages, tools):
                continued = history
        start = len(continued) if continued is not None else 0
        new = [_plain(message) for message in messages[start:]]
        self._requests += 1
        return _Request(self._requests, messages, tools, continued, start, new)

    def record(
        self, request: _Request, choices: Sequence[Any], shared_extras: dict[str, Any]
    ) -> None:
        """Put the choices of one completion on the trajectory, each behind the messages
        that it answers.
        """
        with self._lock:
            self._must_be_open()
            self.calls += 1
            request.recorded = True
            if self._unanswered:
                failed_at, _ = self._unanswered.get(request.key(), (0, None))
                if request.number > failed_at:  # made after the failure, not beside it
                    self._unanswered.pop(request.key(), None)
            sent = request.sent()
            for choice in choices:
                cut = (choice.model_extra or {}).get("cut", False)
                self.tool_calls += len(choice.message.tool_calls or [])
                self.truncated |= choice.finish_reason == "length" and not cut
                history = request.history
                if history is None or len(history) != request.start:
                    # New, or another request went on from it first.
                    history = self._open_history(request.tools)
                    history.extend(sent, _choice_to_record(choice, shared_extras))
                else:
                    history.extend(
                        request.new, _choice_to_record(choice, shared_extras)
                    )
                # A further choice answers the same messages, not the first choice.
                request.history = None

    def _open_history(self, tools: Any) -> _History:
        trajectory = self.trajectory
        if not self._histories:
            # Assigned past pydantic: validation would reorder the tools' keys and drop
            # the ones it does not know.
            object.__setattr__(trajectory, "tools", tools)
            history = _History(trajectory.messages_and_choices, tools)
        else:
            further = _new_history(trajectory, tools)
            trajectory.additional_histories.append(further)
            history = _History(further.messages_and_choices, tools)
        self._histories.append(history)
        return history

    def failed(
        self, request: _Request, error: BaseException, *, streaming: bool = False
    ) -> None:
        """Note a request that raised. What only the endpoint can be to blame for counts
        against the infrastructure: connections, keys, a missing model, rate limits,
        server errors, and whatever breaks a stream.
        """
        import openai

        with self._lock:
            self.failed_calls += 1
            status = getattr(error, "status_code", None)
            if (
                isinstance(error, openai.APIConnectionError)
                or (status is None and streaming)
                or (status is not None and (status in ENDPOINT_FAULTS or status >= 500))
            ):
                self._unanswered[request.key()] = (self._requests, error)

    def received(self, request: _Request, answer: Any) -> Any:
        """Record what a request brought back, in whatever form the agent asked for it;
        returns it.
        """
        import openai

        if request.recorded:
            return answer
        if isinstance(answer, openai.Stream):
            answer._iterator = _OpenStream(self, request, answer).watch(
                answer._iterator
            )
        elif isinstance(answer, openai.AsyncStream):
            answer._iterator = _OpenStream(self, request, answer).watch_async(
                answer._iterator
            )
        elif hasattr(answer, "choices"):
            self.record(request, answer.choices or [], _prompt_extras(answer))
        elif hasattr(answer, "parse") and not inspect.iscoroutinefunction(answer.parse):
            # with_raw_response keeps what it has parsed: the agent's own parse() gets
            # the same object.
            self.received(request, answer.parse())
        else:
            raise _stop(
                f"a {type(answer).__name__} cannot be recorded: "
                "use create() or with_raw_response"
            )
        return answer


# -------------------------------------------------------------- the client of a rollout


@dataclass(frozen=True)
class _CallTarget:
    """The SDK method behind a callee: which resource it belongs to, and through which
    view it was reached.
    """

    resource_class: type
    view: str  # "", "with_raw_response" or "with_streaming_response"
    method: str
    is_async: bool
    options: dict[str, Any]

    def method_on(self, client: Any) -> Callable[..., Any]:
        resource = self.resource_class(client)
        method: Callable[..., Any] = getattr(
            getattr(resource, self.view) if self.view else resource, self.method
        )
        return method


def _call_target(create: Callable[..., Any]) -> _CallTarget:
    """Find the SDK resource behind ``create``, through the wrappers of the SDK and of
    tracers.
    """
    import openai
    from openai.resources.chat.completions import AsyncCompletions, Completions

    function: Any = create
    view = ""
    while function is not None:
        resource = getattr(function, "__self__", None)
        client = getattr(resource, "_client", None)
        if client is not None:
            if isinstance(client, openai.OpenAI | openai.AsyncOpenAI):
                options = {"timeout": client.timeout, "max_retries": client.max_retries}
                return _CallTarget(
                    type(resource),
                    view,
                    function.__name__,
                    isinstance(client, openai.AsyncOpenAI),
                    options,
                )
            # Groq, Together and other clients made in the image of openai's: the model
            # in training speaks OpenAI's API.
            if type(resource).__name__ in ("Completions", "AsyncCompletions"):
                is_async = type(resource).__name__ == "AsyncCompletions"
                return _CallTarget(
                    AsyncCompletions if is_async else Completions,
                    view,
                    function.__name__,
                    is_async,
                    {},
                )
        # functools.wraps keeps the names of the method; only the code object still
        # tells which view wrapped it.
        maker = getattr(getattr(function, "__code__", None), "co_qualname", "")
        if "to_raw_response_wrapper" in maker:
            view = "with_raw_response"
        elif "to_streamed_response_wrapper" in maker:
            view = "with_streaming_response"
        function = getattr(function, "__wrapped__", None)
    raise _stop(
        f"recorded({getattr(create, '__qualname__', create)!s}): not a method of an "
        "OpenAI client, so the call cannot be sent to the model in training. "
        "recorded() goes directly around client.chat.completions.create."
    )


_pools: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
_pools_lock = threading.Lock()


class _NoLoop:
    """Stands for synchronous code among the event loops."""


_no_loop = _NoLoop()


def _connected_client(loop: asyncio.AbstractEventLoop | None) -> Any:
    """The client whose connections all rollouts share: one for sync code, one for each
    event loop.
    """
    with _pools_lock:
        # A client refers to its loop, so that the weak keys alone would keep both.
        for ended in [
            loop for loop in _pools if loop is not _no_loop and loop.is_closed()
        ]:
            del _pools[ended]
        key = loop or _no_loop
        if key not in _pools:
            sync_class, async_class = _recording_clients()
            _pools[key] = (sync_class if loop is None else async_class)(
                base_url="http://unset", api_key="unset"
            )
        return _pools[key]


@functools.cache
def _recording_clients() -> tuple[type, type]:
    """OpenAI clients that record what goes through ``post``, the public method that
    every SDK call ends in.
    """
    import openai

    class RecordingOpenAI(openai.OpenAI):
        recording: Rollout

        @property
        def default_headers(self) -> dict[str, Any]:
            return _rollout_headers(super().default_headers, self.api_key)

        def post(
            self,
            path: str,
            *,
            cast_to: Any,
            body: Any = None,
            options: Any = None,
            **rest: Any,
        ) -> Any:
            body, options, request = self.recording.prepare(path, body, options or {})
            try:
                answer = super().post(
                    path, cast_to=cast_to, body=body, options=options, **rest
                )
            except Exception as error:
                self.recording.failed(request, error)
                raise
            return self.recording.received(request, answer)

    class RecordingAsyncOpenAI(openai.AsyncOpenAI):
        recording: Rollout

        @property
        def default_headers(self) -> dict[str, Any]:
            return _rollout_headers(super().default_headers, self.api_key)

        async def post(
            self,
            path: str,
            *,
            cast_to: Any,
            body: Any = None,
            options: Any = None,
            **rest: Any,
        ) -> Any:
            body, options, request = self.recording.prepare(path, body, options or {})
            try:
                answer = await super().post(
                    path, cast_to=cast_to, body=body, options=options, **rest
                )
            except Exception as error:
                self.recording.failed(request, error)
                raise
            return self.recording.received(request, answer)

    return RecordingOpenAI, RecordingAsyncOpenAI


def _rollout_headers(headers: Any, api_key: str) -> dict[str, Any]:
    """The SDK's own headers and the rollout's key: OPENAI_ORG_ID, OPENAI_CUSTOM_HEADERS
    and the like in the environment are meant for production.
    """
    own = {"accept", "content-type", "user-agent"}
    kept = {name: value for name, value in headers.items() if name.lower() in own}
    return {**_sdk_headers(headers), **kept, "Authorization": f"Bearer {api_key}"}


def _sdk_headers(headers: Any) -> dict[str, Any]:
    """Of a call's headers those that the SDK sets for itself (the raw-response views
    work through one).
    """
    return {
        name: value
        for name, value in (headers or {}).items()
        if name.lower().startswith("x-stainless-")
    }


# ------------------------------------------------------------------------------ streams


class _OpenStream:
    """A streamed completion: passes the chunks on and puts together the choices that
    the agent has seen.
    """

    def __init__(self, recording: Rollout, request: _Request, stream: Any) -> None:
        self.recording = recording
        self.request = request
        # Kept until it has ended: a stream that the garbage collector finds in the
        # middle of a request closes its connection there, and httpcore deadlocks.
        self.stream = stream
        self.parts: dict[int, _PartialChoice] = {}
        self.extras: dict[str, Any] = {}
        recording._open_streams.append(self)

    def watch(self, chunks: Iterator[Any]) -> Iterator[Any]:
        try:
            for chunk in chunks:
                self.see(chunk)
                yield chunk
            self.check_complete()
        except Exception as error:
            self.fail(error)
            raise
        finally:
            self.finish()

    async def watch_async(self, chunks: AsyncIterator[Any]) -> AsyncIterator[Any]:
        try:
            async for chunk in chunks:
                self.see(chunk)
                yield chunk
            self.check_complete()
        except Exception as error:
            self.fail(error)
            raise
        finally:
            self.finish()

    def check_complete(self) -> None:
        """A stream that ends before its completion does was cut by the server."""
        if any(part.finish_reason is None for part in self.parts.values()):
            self.fail(ConnectionError("the stream ended in the middle of a completion"))

    def see(self, chunk: Any) -> None:
        self.extras |= _prompt_extras(chunk)
        for choice in chunk.choices or []:
            self.parts.setdefault(choice.index, _PartialChoice(choice.index)).add(
                choice
            )

    def is_continued_by(self, messages: list[Any]) -> bool:
        """Whether the agent went on from what it has read so far, with the stream still
        open.
        """
        end = len(self.request.messages)
        if len(messages) <= end or messages[:end] != self.request.messages:
            return False
        return any(
            _essence(part.message()) == _essence(messages[end])
            for part in self.parts.values()
        )

    def fail(self, error: Exception) -> None:
        """The connection broke: nobody knows what the model would have said, so nothing
        is recorded.
        """
        if self._leave():
            self.recording.failed(self.request, error, streaming=True)

    def finish(self) -> None:
        """Record what was seen: all of it, or as far as the agent read (then the choice
        carries ``cut=True``).
        """
        if not self._leave():
            return
        parts = [self.parts[index] for index in sorted(self.parts)]
        choices = [part.choice() for part in parts if not part.is_empty()]
        if choices:
            self.recording.record(self.request, choices, self.extras)

    def _leave(self) -> bool:
        with self.recording._lock:
            if self not in self.recording._open_streams:
                return False
            self.recording._open_streams.remove(self)
        stream, self.stream = self.stream, None
        if not hasattr(stream, "__anext__"):  # an async one closes itself, in its loop
            stream.response.close()
        return True


class _PartialChoice:
    """One choice of a stream, as far as it has come."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.text: dict[str, str] = {}  # content, refusal, reasoning_content, ...
        self.calls: dict[int, dict[str, Any]] = {}
        self.function_call: dict[str, str] = {}
        self.logprobs: dict[str, list[Any]] = {}
        self.token_ids: list[int] = []
        self.finish_reason: str | None = None

    def add(self, choice: Any) -> None:
        delta = choice.delta
        for name in ("content", "refusal", *(delta.model_extra or {})):
            value = getattr(delta, name, None)
            if isinstance(value, str):
                self.text[name] = self.text.get(name, "") + value
        for call in delta.tool_calls or []:
            known = self.calls.setdefault(
                call.index,
                {
                    "id": "",
                    "type": "function",
                    "function": {"name": "", "arguments": ""},
                },
            )
            known["id"] = call.id or known["id"]
            if call.function is not None:
                known["function"]["name"] += call.function.name or ""
                known["function"]["arguments"] += call.function.arguments or ""
        if delta.function_call is not None:
            for name in ("name", "arguments"):
                self.function_call[name] = self.function_call.get(name, "") + (
                    getattr(delta.function_call, name) or ""
                )
        for name in ("content", "refusal"):
            tokens = getattr(choice.logprobs, name, None)
            if tokens:
                self.logprobs.setdefault(name, []).extend(tokens)
        self.token_ids += (choice.model_extra or {}).get("token_ids") or []
        self.finish_reason = choice.finish_reason or self.finish_reason

    def is_empty(self) -> bool:
        """Whether the agent left before anything was said."""
        said = self.text or self.calls or self.function_call or self.token_ids
        return self.finish_reason is None and not said

    def message(self) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": None, **self.text}
        if self.calls:
            message["tool_calls"] = [self.calls[index] for index in sorted(self.calls)]
        if self.function_call:
            message["function_call"] = self.function_call
        return message

    def choice(self) -> Any:
        from openai.types.chat.chat_completion import Choice, ChoiceLogprobs
        from openai.types.chat.chat_completion_message import ChatCompletionMessage

        extra: dict[str, Any] = {"token_ids": self.token_ids} if self.token_ids else {}
        if self.finish_reason is None:
            extra["cut"] = True
        return Choice.model_construct(
            finish_reason=self.finish_reason or "length",
            index=self.index,
            logprobs=(
                ChoiceLogprobs.model_construct(None, **self.logprobs)
                if self.logprobs
                else None
            ),
            message=ChatCompletionMessage.construct(**self.message()),
            **extra,
        )


# ---------------------------------------------------------------------------- histories


@dataclass
class _Request:
    """One request, and where its completion belongs: ``history`` holds its first
    ``start`` messages already, ``new`` are copies of the others.
    """

    number: int
    messages: list[Any]
    tools: Any
    history: _History | None
    start: int
    new: list[Any]
    recorded: bool = False

    def sent(self) -> list[Any]:
        """All its messages, as they were when it was made."""
        return [*(self.history.sent[: self.start] if self.history else []), *self.new]

    def key(self) -> str:
        """The same for a request that is made again."""
        return json.dumps([self.sent(), self.tools], default=str)


class _History:
    """One conversation: ``items`` is the list that ART trains from, ``sent`` the same
    as the agent last sent it.
    """

    def __init__(self, items: list[Any], tools: Any) -> None:
        self.items = items
        self.tools = tools
        self.sent = [
            item if isinstance(item, dict) else _message_of(item) for item in items
        ]

    def __len__(self) -> int:
        return len(self.sent)

    def is_continued_by(self, messages: list[Any], tools: Any) -> bool:
        if not 0 < len(self.sent) <= len(messages) or self.tools != tools:
            return False
        changed = []
        for at, (ours, theirs) in enumerate(zip(self.sent, messages, strict=False)):
            if ours != theirs:
                if _essence(ours) != _essence(theirs):
                    return False
                changed.append(at)
        for at in changed:  # the agent's own spelling, which compares at once next time
            self.sent[at] = _plain(messages[at])
        return True

    def extend(self, messages: list[Any], choice: Any) -> None:
        self.items += [*messages, choice]
        self.sent += [*messages, _message_of(choice)]


def _new_history(trajectory: Any, tools: Any) -> Any:
    """A further history. art 0.5.18 calls the class History, 0.5.23 LegacyHistory: the
    field's own annotation knows. What is no ART trajectory gets a plain object.
    """
    field = getattr(type(trajectory), "model_fields", {}).get("additional_histories")
    make = (
        field.annotation.__args__[0].model_construct if field else types.SimpleNamespace
    )
    return make(messages_and_choices=[], tools=tools)


def _recorded_histories(trajectory: Any) -> list[_History]:
    """What a trajectory holds already, so that a second rollout block on it goes on
    where the first one ended.
    """
    found = [trajectory, *trajectory.additional_histories]
    return [
        _History(history.messages_and_choices, history.tools)
        for history in found
        if history.messages_and_choices
    ]


def _message_of(choice: Any) -> dict[str, Any]:
    message: dict[str, Any] = choice.message.model_dump(mode="json", exclude_none=True)
    return message


def _essence(message: Any) -> Any:
    """What of a message a chat template can render: agents spell the rest differently
    from turn to turn.

    No content and empty content are the same, null keys count as absent, tool arguments
    are compared as JSON in their order, and of an assistant message only text and tool
    calls matter.
    """
    message = _plain(message)
    if not isinstance(message, dict):
        return message
    content = message.get("content") or ""
    if (
        isinstance(content, list)
        and len(content) == 1
        and isinstance(content[0], dict)
        and set(content[0]) == {"type", "text"}
    ):
        content = content[0]["text"]
    calls = [
        (call.get("id"), *_named_call(call.get("function") or call.get("custom") or {}))
        for call in message.get("tool_calls") or []
    ]
    essence: list[Any] = [message.get("role"), content, calls]
    if message.get("role") == "assistant":
        function = message.get("function_call") or {}
        return [
            *essence,
            message.get("refusal"),
            function.get("name"),
            _canonical_json(function.get("arguments")),
        ]
    return [*essence, message.get("name"), message.get("tool_call_id")]


def _named_call(call: dict[str, Any]) -> tuple[Any, Any]:
    return call.get("name"), _canonical_json(call.get("arguments", call.get("input")))


def _canonical_json(text: Any) -> Any:
    try:
        return json.dumps(json.loads(text))
    except (TypeError, ValueError):
        return text


def _plain(value: Any) -> Any:
    """A copy in plain JSON types, as the SDK sends it (openai/_utils/_transform.py
    dumps models with exclude_unset).
    """
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_unset=True)
    return value


def _storable(value: Any, annotation: Any) -> Any:
    """A copy of ``value`` that can be written as JSON under ``annotation``: as it is,
    or as text. ART writes trajectories so, and a step would end where it cannot.
    """
    import pydantic

    adapter = pydantic.TypeAdapter(annotation)
    for candidate in (copy.deepcopy, _as_json, str):
        with suppress(Exception):
            stored = candidate(value)
            adapter.dump_json(stored, warnings="error")
            return stored
    return None


def _as_json(value: Any) -> str:
    return json.dumps(_plain(value), ensure_ascii=False)


def _tools_of(body: dict[str, Any]) -> Any:
    """The tools of a request; the older ``functions`` become the tools that they are
    for the chat template.
    """
    if body.get("functions"):
        return [
            {"type": "function", "function": function} for function in body["functions"]
        ]
    return body.get("tools") or None


def _prompt_extras(completion: Any) -> dict[str, Any]:
    """What vLLM puts on the response and ART reads from the Choice (art 0.5.23,
    openai.py finalize_chat_completion).
    """
    prompt_token_ids = (completion.model_extra or {}).get("prompt_token_ids")
    return {} if prompt_token_ids is None else {"prompt_token_ids": prompt_token_ids}


def _choice_to_record(choice: Any, shared_extras: dict[str, Any]) -> Any:
    """A copy of the choice that the agent cannot change, as the plain ``Choice`` that
    ART looks for.

    ``parse`` returns subclasses whose ``parsed`` objects ART could not write to disk.
    """
    from openai.types.chat.chat_completion import Choice
    from openai.types.chat.chat_completion_message import ChatCompletionMessage

    message = choice.message.model_dump(
        mode="json", exclude_unset=True, exclude={"parsed"}, warnings=False
    )
    for call in message.get("tool_calls") or []:
        call.get("function", {}).pop("parsed_arguments", None)
    extra = {**(choice.model_extra or {}), **shared_extras}
    return Choice.model_construct(
        finish_reason=choice.finish_reason,
        index=choice.index,
        logprobs=choice.logprobs,
        # Lenient, as the SDK itself is: an engine may leave out what it knows.
        message=ChatCompletionMessage.construct(**message),
        **extra,
    )
