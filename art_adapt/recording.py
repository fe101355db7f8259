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
import importlib
import inspect
import itertools
import json
import math
import os
import sys
import threading
import types
import warnings
import weakref
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, ParamSpec, TypeVar, overload

__all__ = [
    "EndpointError",
    "RecordingError",
    "RecordingWarning",
    "Rollout",
    "carried",
    "final_answer",
    "for_training",
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


class EndpointError(ConnectionError):
    """The endpoint failed in a rollout: the episode says nothing about the policy."""


class RecordingWarning(UserWarning):
    """Something that training should know of; each is said once in a process."""


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
_said: set[str] = _shared.__dict__.setdefault("said", set())


def _say_once(message: str) -> None:
    if message not in _said:
        _said.add(message)
        with suppress(RecordingWarning):  # where warnings are errors
            warnings.warn(message, RecordingWarning, stacklevel=2)


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
    trajectory: Any,
    *,
    base_url: str,
    api_key: str,
    model: str,
    temperature: float | None = None,
) -> Iterator[Rollout]:
    """Record every policy call made in this block on ``trajectory`` (an
    ``art.Trajectory``).

    ``base_url``, ``api_key`` and ``model`` name the model in training (ART:
    ``model.inference_base_url``, ``model.inference_api_key``,
    ``model.get_inference_name()``). ``temperature``: sample with it, and with nothing
    else (``top_p``, penalties, a seed), whatever the agent asks for. Works around sync
    and async code; tasks started inside inherit it, threads do if their function is
    ``carried``.

    Raises ``RecordingError`` at its end if the recorder had to stop a call, even where
    the agent has swallowed the error: such an episode is not what the model would do.
    """
    opened = Rollout(
        trajectory,
        base_url=base_url,
        api_key=api_key,
        model=model,
        temperature=temperature,
    )
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
    asking = _caller() if _active.get() is not None else ""

    def call(*args: Any, **kwargs: Any) -> Any:
        active = _active.get()
        if active is not None:
            return active.call(create, args, kwargs, asking or _caller())
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


_asking: contextvars.ContextVar[str] = contextvars.ContextVar("art_asking", default="")


@contextmanager
def _asked_by(function: str) -> Iterator[None]:
    token = _asking.set(function)
    try:
        yield
    finally:
        _asking.reset(token)


def _caller() -> str:
    """The function from which a hook is used, by its qualified name."""
    name = sys._getframe(2).f_code.co_qualname
    return name.replace(".<locals>", "")


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


# ---------------------------------------------------------------------- groups to train


def for_training(groups: Sequence[T]) -> list[T]:
    """The trajectory groups as ``backend.train`` must get them, so that ART trains on
    what the engine saw and sampled, token for token.

    ART 0.5.23 reads token ids: the groups as they are. ART 0.5.18 renders messages
    anew and splices the sampled tokens in (preprocessing/tokenize.py): it gets copies,
    see ``_as_rendered``. The tools' keys are in vLLM's order if the model has
    ``_internal_config={"chat_template_tool_schema_format": "vllm_openai"}``.
    """
    return [_group_for_training(group) for group in groups]


def _group_for_training(group: Any) -> Any:
    if all(_reads_token_ids(trajectory) for trajectory in group.trajectories):
        return group
    copied = copy.copy(group)
    copied.trajectories = [_for_rendering(t) for t in group.trajectories]
    return copied


def _for_rendering(trajectory: Any) -> Any:
    whole = [trajectory, *trajectory.additional_histories]
    parts = [
        _new_history(trajectory, history.tools, items)
        for history in whole
        for items in _as_rendered(history.messages_and_choices)
    ]
    first = parts[0].messages_and_choices if parts else []
    return trajectory.model_copy(
        update={"messages_and_choices": first, "additional_histories": parts[1:]}
    )


def _as_rendered(items: Sequence[Any]) -> list[list[Any]]:
    """The histories that ART 0.5.18 renders as the engine did.

    A turn that calls tools would be rendered twice, as sampled and from its
    ``tool_calls``; only in the last one does ART see to that itself. And where the
    engine rendered an earlier turn differently from what it had sampled, what follows
    goes on from messages, not from sampled tokens: a history of its own.
    """
    histories: list[list[Any]] = [[]]
    last, place = None, 0  # the last choice, and where it stands in its history
    for at, item in enumerate(items):
        if isinstance(item, dict):
            histories[-1].append(_as_template_reads(item))
            continue
        if (item.model_extra or {}).get("rendered_anew"):
            earlier = [e if isinstance(e, dict) else _message_of(e) for e in items[:at]]
            histories.append([_as_template_reads(message) for message in earlier])
        elif last is not None:
            histories[-1][place] = _without_calls(last)
        last, place = item, len(histories[-1])
        histories[-1].append(item)
    return histories


def _without_calls(choice: Any) -> Any:
    message = choice.message.model_copy(
        update={"tool_calls": None, "content": choice.message.content or ""}
    )
    return choice.model_copy(update={"message": message})


def _as_template_reads(message: dict[str, Any]) -> dict[str, Any]:
    """A message as vLLM hands it to the chat template: text, and arguments spelled by
    the template (vllm, entrypoints/chat_utils.py).
    """
    if message.get("role") != "assistant":
        return message
    calls = [
        {**call, "function": {**call["function"], "arguments": _spelled(call)}}
        for call in message.get("tool_calls") or []
        if "function" in call
    ]
    text = {**message, "content": message.get("content") or ""}
    return {**text, "tool_calls": calls} if calls else text


def _spelled(call: dict[str, Any]) -> str:
    arguments = call["function"].get("arguments") or "{}"
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False)
    except (TypeError, ValueError):
        return str(arguments)


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
        self,
        trajectory: Any,
        *,
        base_url: str,
        api_key: str,
        model: str,
        temperature: float | None = None,
    ) -> None:
        self.trajectory = trajectory
        self.temperature = temperature
        self.base_url = base_url
        self.api_key = api_key
        self.model = model
        self.answer: Any = None
        self.answered = False
        self.rewarded = False
        self.calls = 0
        self.failed_calls = 0
        self.tool_calls = 0
        self.tool_errors = 0  # of them, those that no tool could have been run with
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
        self._reads_token_ids = _reads_token_ids(trajectory)
        self._functions = _Functions()
        self._conversations: Any = None  # of the Responses API

    @property
    def infrastructure_error(self) -> BaseException | None:
        return next((error for _, error in reversed(self._unanswered.values())), None)

    @property
    def history_names(self) -> list[str]:
        """Of each history (the trajectory's own first) the function that asked
        first.
        """
        return [history.name for history in self._histories]

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
            if len(self._histories) > 1:
                self.trajectory.metadata["histories"] = ", ".join(self.history_names)

    # -- sending

    def call(
        self,
        create: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        asking: str = "",
    ) -> Any:
        """Make the call that ``create`` stands for, on the model in training;
        ``asking`` is the function that makes it.
        """
        self._must_be_open()
        call = _find_call(create)
        if call.is_async and not call.is_late:
            return self._call_async(call, args, kwargs, asking)
        client = self._client(
            call, asyncio.get_running_loop() if call.is_async else None
        )
        if call.is_late:
            client = client.copy()
            client.recording, client.asking = self, asking
        with _asked_by(asking):
            return call.on(client)(*args, **kwargs)

    async def _call_async(
        self,
        call: _Call,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        asking: str,
    ) -> Any:
        """The call, on a client of the loop that it is awaited in."""
        client = self._client(call, asyncio.get_running_loop())
        with _asked_by(asking):
            return await call.on(client)(*args, **kwargs)

    def _client(self, call: _Call, loop: asyncio.AbstractEventLoop | None) -> Any:
        """The client that talks to the model in training, with the timeouts and retries
        that the user's has.
        """
        key = (loop, str(call.options))
        with self._lock:
            if key not in self._clients:
                client = _connected_client(loop).copy(
                    base_url=self.base_url, api_key=self.api_key, **call.options
                )
                client.recording = self
                self._clients[key] = client
            return self._clients[key]

    def detour(self, path: str, body: Any, options: Any) -> _Detour | None:
        """How to answer a request that is not sent as it is; None for the others."""
        view = (options.get("headers") or {}).get("X-Stainless-Raw-Response")
        if path == "/chat/completions" and view == "stream":
            return _chat_detour(_whole_body(body, options))
        if path != "/responses":
            return None
        self._must_be_open()
        body = _plain(_whole_body(body, options))
        translation = _responses_translation()
        with self._lock:
            if self._conversations is None:
                self._conversations = translation.Conversations()
            try:
                turn = self._conversations.begin(body)
            except translation.Untranslatable as reason:
                raise _stop(
                    f"the agent asked /responses for {reason}: the model in training "
                    "has chat completions only. Give the agent a tool of its own for "
                    "it, or keep the call out with --auxiliary FUNCTION."
                ) from None
        return _response_detour(turn)

    def prepare(
        self, path: str, body: Any, options: Any, asking: str = ""
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
                "in training: it takes chat completions and responses. If it is "
                "auxiliary, adapt the agent again with --auxiliary FUNCTION."
            )
        body = _for_any_engine(_whole_body(body, options))
        as_functions = bool(body.get("functions"))
        if as_functions:
            body = self._functions.request(body)
        body |= {"model": self.model, "logprobs": True, "return_token_ids": True}
        if self.temperature is not None:
            body = {k: v for k, v in body.items() if k not in _SAMPLING_ARGUMENTS}
            body["temperature"] = self.temperature
        if {body.get("temperature"), body.get("top_p")} - {None, 1}:
            _say_once(_SAMPLING.format(**{"temperature": 1, "top_p": 1, **body}))
        kept = {
            key: value
            for key, value in options.items()
            if key not in ("extra_json", "params", "headers")
        }
        kept["headers"] = _sdk_headers(options.get("headers"))
        with self._lock:
            tools = _plain(body.get("tools") or None)
            request = self._place(list(body.get("messages") or []), tools)
            request.asking = asking or _asking.get()
            request.choices = body.get("n") or 1
            request.as_functions = as_functions
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
        continued = self._continued_by(messages, tools)
        for stream in list(self._open_streams):
            # Only where no completion explains the messages: a twin of this stream,
            # read to its end, may have said what this one has said so far.
            if (
                continued is None or len(continued) <= len(stream.request.messages)
            ) and stream.is_continued_by(messages):
                stream.finish()
                continued = self._continued_by(messages, tools)
        start = len(continued) if continued is not None else 0
        new = [_plain(message) for message in messages[start:]]
        self._requests += 1
        return _Request(self._requests, messages, tools, continued, start, new)

    def _continued_by(self, messages: list[Any], tools: Any) -> _History | None:
        """The longest history that a request goes on from, the last of several."""
        found = None
        for history in self._histories:
            if (
                found is None or len(history) >= len(found)
            ) and history.is_continued_by(messages, tools):
                found = history
        return found

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
            if request.as_functions:
                self._functions.note(request, choices)
            if self._unanswered:
                key = request.key()
                failed_at, _ = self._unanswered.get(key, (0, None))
                if request.number > failed_at:  # made after the failure, not beside it
                    self._unanswered.pop(key, None)
            sent = request.sent() if len(choices) > 1 else None
            for choice in choices:
                cut = (choice.model_extra or {}).get("cut", False)
                called = choice.message.tool_calls or []
                self.tool_calls += len(called)
                if not cut:
                    self.tool_errors += sum(
                        not _can_run(call, request.tools) for call in called
                    )
                self.truncated |= choice.finish_reason == "length" and not cut
                history, new = request.history, request.new
                if history is None or len(history) != request.start:
                    # New, or another request went on from it first.
                    history = self._open_history(request)
                    new = sent if sent is not None else request.sent()
                self._check_exact(choice, shared_extras)
                history.extend(
                    new,
                    _choice_to_record(choice, shared_extras),
                    keep_prompt=self._reads_token_ids,
                )
                # A further choice answers the same messages, not the first choice.
                request.history = None

    def _check_exact(self, choice: Any, shared_extras: dict[str, Any]) -> None:
        """Say what keeps ART from training on exactly what the engine saw and sampled
        (G6).
        """
        if self._reads_token_ids:
            ids = (choice.model_extra or {}).get("token_ids")
            if not (ids and shared_extras.get("prompt_token_ids")):
                _say_once(_NO_IDS)
            return
        if not _logprobs_name_ids(choice.logprobs):
            _say_once(_NO_TOKENS)
        if {"reasoning", "reasoning_content"} & {*_extras(choice.message)}:
            _say_once(_THINKING)

    def _open_history(self, request: _Request) -> _History:
        trajectory, tools = self.trajectory, request.tools
        if not self._histories:
            # Assigned past pydantic: validation would reorder the tools' keys and drop
            # the ones it does not know.
            object.__setattr__(trajectory, "tools", tools)
            opened = trajectory
        else:
            opened = _new_history(trajectory, tools)
            trajectory.additional_histories.append(opened)
        history = _History(opened.messages_and_choices, tools, request.asking)
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
            # An error's own body can break off: then the HTTP library's error comes
            # through the SDK as it is.
            library = type(error).__module__.partition(".")[0]
            if (
                isinstance(error, openai.APIConnectionError)
                or library in ("httpx", "httpx2")
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
        if isinstance(answer, openai.Stream | openai.AsyncStream):
            stream: Any = answer
            opened = stream.art_stream = _OpenStream(self, request, answer)
            is_async = isinstance(answer, openai.AsyncStream)
            watch = opened.watch_async if is_async else opened.watch
            stream._iterator = watch(stream._iterator)
        elif hasattr(answer, "choices"):
            self.record(request, answer.choices or [], _prompt_extras(answer))
            if request.as_functions:
                self._functions.answer(answer.choices or [])
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


# ------------------------------------------------------------- the call behind a callee


@dataclass(frozen=True)
class _Call:
    """What a callee does, on any client: ``on(client)`` is the same callable there.

    ``is_late``: it gives a manager or a generator, which makes the request when it is
    used. ``options`` are those of the user's client that matter for the model in
    training as well.
    """

    on: Callable[[Any], Callable[..., Any]]
    is_async: bool
    is_late: bool
    options: dict[str, Any]


def _find_call(create: Callable[..., Any]) -> _Call:
    """See through partials, tracers, litellm and instructor to the SDK's own method."""
    function: Any = create
    view = ""
    while function is not None:
        found = (
            _partial_call(function)
            or _litellm_call(function)
            or _instructor_call(function)
            or _sdk_call(function, view)
        )
        if found is not None:
            return found
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


def _sdk_call(function: Any, view: str) -> _Call | None:
    """A method of one of the SDK's resources, or of a look-alike's."""
    import openai
    from openai.resources.chat.completions import AsyncCompletions, Completions

    owner = getattr(function, "__self__", None)
    client = getattr(owner, "_client", None)
    resource: Any = type(owner)
    name = getattr(function, "__name__", "")
    if isinstance(client, openai.OpenAI | openai.AsyncOpenAI):
        is_async = isinstance(client, openai.AsyncOpenAI)
        options = _own_options(client)
    elif client is not None and resource.__name__ in (
        "Completions",
        "AsyncCompletions",
    ):
        # Groq, Together and other clients made in the image of openai's: the model in
        # training speaks OpenAI's API.
        is_async = resource.__name__ == "AsyncCompletions"
        resource, options = (AsyncCompletions if is_async else Completions), {}
    else:
        return None

    def on(client: Any) -> Callable[..., Any]:
        there = resource(client)
        method: Callable[..., Any] = getattr(
            getattr(there, view) if view else there, name
        )
        return functools.partial(_without_tracing, method)

    manager = name == "stream" or view == "with_streaming_response"
    return _Call(on, is_async, manager, options)


def _own_options(client: Any) -> dict[str, Any]:
    """What the user set on a client that matters for the model in training as well."""
    return {"timeout": client.timeout, "max_retries": client.max_retries}


def _without_tracing(method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call the SDK's method without the argument that LangSmith's wrapper would
    keep.
    """
    kwargs.pop("langsmith_extra", None)
    return method(*args, **kwargs)


def _partial_call(function: Any) -> _Call | None:
    import openai

    if not isinstance(function, functools.partial):
        return None
    inner, given, named = function.func, function.args, function.keywords
    client = named.get("client")
    if isinstance(client, openai.OpenAI | openai.AsyncOpenAI):
        # instructor's way to the Responses API: a function that is given the client.
        return _Call(
            lambda client: functools.partial(
                inner, *given, **named | {"client": client}
            ),
            isinstance(client, openai.AsyncOpenAI),
            False,
            _own_options(client),
        )
    call = _find_call(inner)
    return replace(
        call, on=lambda client: functools.partial(call.on(client), *given, **named)
    )


# Where litellm sends a request, and what it does when it cannot.
_LITELLM_ROUTING = {
    "api_base",
    "api_key",
    "api_version",
    "azure_ad_token_provider",
    "base_url",
    "client",
    "context_window_fallback_dict",
    "custom_llm_provider",
    "deployment_id",
    "extra_headers",
    "fallbacks",
    "headers",
    "model_list",
    "organization",
}


def _litellm_call(function: Any) -> _Call | None:
    """``litellm.completion`` and ``acompletion``, a Router's too. litellm takes a
    client of the SDK and calls it (litellm 1.82, llms/openai/openai.py).
    """
    name = getattr(function, "__name__", "")
    module = getattr(function, "__module__", None) or ""
    if module.partition(".")[0] != "litellm" or name not in (
        "completion",
        "acompletion",
    ):
        return None

    def on(client: Any) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            given = dict(zip(("model", "messages"), args, strict=False)) | kwargs
            given = {k: v for k, v in given.items() if k not in _LITELLM_ROUTING}
            given |= {"model": "openai/policy", "client": client}
            given |= {"api_key": client.api_key, "api_base": str(client.base_url)}
            # A cached answer is nobody's sample; what this model does not take is
            # dropped, not refused.
            given["cache"] = {"no-cache": True, "no-store": True}
            given["drop_params"] = True
            return getattr(sys.modules["litellm"], name)(**given)

        return call

    # litellm sets max_retries on the client: it gets one that no other call uses.
    return _Call(on, name == "acompletion", False, {"max_retries": 2})


def _instructor_call(function: Any) -> _Call | None:
    """``create`` and its kin of an instructor client, or of a client that instructor
    has patched: the same patch on the inner call's twin.
    """
    owner: Any = getattr(function, "__self__", None)
    if hasattr(owner, "create_fn") and hasattr(owner, "mode"):
        create_fn, mode = owner.create_fn, owner.mode
    elif "new_create_" in getattr(
        getattr(function, "__code__", None), "co_qualname", ""
    ):
        create_fn = function
        mode = inspect.getclosurevars(function).nonlocals.get("mode")
    else:
        return None
    inner = _find_call(create_fn.__wrapped__)

    def on(client: Any) -> Callable[..., Any]:
        patch = sys.modules["instructor"].patch
        # instructor asks whether a create is async of the function itself.
        patched = patch(create=_as_function(inner, client), mode=mode)
        if create_fn is function:
            method: Callable[..., Any] = patched
            return method
        twin = object.__new__(type(owner))
        twin.__dict__.update(owner.__dict__, create_fn=patched)
        method = getattr(twin, function.__name__)
        return method

    late = inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function)
    return replace(inner, on=on, is_late=late)


def _as_function(call: _Call, client: Any) -> Callable[..., Any]:
    method = call.on(client)

    async def create_async(*args: Any, **kwargs: Any) -> Any:
        return await method(*args, **kwargs)

    def create(*args: Any, **kwargs: Any) -> Any:
        return method(*args, **kwargs)

    return create_async if call.is_async else create


# -------------------------------------------------------------- the client of a rollout


def _responses_translation() -> Any:
    """The module that ``art-adapt`` puts beside this one for agents that need it."""
    try:
        return importlib.import_module(f"{__name__}_responses")
    except ImportError:
        raise _stop(
            f"{__name__}_responses.py is missing: run art-adapt on the agent again, "
            "which writes it where an agent calls responses.create"
        ) from None


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
    from openai.types.chat import ChatCompletion, ChatCompletionChunk

    class RecordingOpenAI(openai.OpenAI):
        recording: Rollout
        asking = ""  # set where the request is made later than the call

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
            options = options or {}
            detour = self.recording.detour(path, body, options)
            if detour is not None:
                answer = self.post(
                    "/chat/completions",
                    body=detour.chat,
                    options={k: v for k, v in options.items() if k == "timeout"},
                    **_asked(detour.chat, openai.Stream[ChatCompletionChunk]),
                )
                with _answered_by(detour, answer):
                    return _answering_clients()[0].post(
                        path, cast_to=cast_to, body=body, options=options, **rest
                    )
            body, options, request = self.recording.prepare(
                path, body, options, self.asking
            )
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
        asking = ""  # set where the request is made later than the call

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
            options = options or {}
            detour = self.recording.detour(path, body, options)
            if detour is not None:
                answer = await self.post(
                    "/chat/completions",
                    body=detour.chat,
                    options={k: v for k, v in options.items() if k == "timeout"},
                    **_asked(detour.chat, openai.AsyncStream[ChatCompletionChunk]),
                )
                with _answered_by(detour, answer):
                    return await _answering_clients()[1].post(
                        path, cast_to=cast_to, body=body, options=options, **rest
                    )
            body, options, request = self.recording.prepare(
                path, body, options, self.asking
            )
            try:
                answer = await super().post(
                    path, cast_to=cast_to, body=body, options=options, **rest
                )
            except Exception as error:
                self.recording.failed(request, error)
                raise
            return self.recording.received(request, answer)

    def _asked(chat: dict[str, Any], stream_class: Any) -> dict[str, Any]:
        asked: dict[str, Any] = {"cast_to": ChatCompletion}
        if chat.get("stream"):
            asked |= {"stream": True, "stream_cls": stream_class}
        return asked

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


# ------------------------------------------------------------------------------ detours

# Some answers the agent must read from the wire: a Response, or a completion through
# with_streaming_response. The completion is asked for and recorded like any other, and
# then written as such an answer, which a client without a network hands to the SDK.
_answer: contextvars.ContextVar[tuple[_Detour, Any]] = contextvars.ContextVar(
    "art_answer"
)


@contextmanager
def _answered_by(detour: _Detour, completion: Any) -> Iterator[None]:
    token = _answer.set((detour, completion))
    try:
        yield
    finally:
        _answer.reset(token)


@functools.cache
def _answering_clients() -> tuple[Any, Any]:
    """A sync and an async client of the SDK whose every request is answered with what
    ``_answered_by`` holds.
    """
    import openai

    # httpx, or httpx2 since openai 3: the library whose client the SDK's derives from.
    library = openai.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0]
    http: Any = importlib.import_module(library)

    def answer(_: Any) -> Any:
        detour, completion = _answer.get()
        kind = "text/event-stream" if detour.is_streamed else "application/json"
        written = detour.write(completion)
        response = http.Response(200, headers={"content-type": kind}, content=written)
        if detour.is_streamed:  # closed by the agent: so is what it is made from
            _when_closed(response, completion.art_stream.left)
        return response

    made: dict[str, Any] = {"base_url": "http://recorded", "api_key": "unset"}
    transport = http.MockTransport(answer)
    return (
        openai.OpenAI(http_client=http.Client(transport=transport), **made),
        openai.AsyncOpenAI(http_client=http.AsyncClient(transport=transport), **made),
    )


@dataclass(frozen=True)
class _Detour:
    """One such answer: ``chat`` is the completion to ask for, ``write`` turns it (or
    its chunks) into bytes.
    """

    chat: dict[str, Any]
    write: Callable[[Any], Any]

    @property
    def is_streamed(self) -> bool:
        return bool(self.chat.get("stream"))


def _chat_detour(body: dict[str, Any]) -> _Detour:
    """The same completion, as the server would write it."""

    def write_chunk(chunk: Any) -> bytes:
        return b"data: " + _as_sent(chunk) + b"\n\n"

    def write(answer: Any) -> Any:
        if body.get("stream"):
            end = b"data: [DONE]\n\n"
            return _written(answer, bytes, write_chunk, lambda: end)
        return _as_sent(answer)

    return _Detour(body, write)


def _response_detour(turn: Any) -> _Detour:
    """A completion as the Response of ``turn`` (``art_recording_responses.Turn``)."""

    def sse(events: Any) -> bytes:
        return b"".join(
            f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
            for event in events
        )

    def write(answer: Any) -> Any:
        if not turn.chat.get("stream"):
            return json.dumps(turn.response(_as_json_types(answer))).encode()
        events = turn.events()
        return _written(
            answer,
            lambda: sse(events.start()),
            lambda chunk: sse(events.chunk(_as_json_types(chunk))),
            lambda: sse(events.end()),
        )

    return _Detour(turn.chat, write)


def _written(
    chunks: Any,
    start: Callable[[], bytes],
    each: Callable[[Any], bytes],
    end: Callable[[], bytes],
) -> Any:
    """A stream's bytes, no sooner than the agent reads them."""

    def write() -> Iterator[bytes]:
        yield start()
        for chunk in chunks:
            yield each(chunk)
        yield end()

    async def write_async() -> AsyncIterator[bytes]:
        yield start()
        async for chunk in chunks:
            yield each(chunk)
        yield end()

    return write_async() if hasattr(chunks, "__anext__") else write()


def _as_json_types(answer: Any) -> Any:
    return answer.model_dump(mode="json", exclude_unset=True, warnings=False)


def _as_sent(answer: Any) -> bytes:
    return json.dumps(_as_json_types(answer)).encode()


# ----------------------------------------------------------------- exactness, said once

_NO_IDS = (
    "the endpoint returned no token ids, and ART trains on nothing else: serve the "
    "model with ART's LocalBackend, or with a vLLM that knows return_token_ids (0.10.2)"
)
_NO_TOKENS = (
    "the endpoint's logprobs do not name tokens as token_id:N, so ART 0.5.18 would "
    "train on the end-of-text token instead: serve the model with ART's LocalBackend, "
    "or start vLLM with --return-tokens-as-token-ids"
)
_THINKING = (
    "the model thinks before it answers, but ART 0.5.18 trains with "
    "enable_thinking=False: ask for extra_body={'chat_template_kwargs': "
    "{'enable_thinking': False}}, or train a model that does not think"
)
_RENDERED_ANEW = (
    "the engine rendered a conversation's earlier turns differently from what it had "
    "sampled: a chat template that drops earlier thoughts, or an agent that edits or "
    "re-serialises assistant messages. Each such turn is trained by itself, which "
    "costs time. Append the message as the SDK gave it."
)


def _reads_token_ids(trajectory: Any) -> bool:
    """Whether this ART builds sequences from token ids (0.5.23, which also captures
    exchanges) or renders messages anew (0.5.18).
    """
    return "exchanges" in getattr(type(trajectory), "model_fields", {})


def _logprobs_name_ids(logprobs: Any) -> bool:
    tokens: Any = getattr(logprobs, "content", None) or getattr(
        logprobs, "refusal", None
    )
    return bool(tokens) and str(tokens[0].token).startswith("token_id:")


def _extras(model: Any) -> dict[str, Any]:
    return {k: v for k, v in (model.model_extra or {}).items() if v}


# -------------------------------------------------------------- requests for any engine

# Arguments that only OpenAI's own service knows; engines ignore or refuse them.
_OPENAI_ONLY = {
    "audio",
    "metadata",
    "modalities",
    "moderation",
    "prediction",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning_effort",
    "safety_identifier",
    "service_tier",
    "store",
    "user",
    "verbosity",
    "web_search_options",
}

_SAMPLING_ARGUMENTS = {
    "frequency_penalty",
    "logit_bias",
    "min_p",
    "presence_penalty",
    "repetition_penalty",
    "seed",
    "temperature",
    "top_k",
    "top_p",
}
_SAMPLING = (
    "the agent samples with temperature={temperature}, top_p={top_p}. ART trains on "
    "logprobs at temperature 1: with others the policy's ratio is off from the first "
    "step. Sample with temperature=1, top_p=1 while training."
)


def _whole_body(body: dict[str, Any], options: Any) -> dict[str, Any]:
    """A request's body with the agent's ``extra_body``, as the SDK would send it."""
    return {**body, **(options.get("extra_json") or {})}


def _for_any_engine(body: dict[str, Any]) -> dict[str, Any]:
    """The request as every engine and chat template takes it."""
    dropped = [name for name in _OPENAI_ONLY if name in body]
    if dropped:
        body = {name: value for name, value in body.items() if name not in dropped}
        _say_once(
            f"left out in training, for only OpenAI's service knows it: "
            f"{', '.join(sorted(dropped))}"
        )
    body["messages"] = [
        _for_any_template(m) if _needs_change(m) else m
        for m in body.get("messages") or []
    ]
    if body.get("tools"):
        body["tools"] = [_explicit_tool(tool) for tool in body["tools"]]
    return body


def _needs_change(message: Any) -> bool:
    return message.get("role") == "developer" or type(message.get("content")) is list


def _for_any_template(message: Any) -> Any:
    if message.get("role") == "developer":
        _say_once(
            "the role developer is system in training: open models' chat templates "
            "drop what they do not know"
        )
        message = {**message, "role": "system"}
    content = message.get("content")
    if (
        isinstance(content, list)
        and content
        and all(set(part) == {"type", "text"} for part in content)
    ):
        # As vLLM joins them for templates that want text; ART 0.5.18 would not.
        message = {**message, "content": "\n".join(part["text"] for part in content)}
    return message


def _explicit_tool(tool: Any) -> Any:
    """A tool with its keys where vLLM puts them, and with none left out: vLLM renders
    those as null, ART not at all.
    """
    function = tool.get("function")
    if tool.get("type") != "function" or not isinstance(function, dict):
        return tool
    named = {
        "name": function.get("name"),
        "description": function.get("description") or "",
        "parameters": function.get("parameters")
        or {"type": "object", "properties": {}},
    }
    rest = {
        key: value for key, value in tool.items() if key not in ("type", "function")
    }
    return {"type": "function", "function": {**named, **function, **named}, **rest}


class _Functions:
    """The older ``functions=`` in terms of tools, which is all that engines take, and
    the tool calls of an answer in terms of functions.
    """

    def __init__(self) -> None:
        # The ids of calls, by the conversation before them and what they call.
        self._ids: dict[tuple[int, Any, Any], str] = {}

    def request(self, body: dict[str, Any]) -> dict[str, Any]:
        functions, asked = body["functions"], body.get("function_call")
        body = {k: v for k, v in body.items() if not k.startswith("function")} | {
            "messages": self._messages(body.get("messages") or []),
            "tools": [{"type": "function", "function": f} for f in functions],
            "parallel_tool_calls": False,
        }
        if asked is not None:
            one = {"type": "function", "function": asked}
            body["tool_choice"] = one if isinstance(asked, dict) else asked
        return body

    def _messages(self, messages: list[Any]) -> list[Any]:
        """Calls and their outputs with the ids that the engine gave the calls."""
        translated: list[Any] = []
        before, last = 0, ""
        for message in messages:
            message = _plain(message)
            call = message.get("function_call")
            if message.get("role") == "function":
                output = {"role": "tool", "tool_call_id": last}
                message = output | {"content": message.get("content")}
            elif call:
                named = _named_call(call)
                last = self._ids.get((before, *named), f"call_{len(translated)}")
                calls = [{"id": last, "type": "function", "function": call}]
                message = {k: v for k, v in message.items() if k != "function_call"}
                message["tool_calls"] = calls
            translated.append(message)
            before = _after(before, message)
        return translated

    def note(self, request: _Request, choices: Sequence[Any]) -> None:
        """Remember the ids of the calls in an answer; the agent will not."""
        before = 0
        for message in request.messages:
            before = _after(before, message)
        for choice in choices:
            for called in (choice.message.tool_calls or [])[:1]:
                named = _named_call(_plain(called.function))
                self._ids.setdefault((before, *named), called.id)

    def answer(self, choices: Sequence[Any]) -> None:
        """Turn what an agent gets of a completion into what it asked for."""
        from openai.types.chat.chat_completion_message import FunctionCall

        for choice in choices:
            if not choice.message.tool_calls:
                continue
            called = choice.message.tool_calls[0]
            choice.message.function_call = FunctionCall.construct(
                name=called.function.name, arguments=called.function.arguments
            )
            choice.message.tool_calls = None
            choice.finish_reason = "function_call"

    def chunk(self, choice: Any) -> None:
        """The same of a piece of a stream, after it has been recorded."""
        from openai.types.chat.chat_completion_chunk import ChoiceDeltaFunctionCall

        calls = choice.delta.tool_calls
        if calls and calls[0].function is not None:
            choice.delta.function_call = ChoiceDeltaFunctionCall.construct(
                name=calls[0].function.name, arguments=calls[0].function.arguments
            )
        if calls:
            choice.delta.tool_calls = None
        if choice.finish_reason == "tool_calls":
            choice.finish_reason = "function_call"


def _after(before: int, message: Any) -> int:
    """A conversation in one number: the one before it, and its last message."""
    return hash((before, json.dumps(_essence(message), default=str)))


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
        self.reading = False
        recording._open_streams.append(self)
        _when_closed(stream.response, self.left)

    def watch(self, chunks: Iterator[Any]) -> Iterator[Any]:
        try:
            self.reading = True
            for chunk in chunks:
                self.see(chunk)
                self.reading = False
                yield self.for_agent(chunk)
                self.reading = True
            self.check_complete()
        except Exception as error:
            self.fail(error)
            raise
        finally:
            self.finish()

    async def watch_async(self, chunks: AsyncIterator[Any]) -> AsyncIterator[Any]:
        try:
            self.reading = True
            async for chunk in chunks:
                self.see(chunk)
                self.reading = False
                yield self.for_agent(chunk)
                self.reading = True
            self.check_complete()
        except Exception as error:
            self.fail(error)
            raise
        finally:
            self.finish()

    def left(self) -> None:
        """The agent has closed the stream; the SDK closes it too, while it reads on."""
        if not self.reading:
            self.finish()

    def check_complete(self) -> None:
        """A stream that ends before its completion does was cut by the server."""
        cut = any(part.finish_reason is None for part in self.parts.values())
        if cut or 0 < len(self.parts) < self.request.choices:
            self.fail(ConnectionError("the stream ended in the middle of a completion"))

    def see(self, chunk: Any) -> None:
        self.extras |= _prompt_extras(chunk)
        with self.recording._lock:  # another thread's request may look at the parts
            for choice in chunk.choices or []:
                part = self.parts.setdefault(choice.index, _PartialChoice(choice.index))
                part.add(choice)

    def for_agent(self, chunk: Any) -> Any:
        if self.request.as_functions:
            for choice in chunk.choices or []:
                self.recording._functions.chunk(choice)
        return chunk

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


def _when_closed(response: Any, then: Callable[[], None]) -> None:
    """Call ``then`` after an HTTP response is closed, by whomever."""
    close, aclose = response.close, response.aclose

    def closed() -> None:
        close()
        then()

    async def closed_async() -> None:
        await aclose()
        then()

    response.close, response.aclose = closed, closed_async


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
    asking: str = ""
    choices: int = 1  # that were asked for
    as_functions: bool = False
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

    def __init__(self, items: list[Any], tools: Any, name: str | None = None) -> None:
        self.items = items
        self.tools = tools
        self.name = name or ""  # the function that asked first
        # What the engine saw and said so far, or the end of it; unknown where a rollout
        # goes on with a trajectory whose prompts were not kept.
        last = _extras(items[-1]) if items and not isinstance(items[-1], dict) else {}
        known = last.get("prompt_token_ids") and last.get("token_ids")
        self.tokens: list[int] = (
            [*last["prompt_token_ids"], *last["token_ids"]] if known else []
        )
        self.length = len(self.tokens)
        self._resumes = bool(items) and not known
        self._gathered = 0  # as long as ``sent`` was when it was last copied as a whole
        self.sent = [
            item if isinstance(item, dict) else _message_of(item) for item in items
        ]

    def __len__(self) -> int:
        return len(self.sent)

    def is_continued_by(self, messages: list[Any], tools: Any) -> bool:
        if not 0 < len(self.sent) <= len(messages) or self.tools != tools:
            return False
        end = len(self.sent)
        if self.sent != messages[:end]:  # as a whole first: that is one loop in C
            changed = []
            for at, (ours, theirs) in enumerate(zip(self.sent, messages, strict=False)):
                if ours != theirs:
                    if _essence(ours) != _essence(theirs):
                        return False
                    changed.append(at)
            for at in changed:  # the agent's own spelling compares at once next time
                self.sent[at] = _plain(messages[at])
        if end > self._gathered * 1.25:
            # What is copied turn by turn lies all over the heap, and takes several
            # times as long to compare as what was copied in one go.
            self.sent = [_plain(message) for message in messages[:end]]
            self._gathered = end
        return True

    def extend(self, messages: list[Any], choice: Any, *, keep_prompt: bool) -> None:
        """Add a completion and what was new in its request.

        A completion brings the ids of its whole prompt. Kept as they come, those of a
        conversation of a thousand turns fill gigabytes: a prompt that goes on from the
        one before shares its integers, and is not kept where ART does not read it. Then
        only a prompt that does not go on is marked (``for_training`` looks for it); the
        last thousand tokens tell.
        """
        extra = choice.model_extra
        prompt, said = extra.get("prompt_token_ids"), extra.get("token_ids")
        if prompt and said:
            goes_on = (
                prompt[self.length - len(self.tokens) : self.length] == self.tokens
            )
            if not goes_on:
                _say_once(_RENDERED_ANEW)
            if self._resumes or not goes_on:
                extra["rendered_anew"] = True
            elif keep_prompt:
                prompt = extra["prompt_token_ids"] = self.tokens + prompt[self.length :]
            self._resumes = False
            self.length = len(prompt) + len(said)
            self.tokens = prompt + said if keep_prompt else (prompt[-1000:] + said)
        if not keep_prompt:
            extra.pop("prompt_token_ids", None)
        self.items += [*messages, choice]
        self.sent += [*messages, _message_of(choice)]


def _new_history(trajectory: Any, tools: Any, items: Sequence[Any] = ()) -> Any:
    """A further history. art 0.5.18 calls the class History, 0.5.23 LegacyHistory: the
    field's own annotation knows. What is no ART trajectory gets a plain object.
    """
    field = getattr(type(trajectory), "model_fields", {}).get("additional_histories")
    make = (
        field.annotation.__args__[0].model_construct if field else types.SimpleNamespace
    )
    return make(messages_and_choices=list(items), tools=tools)


def _recorded_histories(trajectory: Any) -> list[_History]:
    """What a trajectory holds already, so that a second rollout block on it goes on
    where the first one ended.
    """
    found = [trajectory, *trajectory.additional_histories]
    names = str(trajectory.metadata.get("histories", "")).split(", ")
    return [
        _History(history.messages_and_choices, history.tools, name)
        for history, name in itertools.zip_longest(found, names[: len(found)])
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


def _prompt_extras(completion: Any) -> dict[str, Any]:
    """What vLLM puts on the response and ART reads from the Choice (art 0.5.23,
    openai.py finalize_chat_completion).
    """
    prompt_token_ids = (completion.model_extra or {}).get("prompt_token_ids")
    return {} if prompt_token_ids is None else {"prompt_token_ids": prompt_token_ids}


def _can_run(call: Any, tools: Any) -> bool:
    """Whether a call names a tool of the request, and its arguments are a JSON object."""
    called = getattr(call, "function", None)
    if called is None:  # a custom tool's: its input is any text
        return True
    offered = [(tool.get("function") or {}).get("name") for tool in tools or []]
    try:
        return called.name in offered and isinstance(
            json.loads(called.arguments or "{}"), dict
        )
    except (ValueError, RecursionError):
        return False


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
