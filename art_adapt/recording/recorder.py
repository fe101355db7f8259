"""Records an episode: each completion once, behind the messages that it answers."""

from __future__ import annotations

import asyncio
import inspect
import math
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Self

from art_adapt.recording.caches import switch_off_caches
from art_adapt.recording.choices import can_run, choice_to_record, prompt_extras
from art_adapt.recording.exactness import (
    NO_IDS,
    NO_TOKENS,
    THINKING,
    extras_of,
    logprobs_name_ids,
    reads_token_ids,
)
from art_adapt.recording.functions import Functions
from art_adapt.recording.histories import (
    History,
    Request,
    new_history,
    recorded_histories,
)
from art_adapt.recording.hooked import check_imports
from art_adapt.recording.messages import plain, storable
from art_adapt.recording.state import (
    OTHER_PROCESS,
    EpisodeOver,
    RecordingError,
    active,
    ended,
    opened,
    say_once,
    stop,
)
from art_adapt.recording.streams import OpenStream
from art_adapt.recording.unhooked import watch_clients

# HTTP statuses below 500 that are never the policy's doing: keys, rights, a model that
# is not loaded, timeouts, conflicts, rate limits.
ENDPOINT_FAULTS = (401, 403, 404, 408, 409, 429)
Scalar = str | int | float | bool | None
Json = dict[str, Any]


class Recorder:
    """The recorder of one episode: what is asked in its ``with`` block.

    Raises ``RecordingError`` at the end of the block if it had to stop a call.

    Attributes:
        every_client: whether requests without a hook are recorded, too.
        auxiliary: functions whose requests without a hook, and models whose requests, are
            none of the policy's.
        strict: whether any other request without a hook ends the episode.
        calls, failed_calls: completions received, and requests that raised.
        answered, rewarded: whether the agent handed in an answer, a reward.
        infrastructure_error: the last connection, rate-limit or server error that no
            later call made good; such an episode says nothing about the policy.
    """

    def __init__(
        self,
        trajectory: Any,
        *,
        every_client: bool = False,
        auxiliary: Sequence[str] = (),
        strict: bool = False,
    ) -> None:
        self.trajectory = trajectory
        self.every_client = every_client
        self.auxiliary = tuple(auxiliary)
        self.strict = strict
        self.answer: Any = None
        self.answered = False
        self.rewarded = False
        self.calls = 0
        self.failed_calls = 0
        self.tool_calls = 0
        self.tool_errors = 0  # calls of unknown tools, or with invalid arguments
        self.truncated = False
        self.prompt_tokens = 0  # as far as the endpoint has told
        self.completion_tokens = 0
        self.closed = False
        self.stopped: RecordingError | None = None
        self.read_arguments: str | None = None  # where, of the process's command line
        self.process = os.getpid()
        self.lock = threading.RLock()
        self.open_streams: list[OpenStream] = []
        self.functions = Functions()
        self._requests = 0
        self._unanswered: dict[str, tuple[int, BaseException]] = {}
        self._histories = recorded_histories(trajectory)
        self._said_last = self._histories[-1] if self._histories else None
        self._reads_token_ids = reads_token_ids(trajectory)

    def __enter__(self) -> Self:
        check_imports()
        watch_clients()
        if self.every_client:
            switch_off_caches()
        opened(self)
        self._token = active.set(self)
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        ended(self)
        self.close()
        with suppress(ValueError):  # a generator's block, closed from another context
            active.reset(self._token)
        if error is None and self.stopped is not None:
            raise self.stopped

    @property
    def infrastructure_error(self) -> BaseException | None:
        return next((error for _, error in reversed(self._unanswered.values())), None)

    @property
    def history_names(self) -> list[str]:
        """Name the function that asked first in each history, in their order."""
        return [history.name for history in self._histories]

    @property
    def said_last(self) -> Any | None:
        """Return the choice that the model made last, in whichever conversation."""
        with self.lock:
            for stream in list(self.open_streams):  # that the agent has left early
                stream.finish()
            last = self._said_last
            return last.items[-1] if last is not None else None

    def set_final_answer(self, value: Any) -> None:
        """Set the episode's answer, on the trajectory in a form that ART can write."""
        self.must_be_open()
        self.answer, self.answered = value, True
        fields = getattr(type(self.trajectory), "model_fields", {})
        field = fields.get("final_answer")
        if field is None:  # a plain art.Trajectory; its metadata takes scalars only
            self.trajectory.metadata["final_answer"] = storable(value, Scalar)
        else:
            # Past pydantic, which on art 0.5.23 refuses an answer of another type.
            stored = storable(value, field.annotation)
            object.__setattr__(self.trajectory, "final_answer", stored)

    def set_reward(self, value: Any) -> None:
        """Set the trajectory's reward."""
        self.must_be_open()
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise stop(
                f"reward({value!r}): a reward must be a finite number, "
                "or it spoils its group"
            )
        self.trajectory.reward = number
        self.rewarded = True

    def close(self) -> None:
        """End the rollout; open streams are recorded as far as they were read."""
        with self.lock:
            for stream in list(self.open_streams):
                stream.finish()
            self.closed = True
            if len(self._histories) > 1:
                self.trajectory.metadata["histories"] = ", ".join(self.history_names)

    def must_be_open(self) -> None:
        if self.process != os.getpid():  # forked: this is a copy that nobody will read
            raise stop(OTHER_PROCESS)
        if self.closed:
            error = stop(
                f"a recorded model call was made after its rollout ended, {_outliving()}"
            )
            raise EpisodeOver(str(error)) from error

    # -- recording

    def place(self, messages: list[Any], tools: Any) -> Request:
        """Find the history that a request continues, and copy its new messages.

        The copy is made before the agent can change them.
        """
        continued = self._continued_by(messages, tools)
        for stream in list(self.open_streams):
            # Only where no completion explains the messages: a twin of this stream,
            # read to its end, may have said what this one has said so far.
            if (
                continued is None or len(continued) <= len(stream.request.messages)
            ) and stream.is_continued_by(messages):
                stream.finish()
                continued = self._continued_by(messages, tools)
        start = len(continued) if continued is not None else 0
        new = [plain(message) for message in messages[start:]]
        self._requests += 1
        return Request(self._requests, messages, tools, continued, start, new)

    def _continued_by(self, messages: list[Any], tools: Any) -> History | None:
        """Return the longest history that a request continues, the last of several."""
        found = None
        for history in self._histories:
            if (
                found is None or len(history) >= len(found)
            ) and history.is_continued_by(messages, tools):
                found = history
        return found

    def record(
        self, request: Request, choices: Sequence[Any], shared_extras: dict[str, Any]
    ) -> None:
        """Put the choices of a completion on the trajectory, behind their messages."""
        with self.lock:
            self.must_be_open()
            self.calls += 1
            request.recorded = True
            if request.as_functions:
                self.functions.note(request, choices)
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
                        not can_run(call, request.tools) for call in called
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
                    choice_to_record(choice, shared_extras),
                    keep_prompt=self._reads_token_ids,
                )
                if choice is choices[0]:
                    self._said_last = history
                # A further choice answers the same messages, not the first choice.
                request.history = None

    def _check_exact(self, choice: Any, shared_extras: dict[str, Any]) -> None:
        """Warn of what keeps ART from training on what the engine sampled (G6)."""
        if self._reads_token_ids:
            ids = (choice.model_extra or {}).get("token_ids")
            if not (ids and shared_extras.get("prompt_token_ids")):
                say_once(NO_IDS)
            return
        if not logprobs_name_ids(choice.logprobs):
            say_once(NO_TOKENS)
        if {"reasoning", "reasoning_content"} & {*extras_of(choice.message)}:
            say_once(THINKING)

    def _open_history(self, request: Request) -> History:
        trajectory, tools = self.trajectory, request.tools
        if not self._histories:
            # Assigned past pydantic: validation would reorder the tools' keys and drop
            # the ones it does not know.
            object.__setattr__(trajectory, "tools", tools)
            opened = trajectory
        else:
            opened = new_history(trajectory, tools)
            trajectory.additional_histories.append(opened)
        history = History(opened.messages_and_choices, tools, request.asking)
        self._histories.append(history)
        return history

    def failed(
        self, request: Request, error: BaseException, *, streaming: bool = False
    ) -> None:
        """Note a request that raised.

        Errors that only the endpoint can cause count against the infrastructure:
        connections, keys, a missing model, rate limits, server errors, and whatever
        breaks a stream.
        """
        with self.lock:
            self.failed_calls += 1
            if self.is_endpoint_fault(error, streaming=streaming):
                self._unanswered[request.key()] = (self._requests, error)

    def is_endpoint_fault(
        self, error: BaseException, *, streaming: bool = False
    ) -> bool:
        """Tell whether only the endpoint can have caused an error of a request."""
        import openai

        status = getattr(error, "status_code", None)
        if status is not None:
            return bool(status in ENDPOINT_FAULTS or status >= 500)
        # An error's own body can break off: then the HTTP library's error comes through
        # the SDK as it is.
        library = type(error).__module__.partition(".")[0]
        return (
            isinstance(error, openai.APIConnectionError)
            or library in ("httpx", "httpx2")
            or streaming
        )

    def count_tokens(self, answer: Any) -> None:
        """Add up the usage that a completion, a Response or a chunk tells."""
        usage = getattr(answer, "usage", None)
        prompt, said = (
            getattr(usage, chat, None) or getattr(usage, response, None) or 0
            for chat, response in (
                ("prompt_tokens", "input_tokens"),
                ("completion_tokens", "output_tokens"),
            )
        )
        with self.lock:
            self.prompt_tokens += prompt
            self.completion_tokens += said

    def recorded_first(self, request: Request, options: Json) -> Json:
        """Return a request's options so that it is recorded before it is parsed.

        The SDK's ``parse`` raises on text that does not fit (openai 2.54,
        lib/_parsing/_completions.py), and hands out no completion then.
        """
        if (parser := options.get("post_parser")) is None:
            return dict(options)

        def record_and_parse(completion: Any) -> Any:
            self.received(request, completion)
            return parser(completion)

        return {**options, "post_parser": record_and_parse}

    def received(self, request: Request, answer: Any) -> Any:
        """Record the answer to a request, in whatever form it has, and return it."""
        import openai

        if request.recorded:
            return answer
        if isinstance(answer, openai.Stream | openai.AsyncStream):
            stream: Any = answer
            opened = stream.art_stream = OpenStream(self, request, answer)
            is_async = isinstance(answer, openai.AsyncStream)
            watch = opened.watch_async if is_async else opened.watch
            stream._iterator = watch(stream._iterator)
        elif hasattr(answer, "choices"):
            self.count_tokens(answer)
            self.record(request, answer.choices or [], prompt_extras(answer))
            if request.as_functions:
                self.functions.answer(answer.choices or [])
        elif hasattr(answer, "parse") and not inspect.iscoroutinefunction(answer.parse):
            # with_raw_response keeps what it has parsed: the agent's own parse() gets
            # the same object.
            self.received(request, answer.parse())
        else:
            raise stop(
                f"a {type(answer).__name__} cannot be recorded: "
                "use create() or with_raw_response"
            )
        return answer


def _outliving() -> str:
    """Name what asks after its rollout, and what to do about it."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        task = None
    if task is None:
        return "by a thread that outlived it: wait for the thread in episode()"
    return (
        "by a task that outlived it, as the others of asyncio.gather() do after one has failed: "
        "wait for all of them (asyncio.TaskGroup, or return_exceptions=True)"
    )
