"""Records an episode whose calls go where the agent sends them: to production."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any

from art_adapt.recording.callees import asks_itself, find_callee
from art_adapt.recording.clients import exchange, run, run_async
from art_adapt.recording.histories import Request
from art_adapt.recording.messages import message_of, plain
from art_adapt.recording.recorder import Recorder
from art_adapt.recording.requests import whole_body
from art_adapt.recording.responses import Conversations, Turn, Untranslatable
from art_adapt.recording.state import stop
from art_adapt.recording.unhooked import Asked, options_of

CANNOT = (
    "cannot be recorded from the production model: evaluate without it, with "
    "--no-production"
)


class Listener(Recorder):
    """A recorder that changes nothing: neither where a request goes nor what it asks.

    Attributes:
        models: that the agent has asked, by the names that it gave.
    """

    def __init__(self, trajectory: Any, **options: Any) -> None:
        super().__init__(trajectory, **options)
        self.models: set[str] = set()
        self._conversations = Conversations()
        self._turns: dict[int, Turn] = {}  # of the requests to /responses

    def call(
        self,
        create: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        asking: str = "",
    ) -> Any:
        """Make the call of ``create`` as it is, on the agent's own client."""
        self.must_be_open()
        if self.every_client:  # it is seen where its client makes the request
            return create(*args, **kwargs)
        if asks_itself(create):
            return create(*args, **kwargs)
        call = find_callee(create)
        if call.client is None:
            raise stop(
                f"a request of another library than openai, without an openai client, {CANNOT}"
            )
        return call.on(self._listening(call.client, asking))(*args, **kwargs)

    def relay(
        self,
        client: Any,
        send: Callable[..., Any],
        cast_to: Any,
        options: Any,
        rest: dict[str, Any],
        asking: str,
    ) -> Any:
        """Let a client make its request with ``send``, or return its coroutine."""
        import openai

        is_async = isinstance(client, openai.AsyncOpenAI)
        stream = openai.AsyncStream if is_async else openai.Stream

        def post(_: str, *, options: Any, **__: Any) -> Any:
            asked.post_parser = options.get("post_parser", asked.post_parser)
            return send(asked)

        asked = copy.copy(options)
        given = {"options": options_of(options)}
        listening = _Listening(self, asking)
        steps = exchange(listening, post, stream, options.url, options.json_data, given)
        return run_async(steps) if is_async else run(steps)

    def missed(self, asked: Asked) -> None:
        """Leave what has no hook alone: production answers all that the agent asks."""

    def _listening(self, client: Any, asking: str) -> Any:
        """Return the agent's client, with this recorder between it and the network."""
        import openai

        copied = copy.copy(client)
        copied.recording, copied.asking = self, asking
        is_async = isinstance(client, openai.AsyncOpenAI)
        stream = openai.AsyncStream if is_async else openai.Stream

        def post(path: str, *, body: Any = None, **rest: Any) -> Any:
            steps = exchange(copied, client.post, stream, path, body, rest)
            return run_async(steps) if is_async else run(steps)

        copied.post = post
        return copied

    def detour(self, path: str, body: Any, options: Any) -> None:
        """Send the request as it is."""

    def patience(self) -> dict[str, Any]:
        """Return no options: the agent's own timeouts and retries hold."""
        return {}

    def pause_before_retry(self, error: BaseException, attempts: int) -> None:
        """Do nothing: the agent's client has retried what it retries."""

    def prepare(
        self, path: str, body: Any, options: Any, asking: str
    ) -> tuple[Any, dict[str, Any], Request]:
        """Note a request, and leave it as it is."""
        self.must_be_open()
        view = (options.get("headers") or {}).get("X-Stainless-Raw-Response")
        if view == "stream":
            raise stop(f"a response read through with_streaming_response {CANNOT}")
        whole = plain(whole_body(body, options)) if isinstance(body, dict) else {}
        self.models.add(str(whole.get("model")))
        with self.lock:
            turn = None
            if path == "/responses":
                try:
                    turn = self._conversations.begin(whole)
                    whole = turn.chat
                except Untranslatable as reason:
                    raise stop(
                        f"a request to /responses for {reason} {CANNOT}"
                    ) from None
            messages = list(whole.get("messages") or [])
            request = self.place(messages, whole.get("tools") or None)
            request.asking = asking
            request.choices = whole.get("n") or 1
            if turn is not None:
                self._turns[request.number] = turn
        return body, self.recorded_first(request, options), request

    def received(self, request: Request, answer: Any) -> Any:
        """Record an answer of either API, in whatever form it has, and return it."""
        import openai

        if request.number not in self._turns or request.recorded:
            return super().received(request, answer)
        if isinstance(answer, openai.Stream | openai.AsyncStream):
            stream: Any = answer
            is_async = isinstance(answer, openai.AsyncStream)
            watch = self._watch_async if is_async else self._watch
            stream._iterator = watch(request, stream._iterator)
        elif isinstance(getattr(answer, "output", None), list):
            self._record_response(request, answer)
        else:  # with_raw_response keeps what it has parsed
            self.received(request, answer.parse())
        return answer

    def _record_response(self, request: Request, response: Any) -> None:
        choice = _as_choice(response)
        self.count_tokens(response)
        self.record(request, [choice], {})
        turn = self._turns[request.number]
        turn.id = response.id
        self._conversations.keep(turn, message_of(choice))

    def _watch(self, request: Request, events: Iterator[Any]) -> Iterator[Any]:
        for event in events:
            self._see(request, event)
            yield event

    async def _watch_async(
        self, request: Request, events: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        async for event in events:
            self._see(request, event)
            yield event

    def _see(self, request: Request, event: Any) -> None:
        if event.type in ("response.completed", "response.incomplete"):
            self._record_response(request, event.response)

    def _check_exact(self, choice: Any, shared_extras: dict[str, Any]) -> None:
        """Nothing is trained on what production has said."""


def _as_choice(response: Any) -> Any:
    """Return what a Response says as the choice of a chat completion."""
    from openai.types.chat.chat_completion import Choice

    calls = [
        {
            "id": item.call_id,
            "type": "function",
            "function": {"name": item.name, "arguments": item.arguments},
        }
        for item in response.output
        if item.type == "function_call"
    ]
    message: dict[str, Any] = {"role": "assistant", "content": response.output_text}
    if calls:
        message["tool_calls"] = calls
    ended = "length" if response.status == "incomplete" else "stop"
    return Choice.model_validate(
        {"index": 0, "finish_reason": ended, "message": message, "logprobs": None}
    )


@dataclass(frozen=True)
class _Listening:
    """The part of a client that an exchange uses."""

    recording: Listener
    asking: str
